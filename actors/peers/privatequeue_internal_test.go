package peers

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

// numbered returns a transaction of its own for each number.
func numbered(n int) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.LockTime = uint32(n)
	return tx
}

// A filled queue, with a clock.
type queueRig struct {
	privateQueue

	t   *testing.T
	now time.Time
}

func newQueueRig(t *testing.T, count int) *queueRig {
	t.Helper()
	r := &queueRig{newPrivateQueue(), t, time.Unix(1_600_000_000, 0)}
	for i := range count {
		r.put(i)
	}
	return r
}

func (r *queueRig) put(n int) {
	r.t.Helper()
	if isNew, err := r.add(numbered(n), r.now); err != nil || !isNew {
		r.t.Fatal(isNew, err)
	}
}

// next has a peer get something, after a second.
func (r *queueRig) next(peer int64) int {
	r.now = r.now.Add(time.Second)
	t := r.pick(peer, netaddr.Addr{}, r.now)
	if t == nil {
		return -1
	}
	return int(t.Tx.LockTime)
}

func (r *queueRig) check(what string, wanted int, waiting ...int) {
	r.t.Helper()
	var has []int
	for _, t := range r.list {
		has = append(has, int(t.Tx.LockTime))
	}
	if r.wanted != wanted || !slices.Equal(has, waiting) || len(r.byWID) != len(waiting) {
		r.t.Errorf("%s: %d wanted for %v, not %d for %v", what, r.wanted, has, wanted, waiting)
	}
}

// Transactions that were handed over least come first, then those of which that was longest ago. No peer
// gets a transaction that is gone.
func TestPrivateOrder(t *testing.T) {
	r := newQueueRig(t, 0)
	if got := r.next(1); got != -1 {
		t.Errorf("picked %d from nothing", got)
	}
	r = newQueueRig(t, 3)
	var order []int
	for peer := range int64(5) {
		order = append(order, r.next(peer))
	}
	if want := []int{0, 1, 2, 0, 1}; !slices.Equal(order, want) {
		t.Errorf("picked %v, want %v", order, want)
	}
	r = newQueueRig(t, 2)
	r.next(1)
	r.next(2)
	r.confirm(1, r.now) // the first has arrived, the second has not
	if got := r.next(3); got != 1 {
		t.Errorf("picked %d, which has arrived", got)
	}
}

// Three connections are wanted for a transaction, and one for each that ends without success.
func TestPrivateWanted(t *testing.T) {
	r := newQueueRig(t, 2)
	r.check("begin", 6, 0, 1)
	r.wanted = 0 // all are made
	r.next(1)
	r.next(2)
	r.confirm(1, r.now)
	r.left(1, true)
	r.check("with success", 0, 0, 1)
	r.left(2, false)
	r.check("without", 1, 0, 1)
	r.wanted = 6
	r.remove(r.list[0])
	r.check("removed after one", 4, 1)
	r.remove(r.list[0])
	r.check("removed at once", 1)
	r.left(3, false)
	r.check("for nothing", 1)
}

// Peers of a transaction that is gone get nothing, and confirm nothing.
func TestPrivateGone(t *testing.T) {
	r := newQueueRig(t, 2)
	r.next(1)
	r.remove(r.list[0])
	r.confirm(1, r.now)
	if len(r.byPeer) != 0 || r.list[0].confirmed != 0 {
		t.Errorf("peers %v, confirmed %d", r.byPeer, r.list[0].confirmed)
	}
}

// A transaction is waiting once, and no more wait than may.
func TestPrivateBounds(t *testing.T) {
	r := newQueueRig(t, maxPrivate)
	if isNew, err := r.add(numbered(5), r.now); isNew || err != nil {
		t.Errorf("again: %v %v", isNew, err)
	}
	if _, err := r.add(numbered(maxPrivate), r.now); !errors.Is(err, messages.ErrPrivateFull) {
		t.Errorf("one too many: %v", err)
	}
	r.remove(r.list[7])
	r.put(maxPrivate)
	r = newQueueRig(t, 1)
	for peer := range int64(maxCopies) {
		r.next(peer)
	}
	if got := r.next(maxCopies); got != -1 {
		t.Errorf("handed over too often: %d", got)
	}
	later := r.now.Add(time.Hour)
	if got := r.describe(); len(r.stale(later)) != 0 || len(got) != 1 || got[0].Left != 0 {
		t.Errorf("handed over as often as may be: %+v", got)
	}
	if isNew, err := r.add(numbered(0), later); !isNew || err != nil || len(r.list) != 1 {
		t.Errorf("asked for once more: %v %v", isNew, err)
	}
	if got := r.describe(); got[0].Left != maxCopies || len(r.stale(later.Add(time.Hour))) != 1 {
		t.Errorf("once more: %+v", got)
	}
}

// Transactions that no peer has got wait five minutes, others a minute.
func TestPrivateStale(t *testing.T) {
	r := newQueueRig(t, 2)
	began := r.now
	r.next(1)
	r.confirm(1, began)
	for _, test := range []struct {
		after time.Duration
		want  []int
	}{
		{unseenFor, nil},
		{unseenFor + 1, []int{0}},
		{unsentFor, []int{0}},
		{unsentFor + 1, []int{0, 1}},
	} {
		var got []int
		for _, tx := range r.stale(began.Add(test.after)) {
			got = append(got, int(tx.Tx.LockTime))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("after %v: %v, want %v", test.after, got, test.want)
		}
	}
}

// Transactions are found by both of their ids, all of one id together.
func TestPrivateNames(t *testing.T) {
	r := newQueueRig(t, 0)
	for i := range 3 {
		tx := numbered(0)
		tx.AddTxIn(&wire.TxIn{Witness: wire.TxWitness{{byte(i)}}})
		if _, err := r.add(tx, r.now); err != nil {
			t.Fatal(err)
		}
	}
	first := r.list[0]
	if got := r.named(&first.ID); len(got) != 3 {
		t.Errorf("%d of one id", len(got))
	}
	if got := r.named(&first.WID); len(got) != 1 || got[0] != first {
		t.Errorf("%d of one id with witnesses", len(got))
	}
	if got := r.named(&chainhash.Hash{1}); len(got) != 0 {
		t.Errorf("%d of none", len(got))
	}
}

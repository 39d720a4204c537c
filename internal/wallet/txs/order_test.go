package txs

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
)

type walletChange = records.Change

// stored makes a transaction that a file holds.
func stored(number uint32, position int64, received, smart uint32) *walletfile.Tx {
	t := txOf(number, []wire.OutPoint{foreign(byte(number))}, pay(1, 1))
	return &walletfile.Tx{ID: t.TxHash(), Tx: t, OrderPos: position, TimeReceived: received, TimeSmart: smart}
}

func TestSmartTime(t *testing.T) {
	const now = 10_000
	inBlock := func(at int64) state {
		return state{kind: confirmed, block: BlockRef{Time: at, MaxTime: at + 7}}
	}
	for name, test := range map[string]struct {
		before []uint32 // times of the transactions that came before
		s      sync
		want   uint32
	}{
		"unconfirmed":          {nil, sync{now: now}, now},
		"block":                {nil, sync{now: now, state: inBlock(900)}, 900},
		"block in the future":  {nil, sync{now: now, state: inBlock(now + 50)}, now},
		"after the last":       {[]uint32{2000, 1000}, sync{now: now, state: inBlock(900)}, 1000},
		"before the last":      {[]uint32{800}, sync{now: now, state: inBlock(900)}, 900},
		"last within bounds":   {[]uint32{now + tolerance}, sync{now: now, state: inBlock(900)}, now + tolerance},
		"last is too far":      {[]uint32{700, now + tolerance + 1}, sync{now: now, state: inBlock(900)}, 900},
		"rescan":               {[]uint32{2000}, sync{now: now, state: inBlock(900), rescan: true}, 907},
		"rescan, not in block": {[]uint32{2000}, sync{now: now, rescan: true}, now},
	} {
		h := history{log: new(records.Log)}
		for i, at := range test.before {
			h.insert(&tx{record: stored(uint32(i), int64(i), at, 0)})
		}
		record := stored(99, 99, uint32(test.s.now), 0)
		if got := h.smartTime(record, test.s); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

// Transactions of old versions get their places by the time at which they came, and
// move up those that have one.
func TestReorder(t *testing.T) {
	const none = walletfile.NoOrderPos
	r := newRig(0, scriptOf(1))
	content := &walletfile.Wallet{OrderPosNext: 2, WrongIDs: 3, Txs: []*walletfile.Tx{
		stored(1, 0, 100, 0), stored(2, none, 50, 0), stored(3, 5, 300, 0), stored(4, none, 200, 0),
	}}
	r.Load(content, nil)
	r.log.Take()
	r.Reorder()
	var order []uint32
	for _, at := range r.history.ordered {
		order = append(order, at.record.Tx.LockTime)
	}
	want, places := []uint32{2, 1, 4, 3}, []int64{0, 1, 2, 7}
	for i := range want {
		if at := r.history.ordered[i].record.OrderPos; order[i] != want[i] || at != places[i] {
			t.Fatalf("order %v, want %v; place %d, want %d", order, want, at, places[i])
		}
	}
	if r.history.next != 8 || r.Count() != 4+3 {
		t.Errorf("next place %d of %d", r.history.next, r.Count())
	}
	if changes := r.log.Take(); len(changes) != 4+1 {
		t.Errorf("%d records, want 5", len(changes))
	}
	tx := txOf(9, []wire.OutPoint{foreign(99)}, pay(1, 1))
	r.AddMempoolTx(tx, 500)
	if last := r.history.ordered[4]; last.record.Tx != tx || last.record.OrderPos != 8 {
		t.Errorf("a new one is at %d", last.record.OrderPos)
	}
	if got := r.UnconfirmedBefore(100); len(got) != 2 || len(r.Unconfirmed()) != 5 {
		t.Errorf("%d came before 100, want 2", len(got))
	}
}

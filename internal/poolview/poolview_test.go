package poolview_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/messages"
)

func hash(n int) chainhash.Hash { return chainhash.Hash{byte(n), byte(n >> 8)} }

// change is a change of the pool: transaction n comes or leaves.
func change(n int, added bool, sequence uint64) messages.PoolChange {
	return messages.PoolChange{
		Tx: wire.NewMsgTx(2), ID: hash(n + 1000), WID: hash(n), Fee: int64(n), VSize: 100, Added: added,
		Sequence: sequence,
	}
}

func contents(pool map[int]bool) (m poolview.Contents) {
	for n := range pool {
		c := change(n, true, 1)
		m.Pool.Txs = append(m.Pool.Txs, messages.PoolTx{
			Tx: c.Tx, ID: c.ID, WID: c.WID, Fee: c.Fee, VSize: c.VSize, Sequence: c.Sequence,
		})
	}
	return m
}

func wids(v *poolview.View) []chainhash.Hash {
	var list []chainhash.Hash
	for tx := range v.All() {
		list = append(list, tx.WID)
	}
	slices.SortFunc(list, func(a, b chainhash.Hash) int { return slices.Compare(a[:], b[:]) })
	return list
}

// The view ends up as the pool, however the first answer and the changes overtake each
// other. The pool is asked at any time, and the answer comes at any later time.
func TestAgreesWithThePool(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const steps = 40
		pool := make(map[int]bool)
		for range rng.IntN(10) {
			pool[rng.IntN(12)] = true
		}
		asked := rng.IntN(steps)
		came := asked + rng.IntN(steps-asked)
		var answer poolview.Contents
		v := poolview.New()
		for step := range steps {
			if step == asked {
				answer = contents(pool)
			}
			if step == came {
				if err := v.Begin(answer, nil); err != nil {
					t.Fatal(err)
				}
			}
			n := rng.IntN(12)
			var m messages.PoolChanged
			switch {
			case rng.IntN(30) == 0:
				m.Reset = true
				clear(pool)
			case pool[n]:
				delete(pool, n)
				m.Changes = append(m.Changes, change(n, false, 0))
			default:
				pool[n] = true
				m.Changes = append(m.Changes, change(n, true, uint64(step+1)))
			}
			v.Apply(m)
			if step < came {
				continue
			}
			want := slices.Collect(maps.Keys(pool))
			slices.Sort(want)
			got := wids(v)
			if !slices.EqualFunc(got, want, func(a chainhash.Hash, b int) bool { return a == hash(b) }) {
				t.Fatalf("seed %d, step %d (asked at %d, answered at %d): got %v, want %v", seed, step, asked, came, got, want)
			}
			for _, n := range want {
				if v.ByWID(hash(n)) == nil || v.ByID(hash(n+1000)) != v.ByWID(hash(n)) {
					t.Fatalf("seed %d: transaction %d is not found by its ids", seed, n)
				}
			}
		}
	}
}

// Order numbers what comes, never backwards, and leaves out what comes back from blocks.
func TestOrder(t *testing.T) {
	v := poolview.New()
	if err := v.Begin(poolview.Contents{}, nil); err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct {
		n        int
		sequence uint64
		order    uint64
	}{{1, 7, 1}, {2, 9, 2}, {3, 0, 0}, {4, 30, 3}} {
		c := change(test.n, true, test.sequence)
		v.Change(&c)
		got := v.ByWID(c.WID)
		if got.Order != test.order || got.Fee != c.Fee || got.VSize != c.VSize ||
			got.Tx != c.Tx {
			t.Errorf("%d: got %+v", i, got)
		}
	}
	again := change(1, true, 50)
	v.Change(&again)
	if got := v.ByWID(hash(1)).Order; got != 1 || v.Last() != 3 {
		t.Errorf("a transaction that is there got order %d; the last is %d", got, v.Last())
	}
	v.Reset()
	c := change(9, true, 1)
	v.Change(&c)
	if got := v.ByWID(hash(9)).Order; got != 4 || v.Last() != 4 {
		t.Errorf("after a reset: order %d, the last is %d", got, v.Last())
	}
}

func TestChangeReturnsWhatLeft(t *testing.T) {
	v := poolview.New()
	in, out := change(1, true, 1), change(1, false, 0)
	if left := v.Change(&out); left != nil {
		t.Errorf("left before it came: %v", left)
	}
	if left := v.Change(&in); left != nil {
		t.Errorf("left when it came: %v", left)
	}
	if left := v.Change(&out); left == nil || left.WID != in.WID || left.ID != in.ID {
		t.Errorf("left: %v", left)
	}
	if v.ByID(in.ID) != nil || v.ByWID(in.WID) != nil {
		t.Error("what has left is found")
	}
}

// Begin yields the transactions that the pool still has. Where the pool cannot be read,
// the view has only the changes.
func TestBegin(t *testing.T) {
	v := poolview.New()
	out := change(2, false, 0)
	v.Change(&out)
	var each []chainhash.Hash
	err := v.Begin(contents(map[int]bool{1: true, 2: true}), func(tx *poolview.Tx, of *messages.PoolTx) {
		if tx.WID != of.WID {
			t.Errorf("%v is yielded as %v", of.WID, tx.WID)
		}
		each = append(each, tx.WID)
	})
	if err != nil || !slices.Equal(each, []chainhash.Hash{hash(1)}) {
		t.Errorf("yielded %v, %v", each, err)
	}
	v, broken := poolview.New(), errors.New("broken")
	in := change(3, true, 1)
	v.Change(&in)
	if err := v.Begin(poolview.Contents{Err: broken}, nil); !errors.Is(err, broken) || v.ByWID(hash(3)) == nil {
		t.Errorf("not read: %v", err)
	}
}

package poolcopy_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/messages"
)

const (
	fee   = 1000
	vsize = 111
)

// newTx returns a transaction that spends outputs of others.
func newTx(t *testing.T, salt uint32, of ...*poolcopy.Tx) *poolcopy.Tx {
	t.Helper()
	msg := wire.NewMsgTx(2)
	msg.LockTime = salt
	for i, parent := range of {
		msg.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: parent.ID, Index: uint32(i)}, nil, nil))
	}
	if len(of) == 0 {
		msg.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{1, byte(salt)}, Index: salt}, nil, nil))
	}
	msg.AddTxOut(wire.NewTxOut(int64(salt), []byte{0x51}))
	var raw bytes.Buffer
	if err := msg.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	id := msg.TxHash()
	tx, _, err := poolcopy.Parse(raw.Bytes(), &id, poolcopy.Details{Fee: fee, ModifiedFee: fee, VSize: vsize})
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// A look after the last change makes the copy equal, whatever came and went at the
// other node or was handed over during a look. Contents come parents first.
func TestCopyIsEqual(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		pool := poolcopy.New(poolcopy.Limits{Bytes: 1 << 30, Txs: 1 << 20})
		there := map[chainhash.Hash]*poolcopy.Tx{}
		all := map[chainhash.Hash]*poolcopy.Tx{}
		var salt uint32
		change := func() {
			for range r.IntN(20) {
				known := slices.SortedFunc(maps.Values(there), func(a, b *poolcopy.Tx) int {
					return bytes.Compare(a.ID[:], b.ID[:])
				})
				if len(known) > 0 && r.IntN(3) == 0 {
					delete(there, known[r.IntN(len(known))].ID)
					continue
				}
				salt++
				var parents []*poolcopy.Tx
				for range r.IntN(3) {
					if len(known) > 0 {
						parents = append(parents, known[r.IntN(len(known))])
					}
				}
				tx := newTx(t, salt, parents...)
				there[tx.ID], all[tx.ID] = tx, tx
			}
		}
		look := func() {
			pool.Begin()
			ids := slices.Collect(maps.Keys(there))
			if r.IntN(3) == 0 { // one of the node's own, while the list is on the way
				salt++
				own := newTx(t, salt)
				there[own.ID], all[own.ID] = own, own
				if !pool.Add(own) {
					t.Fatalf("seed %d: own one not taken", seed)
				}
			}
			missing, gone := pool.Compare(ids)
			for _, tx := range gone {
				if there[tx.ID] != nil || !pool.Remove(tx.ID) {
					t.Fatalf("seed %d: %v is not gone", seed, tx.ID)
				}
			}
			for _, id := range missing {
				pool.Add(all[id])
			}
		}
		for range 10 {
			change()
			look()
		}
		check(t, seed, pool, there)
	}
}

func check(t *testing.T, seed uint64, pool *poolcopy.Pool, there map[chainhash.Hash]*poolcopy.Tx) {
	t.Helper()
	got := poolcopy.Contents(pool.All())
	if len(got) != len(there) || pool.Len() != len(there) {
		t.Fatalf("seed %d: %d of %d", seed, len(got), len(there))
	}
	var bytes int64
	seen := map[chainhash.Hash]bool{}
	for _, tx := range got {
		if there[tx.ID] == nil {
			t.Fatalf("seed %d: %v is not there", seed, tx.ID)
		}
		bytes += int64(there[tx.ID].Bytes())
		for _, in := range tx.Tx.TxIn {
			if of := in.PreviousOutPoint.Hash; there[of] != nil && !seen[of] {
				t.Fatalf("seed %d: %v comes before its parent", seed, tx.ID)
			}
		}
		seen[tx.ID] = true
		d := pool.Describe(pool.Lookup(tx.ID))
		if n := countAncestors(there, tx.Tx, map[chainhash.Hash]bool{}) + 1; d.Ancestors != n ||
			d.AncestorFees != int64(n)*fee || d.AncestorVSize != int64(n)*vsize {
			t.Fatalf("seed %d: %+v, want %d ancestors", seed, d, n)
		}
	}
	total := pool.Total()
	if n := int64(len(there)); total.Bytes != bytes || total.VSize != n*vsize || total.Fees != n*fee {
		t.Errorf("seed %d: %+v", seed, total)
	}
}

func countAncestors(there map[chainhash.Hash]*poolcopy.Tx, tx *wire.MsgTx, seen map[chainhash.Hash]bool) int {
	for _, in := range tx.TxIn {
		if of := there[in.PreviousOutPoint.Hash]; of != nil && !seen[of.ID] {
			seen[of.ID] = true
			countAncestors(there, of.Msg(), seen)
		}
	}
	return len(seen)
}

// The limits bound what is kept, and what they keep out is counted.
func TestLimits(t *testing.T) {
	one := newTx(t, 1)
	for _, limits := range []poolcopy.Limits{
		{Bytes: 1 << 20, Txs: 2}, {Bytes: int64(2*one.Bytes()) + 1, Txs: 100},
	} {
		pool := poolcopy.New(limits)
		pool.Begin()
		for salt := range uint32(3) {
			if got := pool.Add(newTx(t, salt+1)); got != (salt < 2) {
				t.Errorf("%+v: number %d: %v", limits, salt, got)
			}
		}
		if pool.Len() != 2 || pool.Total().Left != 1 {
			t.Errorf("%+v: %d, %+v", limits, pool.Len(), pool.Total())
		}
	}
}

// Bytes that are not the requested transaction are refused.
func TestParse(t *testing.T) {
	tx := newTx(t, 7)
	var raw bytes.Buffer
	if err := tx.Msg().Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	got, _, err := poolcopy.Parse(raw.Bytes(), &tx.ID, poolcopy.Details{})
	if err != nil || got.VSize != (got.Weight+3)/4 {
		t.Errorf("%+v: %v", got, err)
	}
	other := chainhash.Hash{1}
	for name, test := range map[string]struct {
		raw []byte
		id  chainhash.Hash
	}{
		"empty": {nil, tx.ID}, "short": {raw.Bytes()[:raw.Len()-1], tx.ID},
		"long": {append(raw.Bytes(), 0), tx.ID}, "another": {raw.Bytes(), other},
	} {
		if _, _, err := poolcopy.Parse(test.raw, &test.id, poolcopy.Details{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Listeners are told of additions and of removals with their reason.
func TestChange(t *testing.T) {
	tx := newTx(t, 9)
	if c := tx.Change(tx.Msg(), 0); !c.Added || c.ID != tx.ID || c.Fee != fee || c.VSize != vsize {
		t.Errorf("%+v", c)
	}
	if c := tx.Change(tx.Msg(), messages.PoolBlock); c.Added || c.Reason != messages.PoolBlock {
		t.Errorf("%+v", c)
	}
}

// A long chain of transactions does not deepen the stack.
func TestLongChain(t *testing.T) {
	const n = 5000
	list := []*poolcopy.Tx{newTx(t, 1)}
	for i := uint32(2); i <= n; i++ {
		list = append(list, newTx(t, i, list[len(list)-1]))
	}
	slices.Reverse(list)
	if got := poolcopy.Contents(list); len(got) != n || got[0].Tx.LockTime != 1 || got[n-1].Tx.LockTime != n {
		t.Errorf("%d", len(got))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{2, 0, 0, 0, 1}, true)
	f.Fuzz(func(t *testing.T, raw []byte, own bool) {
		id := chainhash.Hash{1}
		if own {
			id = chainhash.DoubleHashH(raw)
		}
		tx, msg, err := poolcopy.Parse(raw, &id, poolcopy.Details{})
		if err != nil {
			return
		}
		if msg.TxHash() != id || tx.Msg().WitnessHash() != tx.WID || tx.Weight <= 0 {
			t.Errorf("%x", raw)
		}
	})
}

package searches

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/search"
)

// While transactions come and leave, pages of any size have the entries in the order of
// their transactions, each once.
func TestPoolList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l poolList
	model := map[chainhash.Hash]poolTx{}
	for step := range 4000 {
		var wid chainhash.Hash
		binary.BigEndian.PutUint32(wid[r.IntN(3):], r.Uint32N(60))
		if r.IntN(5) < 2 {
			l.remove(wid)
			delete(model, wid)
		} else {
			order, entries := r.Uint64N(50), make([]search.Entry, 1+r.IntN(4))
			for i := range entries {
				entries[i].N = r.Uint32()
			}
			if old, has := model[wid]; has && r.IntN(2) == 0 {
				order = old.order
			}
			l.set(wid, order, entries)
			model[wid] = poolTx{poolPlace{order: order, wid: wid}, entries}
		}
		if most := 2*len(model) + 1; len(l.ordered) > most {
			t.Fatalf("%d transactions take %d places", len(model), len(l.ordered))
		}
		if step%20 > 0 {
			continue
		}
		var want []search.Entry
		txs := make([]poolTx, 0, len(model))
		for _, tx := range model {
			txs = append(txs, tx)
		}
		slices.SortFunc(txs, func(a, b poolTx) int {
			return cmp.Or(cmp.Compare(a.order, b.order), slices.Compare(a.wid[:], b.wid[:]))
		})
		for i := range txs {
			want = append(want, txs[i].entries...)
		}
		var got []search.Entry
		for at := (*poolPlace)(nil); ; {
			list, places := l.behind(at, 1+r.IntN(9))
			if got = append(got, list...); len(list) == 0 {
				break
			}
			next, err := parsePoolPlace(places[len(places)-1].text())
			if err != nil {
				t.Fatal(err)
			}
			at = next
		}
		if !slices.Equal(got, want) || l.entries != len(want) {
			t.Fatalf("step %d: %d entries, counted %d, want %d", step, len(got), l.entries, len(want))
		}
		if n := len(l.ordered) - len(model); n != l.left {
			t.Fatalf("step %d: %d have left, counted %d", step, n, l.left)
		}
		if len(l.ordered) > 2*len(model)+1 {
			t.Fatalf("step %d: %d places of %d transactions", step, len(l.ordered), len(model))
		}
	}
	for _, wrong := range []string{"00", "zz", string(make([]byte, 88))} {
		if _, err := parsePoolPlace(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

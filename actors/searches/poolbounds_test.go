package searches_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// A page has some of very many unconfirmed entries and reports that more follow; reading on gives all.
func TestMempoolPages(t *testing.T) {
	r := newRig(t, 9)
	p := r.withPool()
	r.limits.Pool = 3 * mostUnconfirmed
	r.grow(5, 0)
	r.start()
	q := messages.CreateSearch{Objects: objects([][]byte{script(1)}), Follow: true, Mempool: true}
	id := do(t, r.ref, q).ID
	const txs, outputs = 26, 800
	for n := range txs {
		p.pay(n, outputs, script(1))
	}
	ours := map[string]bool{string(script(1)): true}
	want := p.oracle(ours)
	var got []string
	pages := 0
	for deadline := time.Now().Add(time.Minute); len(got) != len(want); {
		if got, pages = nil, 0; time.Now().After(deadline) {
			t.Fatal("not all were found")
		}
		q := messages.GetSearchEntries{ID: id, Limit: 1}
		for more := true; more; pages++ {
			page := do(t, r.ref, q)
			if len(page.Unconfirmed) > mostUnconfirmed || page.PoolCut {
				t.Fatalf("%d unconfirmed entries in a page, cut %v", len(page.Unconfirmed), page.PoolCut)
			}
			got = append(got, linesOf(page.Unconfirmed)...)
			q.PoolCursor, more = page.PoolCursor, page.PoolMore
		}
	}
	if !slices.Equal(got, want) || pages != 3 {
		t.Errorf("%d entries in %d pages are not those of the pool in their order", len(got), pages)
	}
	none := do(t, r.ref, messages.GetSearchEntries{ID: id, Limit: 1, PoolLimit: -1})
	if len(none.Unconfirmed) > 0 || !none.PoolMore {
		t.Errorf("%d unconfirmed entries, and none were asked for", len(none.Unconfirmed))
	}
	_, err := ask.Ask(t.Context(), r.ref, messages.GetSearchEntries{ID: id, Limit: 1, PoolCursor: "12"})
	if !errors.Is(err, messages.ErrBadCursor) {
		t.Error(err)
	}
}

// mostUnconfirmed are in a page.
const mostUnconfirmed = 10_000

// pay puts a transaction into the pool that pays a script many times.
func (p *fakePool) pay(n, outputs int, script []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	tx := wire.NewMsgTx(2)
	out := wire.OutPoint{Index: uint32(n)}
	p.coins[out] = &messages.Coin{Output: wire.NewTxOut(5, []byte{0x51})}
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: out})
	for i := range outputs {
		tx.AddTxOut(wire.NewTxOut(int64(i), script))
	}
	id := tx.TxHash()
	p.txs = append(p.txs, messages.PoolTx{Tx: tx, ID: id, WID: id, Sequence: uint64(len(p.coins))})
	p.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{
		{Tx: tx, ID: id, WID: id, Added: true, Sequence: uint64(len(p.coins))},
	}})
}

// If there are more unconfirmed entries than all searches may have, some are left out, which is reported. They come
// as soon as transactions that leave, or a removed search, make room.
func TestMempoolCut(t *testing.T) {
	r := newRig(t, 10)
	p := r.withPool()
	r.limits.Pool = 50
	r.grow(5, 0)
	r.start()
	scripts := [][]byte{script(1), script(2)}
	ids := make([]string, 2)
	for i := range ids {
		ids[i] = do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Follow: true, Mempool: true}).ID
	}
	for range 200 {
		p.come()
	}
	var page messages.SearchPage
	for deadline := time.Now().Add(10 * time.Second); !page.PoolCut; {
		if page = do(t, r.ref, messages.GetSearchEntries{ID: ids[0], Limit: 1}); time.Now().After(deadline) {
			t.Fatal("it is not said that some were left out")
		}
	}
	if len(page.Unconfirmed) > 50 {
		t.Errorf("%d entries are kept", len(page.Unconfirmed))
	}
	do(t, r.ref, messages.RemoveSearch{ID: ids[1]})
	for range 180 {
		p.leave()
	}
	ours := map[string]bool{string(scripts[0]): true, string(scripts[1]): true}
	r.wantPool(p, ids[0], ours)
	if page := do(t, r.ref, messages.GetSearchEntries{ID: ids[0], Limit: 1}); page.PoolCut {
		t.Error("it is said that some are left out")
	}
}

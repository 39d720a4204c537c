package searches_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// fakePool is a memory pool whose content tests decide.
type fakePool struct {
	mu    sync.Mutex
	rng   *rand.Rand
	txs   []messages.PoolTx
	coins map[wire.OutPoint]*messages.Coin
	fails int // how many of the next requests fail

	changes *ask.Feed[messages.PoolChanged]
}

func (p *fakePool) actor() actor.Actor {
	return actor.ReceiveFunc(func(c actor.Context) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch m := c.Message().(type) {
		case *ask.Call[messages.GetPoolTxs, messages.PoolTxs]:
			m.Answer(messages.PoolTxs{Txs: slices.Clone(p.txs)}, p.failure())
		case *ask.Call[messages.GetPoolCoins, []*messages.Coin]:
			coins := make([]*messages.Coin, len(m.Req.Outs))
			for i, out := range m.Req.Outs {
				coins[i] = p.coins[out]
			}
			m.Answer(coins, p.failure())
		default:
			ask.Unhandled(c)
		}
	})
}

func (p *fakePool) failure() error {
	if p.fails > 0 {
		p.fails--
		return errors.New("the pool fails")
	}
	return nil
}

// come puts a transaction into the pool, which spends some output and pays to some scripts.
func (p *fakePool) come() {
	p.mu.Lock()
	tx := wire.NewMsgTx(2)
	for range 1 + p.rng.IntN(2) {
		out := wire.OutPoint{Index: p.rng.Uint32()}
		p.coins[out] = &messages.Coin{Output: wire.NewTxOut(p.rng.Int64N(1e9), script(p.rng.IntN(12)))}
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: out})
	}
	for range 1 + p.rng.IntN(3) {
		tx.AddTxOut(wire.NewTxOut(p.rng.Int64N(1e9), script(p.rng.IntN(12))))
	}
	id := tx.TxHash()
	p.txs = append(p.txs, messages.PoolTx{Tx: tx, ID: id, WID: id, Sequence: uint64(len(p.coins))})
	change := messages.PoolChange{Tx: tx, ID: id, WID: id, Added: true, Sequence: uint64(len(p.coins))}
	p.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{change}})
	p.mu.Unlock()
}

// leave takes a transaction out, and what it spends is not known any more.
func (p *fakePool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.txs) == 0 {
		return
	}
	i := p.rng.IntN(len(p.txs))
	tx := p.txs[i]
	p.txs = slices.Delete(p.txs, i, i+1)
	for _, in := range tx.Tx.TxIn {
		delete(p.coins, in.PreviousOutPoint)
	}
	change := messages.PoolChange{Tx: tx.Tx, ID: tx.ID, WID: tx.WID}
	p.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{change}})
}

func (p *fakePool) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.txs = nil
	clear(p.coins)
	p.changes.Publish(messages.PoolChanged{Reset: true})
}

// oracle returns what the pool has for some scripts, a line an entry, in no order.
func (p *fakePool) oracle(ours map[string]bool) (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.txs {
		for n, in := range t.Tx.TxIn {
			if out := p.coins[in.PreviousOutPoint].Output; ours[string(out.PkScript)] {
				lines = append(lines, poolLine(messages.SearchSpend, out.Value, t.ID, n))
			}
		}
		for n, out := range t.Tx.TxOut {
			if ours[string(out.PkScript)] {
				lines = append(lines, poolLine(messages.SearchReceive, out.Value, t.ID, n))
			}
		}
	}
	return lines
}

func poolLine(kind messages.SearchEntryType, amount int64, id chainhash.Hash, n int) string {
	return fmt.Sprintf("%s %d %v:%d", kind, amount, id, n)
}

func linesOf(list []messages.SearchEntry) (lines []string) {
	for i := range list {
		e := &list[i]
		if e.Height != -1 || e.Object == "" {
			lines = append(lines, "not as it should be")
		}
		lines = append(lines, poolLine(e.Type, e.Amount, e.TxID, int(e.N)))
	}
	return lines
}

func (r *rig) withPool() *fakePool {
	p := &fakePool{
		rng: r.rng, coins: map[wire.OutPoint]*messages.Coin{}, changes: new(ask.Feed[messages.PoolChanged]),
	}
	r.pool, r.changes = r.sys.Spawn("pool", p.actor,
		ask.Serve[messages.GetPoolTxs](), ask.Serve[messages.GetPoolCoins]()), p.changes
	return p
}

// A search that asks for it has what is in the memory pool, whatever comes, leaves and fails; the
// events add up to the same.
func TestMempool(t *testing.T) { synctest.Test(t, mempool) }

func mempool(t *testing.T) {
	actortest.InBubble(t)
	r := newRig(t, 6)
	p := r.withPool()
	r.news = new(ask.Feed[messages.News])
	received := r.listen()
	r.grow(5, 0)
	for range 30 {
		p.come()
	}
	r.start()
	scripts := [][]byte{script(1), script(2)}
	q := messages.CreateSearch{Name: "shop", Objects: objects(scripts), Follow: true, Mempool: true}
	made := do(t, r.ref, q)
	plain := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Follow: true})
	ours := map[string]bool{string(scripts[0]): true, string(scripts[1]): true}
	for i := range 300 {
		switch n := r.rng.IntN(40); {
		case n < 20:
			p.come()
		case n < 37:
			p.leave()
		case n == 37:
			p.reset()
		case n == 38 && len(ours) < 6:
			more := script(len(ours) + 1)
			ours[string(more)] = true
			do(t, r.ref, messages.ExtendSearch{ID: made.ID, Objects: objects([][]byte{more}), Start: -1})
		case n == 39:
			r.restart()
			received.forget() // all is reported again
		}
		if i%10 == 9 {
			r.wantPool(p, made.ID, ours)
			received.want(t, p.oracle(ours))
		}
	}
	for range 20 {
		p.come()
	}
	r.wantPool(p, made.ID, ours)
	p.mu.Lock()
	p.fails = 1
	p.mu.Unlock()
	p.come()
	for range 15 { // meanwhile the pool cannot be read
		p.leave()
	}
	r.wantPool(p, made.ID, ours)
	received.want(t, p.oracle(ours))
	if page := do(t, r.ref, messages.GetSearchEntries{ID: plain.ID, Limit: 1}); page.Unconfirmed != nil {
		t.Error("a search tells of the pool that does not ask for it")
	}
}

// wantPool waits until a search has what the pool has.
func (r *rig) wantPool(p *fakePool, id string, ours map[string]bool) {
	r.t.Helper()
	want := p.oracle(ours)
	slices.Sort(want)
	var got []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		page := do(r.t, r.ref, messages.GetSearchEntries{ID: id, Limit: 1})
		if got = linesOf(page.Unconfirmed); slices.Equal(slices.Sorted(slices.Values(got)), want) {
			return
		}
	}
	r.t.Fatalf("unconfirmed are\n%q\nwant\n%q", got, want)
}

// received is what the events of the pool add up to.
type received struct {
	mu    sync.Mutex
	lines map[string]bool
	wrong []string // that came twice, or left without having come
}

// listen collects the events.
func (r *rig) listen() *received {
	h := &received{lines: map[string]bool{}}
	listening := make(chan struct{})
	r.sys.Spawn("listener", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				r.news.Subscribe(c)
				close(listening)
			case messages.SearchPool:
				h.take(&m)
			}
		})
	})
	<-listening
	return h
}

func (h *received) take(m *messages.SearchPool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	line := linesOf([]messages.SearchEntry{m.Entry})[0]
	if h.lines[line] != m.Removed {
		h.wrong = append(h.wrong, line)
	}
	if h.lines[line] = true; m.Removed {
		delete(h.lines, line)
	}
}

func (h *received) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.lines)
	h.wrong = nil
}

// want waits until all changes are reported.
func (h *received) want(t *testing.T, lines []string) {
	t.Helper()
	slices.Sort(lines)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		got, wrong := slices.Sorted(maps.Keys(h.lines)), h.wrong
		h.mu.Unlock()
		if len(wrong) > 0 {
			t.Fatalf("reported twice, or as gone what was not there: %q", wrong)
		}
		if slices.Equal(got, lines) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("reported are\n%q\nwant\n%q", got, lines)
		}
	}
}

// While the pool cannot be read, callers wait; then all is there.
func TestMempoolFails(t *testing.T) { synctest.Test(t, mempoolFails) }

func mempoolFails(t *testing.T) {
	actortest.InBubble(t)
	r := newRig(t, 7)
	p := r.withPool()
	r.grow(5, 0)
	for range 10 {
		p.come()
	}
	for _, fails := range []int{1, 2} { // the contents, then what they spend
		p.mu.Lock()
		p.fails = fails
		p.mu.Unlock()
		r.start()
		ours := map[string]bool{string(script(1)): true, string(script(2)): true}
		q := messages.CreateSearch{Objects: objects([][]byte{script(1), script(2)}), Follow: true, Mempool: true}
		made := do(t, r.ref, q)
		page := do(t, r.ref, messages.GetSearchEntries{ID: made.ID, Limit: 1})
		got, want := linesOf(page.Unconfirmed), p.oracle(ours)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("unconfirmed are\n%q\nwant\n%q", got, want)
		}
		if err := r.ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.kept.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A call that waits for the pool's entries of a search is answered when the search is removed;
// without a pool, an error says that there is none.
func TestMempoolGone(t *testing.T) { synctest.Test(t, mempoolGone) }

func mempoolGone(t *testing.T) {
	actortest.InBubble(t)
	r := newRig(t, 8)
	r.grow(5, 0)
	r.start()
	q := messages.CreateSearch{Objects: objects([][]byte{script(1)}), Follow: true, Mempool: true}
	if _, err := ask.Ask(t.Context(), r.ref, q); !errors.Is(err, messages.ErrNoPool) {
		t.Error(err)
	}
	if err := r.ref.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.kept.Close(); err != nil {
		t.Fatal(err)
	}
	p := r.withPool()
	p.fails = 1 << 30
	r.start()
	made := do(t, r.ref, q)
	answer := make(chan error, 2)
	go func() {
		_, err := ask.Ask(t.Context(), r.ref, messages.GetSearchEntries{ID: made.ID, Limit: 1})
		answer <- err
	}()
	go func() {
		_, err := ask.Ask(t.Context(), r.ref, messages.WaitSearch{ID: made.ID, Limit: 1})
		answer <- err
	}()
	synctest.Wait() // until both wait
	do(t, r.ref, messages.RemoveSearch{ID: made.ID})
	for range 2 {
		if err := <-answer; !errors.Is(err, messages.ErrSearchNotFound) {
			t.Error(err)
		}
	}
}

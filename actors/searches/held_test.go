package searches

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// inPoolOf returns a transaction of a pool, and what was found in it.
func inPoolOf(n byte, entries int) (*poolview.Tx, poolEntries) {
	tx := &poolview.Tx{WID: chainhash.Hash{n}, Order: uint64(n)}
	found := poolEntries{order: tx.Order}
	for i := range entries {
		found.entries = append(found.entries, search.Entry{Kind: search.Receive, N: uint32(i), Height: -1})
	}
	return tx, found
}

// Entries of the pool are counted. They are forgotten when their transaction leaves, or their search is removed.
func TestHeldIsForgotten(t *testing.T) {
	s, _ := alone(t, 0)
	one, two := jobAt(1, 0, -1, 0), jobAt(2, 0, -1, 0)
	s.add(one)
	s.add(two)
	p, u := mempool{s}, &s.unconfirmed
	a, inA := inPoolOf(1, 2)
	b, inB := inPoolOf(2, 3)
	c, inC := inPoolOf(3, 0)
	txs, found := []*poolview.Tx{c, a, b}, []poolEntries{inC, inA, inB}
	check := func(what string, entries, holders, ofOne, ofTwo int) {
		t.Helper()
		if u.entries != entries || len(u.holders) != holders || one.pool.entries != ofOne || two.pool.entries != ofTwo {
			t.Errorf("%s: %d entries of %d transactions, %d and %d of the searches; want %d, %d, %d, %d",
				what, u.entries, len(u.holders), one.pool.entries, two.pool.entries, entries, holders, ofOne, ofTwo)
		}
	}
	p.found(one, txs, found)
	p.found(one, txs, found) // once more
	p.found(two, txs[1:], found[1:])
	check("found", 10, 2, 5, 5)
	if got := u.holders[a.WID]; !slices.Equal(got, []*job{one, two}) {
		t.Errorf("%d searches hold a transaction", len(got))
	}
	p.left(a)
	check("one has left", 6, 1, 3, 3)
	p.left(a)
	check("it has left again", 6, 1, 3, 3)
	p.removed(one)
	check("a search is removed", 3, 1, 0, 3)
	if got := u.holders[b.WID]; !slices.Equal(got, []*job{two}) {
		t.Errorf("%d searches hold the transaction that is left", len(got))
	}
	p.left(b)
	check("all have left", 0, 0, 0, 0)
}

// As many entries are kept as may be, and not one more; those that were left out are looked for again as soon as half
// of the room is free.
func TestHeldAreBounded(t *testing.T) {
	s, _ := alone(t, 0)
	s.cfg.Limits.Pool = 6
	one, two, none := jobAt(1, 0, -1, 0), jobAt(2, 0, -1, 0), jobAt(3, 0, -1, 0)
	for _, j := range []*job{one, two, none} {
		s.add(j)
	}
	p, u := mempool{s}, &s.unconfirmed
	a, inA := inPoolOf(1, 2)
	b, inB := inPoolOf(2, 1)
	c, inC := inPoolOf(3, 1)
	p.found(one, []*poolview.Tx{a, b}, []poolEntries{inA, inB})
	p.found(two, []*poolview.Tx{a, b}, []poolEntries{inA, inB})
	if one.poolCut || two.poolCut || u.cut || u.entries != 6 {
		t.Errorf("%d entries are kept, and 6 may be", u.entries)
	}
	p.found(one, []*poolview.Tx{c}, []poolEntries{inC})
	if !one.poolCut || two.poolCut || !u.cut || u.entries != 6 || u.holders[c.WID] != nil {
		t.Errorf("%d entries are kept of one more", u.entries)
	}
	p.removed(none)
	if p.left(b); u.entries != 4 || len(u.queue) > 0 || !one.poolCut {
		t.Errorf("%d things are to be looked at, with %d entries", len(u.queue), u.entries)
	}
	p.left(a)
	if len(u.queue) != 1 || u.queue[0].job != one || one.poolCut || u.cut {
		t.Errorf("%d things are to be looked at again", len(u.queue))
	}
	if p.left(c); len(u.queue) != 1 {
		t.Error("it is looked at twice")
	}
}

// Found and forgotten entries are reported once; they are not reported again if more is found in their transaction.
func TestHeldIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 0)
		probe := probed(t, s)
		s.cfg.News = new(ask.Feed[messages.News])
		s.cfg.News.Subscribe(s.c)
		j := jobAt(1, 0, -1, 0)
		j.Objects, j.Scripts = []searchdb.Object{"o"}, []searchdb.Script{{Script: []byte{1}, Index: 4}}
		s.add(j)
		p := mempool{s}
		tx, found := inPoolOf(1, 1)
		_, more := inPoolOf(1, 2)
		notified := func(n uint32, removed bool) {
			t.Helper()
			m := expect[messages.SearchPool](probe)
			if m.ID != j.ID.String() || m.Name != "1" || m.Removed != removed || m.Entry.N != n || m.Entry.Index != 4 {
				t.Errorf("event: %+v", m)
			}
		}
		p.found(j, []*poolview.Tx{tx}, []poolEntries{found})
		notified(0, false)
		p.found(j, []*poolview.Tx{tx}, []poolEntries{more})
		notified(1, false)
		p.left(tx)
		notified(0, true)
		notified(1, true)
		probe.settle()
		probe.Quiet()
	})
}

// Once the whole pool has been looked at for a search, entries of transactions that have left the pool are forgotten,
// and waiting calls go on. Neither happens while a rest of the pool is left, or the search is to be looked at once
// more.
func TestKnownOfThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 0)
		probe := probed(t, s)
		j := jobAt(1, 0, -1, 0)
		j.Mempool = true
		s.add(j)
		p, u := mempool{s}, &s.unconfirmed
		u.view = poolview.New()
		gone, inGone := inPoolOf(1, 1)
		there, inThere := inPoolOf(2, 1)
		p.found(j, []*poolview.Tx{gone, there}, []poolEntries{inGone, inThere})
		u.view.Change(&messages.PoolChange{Tx: wire.NewMsgTx(2), WID: there.WID, Added: true})
		calls := 0
		for range 2 {
			j.whenKnown = append(j.whenKnown, func() { calls++ })
		}

		rest := make([]*poolview.Tx, poolBatch+1)
		for i := range rest {
			rest[i] = &poolview.Tx{Tx: wire.NewMsgTx(2), Order: uint64(i)}
		}
		p.looked(&poolCoins{whole: j, jobs: []*job{j}, rest: rest})
		m := expect[poolCoins](probe)
		if m.whole != j || !slices.Equal(m.txs, rest[:poolBatch]) || !slices.Equal(m.rest, rest[poolBatch:]) {
			t.Errorf("%d are looked at, and %d then", len(m.txs), len(m.rest))
		}
		if calls != 0 || j.poolKnown || !u.running {
			t.Error("all is known before the rest was looked at")
		}
		u.queue = []poolWork{{job: j}}
		p.looked(&poolCoins{whole: j})
		m = expect[poolCoins](probe)
		if calls != 0 || j.poolKnown || m.whole != j || len(m.txs) != 1 || len(u.queue) != 0 {
			t.Error("all is known before it was looked at once more")
		}
		p.looked(&poolCoins{whole: j})
		if calls != 2 || !j.poolKnown || len(j.whenKnown) > 0 || u.running {
			t.Errorf("%d of 2 that waited go on", calls)
		}
		if len(j.pool.of(gone.WID)) > 0 || len(j.pool.of(there.WID)) != 1 || u.entries != 1 {
			t.Errorf("%d entries are left of one transaction", u.entries)
		}
		p.whenKnown(j, func() { calls++ })
		if calls != 3 {
			t.Error("who asks later waits")
		}
		delete(s.jobs, j.ID)
		j.poolKnown = false
		if p.looked(&poolCoins{whole: j}); j.poolKnown {
			t.Error("it is known for one that is removed")
		}
	})
}

// Changes of the pool and searches that begin are dealt with in their order, as many transactions together as come one
// after the other.
func TestPoolWorkInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 0)
		probe := probed(t, s)
		j, plain := jobAt(1, 0, -1, 0), jobAt(2, 0, -1, 0)
		j.Mempool = true
		s.add(j)
		s.add(plain)
		p, u := mempool{s}, &s.unconfirmed
		p.changed(messages.PoolChanged{Changes: []messages.PoolChange{{WID: chainhash.Hash{1}, Added: true}}})
		if len(u.queue) > 0 {
			t.Error("something is to be done before any search has asked")
		}
		u.view, u.running = poolview.New(), true
		change := func(n byte, added bool) messages.PoolChange {
			return messages.PoolChange{Tx: wire.NewMsgTx(2), WID: chainhash.Hash{n}, Added: added, Sequence: uint64(n)}
		}
		p.changed(messages.PoolChanged{Changes: []messages.PoolChange{
			change(1, true), change(2, true), change(9, false), change(1, false), change(3, true),
		}})
		if len(u.queue) != 4 || !u.queue[2].left || u.queue[2].tx.WID != (chainhash.Hash{1}) {
			t.Fatalf("%d things are to be done: %+v", len(u.queue), u.queue)
		}
		looked := func(whole *job, wids ...byte) {
			t.Helper()
			m := expect[poolCoins](probe)
			var got []byte
			for _, tx := range m.txs {
				got = append(got, tx.WID[0])
			}
			if !slices.Equal(got, wids) || m.whole != whole || !slices.Equal(m.jobs, []*job{j}) || len(m.rest) > 0 {
				t.Errorf("looked at are %v, want %v, for %d searches", got, wids, len(m.jobs))
			}
			p.looked(&m)
		}
		p.looked(&poolCoins{})
		looked(nil, 1, 2)
		looked(nil, 3)
		u.running = true
		p.changed(messages.PoolChanged{Changes: []messages.PoolChange{change(4, true)}})
		u.queue = append(u.queue, poolWork{job: plain}, poolWork{job: j})
		delete(s.jobs, plain.ID)
		p.changed(messages.PoolChanged{Changes: []messages.PoolChange{change(5, true)}})
		p.looked(&poolCoins{})
		looked(nil, 4)
		looked(j, 2, 3, 4, 5) // all that is there
		looked(nil, 5)
		u.running = true
		p.changed(messages.PoolChanged{Reset: true, Changes: []messages.PoolChange{change(6, true)}})
		if n := len(u.queue); n != 5 || u.queue[4].left || u.queue[4].tx.WID != (chainhash.Hash{6}) {
			t.Errorf("%d things are to be done after the pool was emptied", n)
		}
		p.looked(&poolCoins{})
		looked(nil, 6)
		u.running, u.queue = true, make([]poolWork, poolBatch+1)
		for i := range u.queue {
			u.queue[i].tx = &poolview.Tx{Tx: wire.NewMsgTx(2)}
		}
		p.looked(&poolCoins{})
		if m := expect[poolCoins](probe); len(m.txs) != poolBatch || len(u.queue) != 1 {
			t.Errorf("%d are looked at together, %d wait", len(m.txs), len(u.queue))
		}
		j.Mempool = false
		if p.looked(&poolCoins{}); u.running || len(u.queue) > 0 {
			t.Error("it is looked at the pool for no search")
		}
		probe.settle()
		probe.Quiet()
	})
}

// A pool that cannot be read is tried again in a while; what is known stays until then.
func TestPoolIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 0)
		probe := probed(t, s)
		s.cfg.Changes = new(ask.Feed[messages.PoolChanged])
		s.cfg.Changes.Subscribe(s.c)
		var log bytes.Buffer
		s.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		p, u := mempool{s}, &s.unconfirmed
		u.view, u.running = poolview.New(), true
		j := jobAt(1, 0, -1, 0)
		s.add(j)
		tx, found := inPoolOf(1, 1)
		p.found(j, []*poolview.Tx{tx}, []poolEntries{found})
		u.cut, u.queue = true, []poolWork{{tx: tx}}
		for _, fail := range []func(){
			func() { p.contents(poolContents{poolview.Contents{Err: errors.New("no pool")}}) },
			func() { p.haveCoins(poolCoins{err: errors.New("no coins")}) },
			func() { p.haveCoins(poolCoins{err: ask.ErrStopped}) }, // which is no fault
		} {
			if fail(); !u.running || len(u.queue) != 1 {
				t.Error("it goes on with a pool that cannot be read")
			}
			time.Sleep(lookAgain - 1)
			probe.settle()
			probe.Quiet()
			expect[poolAgain](probe)
		}
		if n := strings.Count(log.String(), "\n"); n != 2 {
			t.Errorf("%d lines in the log: %s", n, log.String())
		}
		p.again()
		if u.view != nil || u.running || len(u.queue) > 0 || u.entries != 1 || !u.cut || len(u.holders) != 1 {
			t.Errorf("what is known has become %+v", u)
		}
		s.cfg.Changes.Publish(messages.PoolChanged{})
		probe.settle()
		probe.Quiet() // it listens to nothing meanwhile
	})
}

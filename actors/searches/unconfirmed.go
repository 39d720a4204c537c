package searches

import (
	"cmp"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
)

// poolBatch is how many transactions of the memory pool are looked at together.
const poolBatch = 500

// unconfirmed finds the memory pool's entries for searches. Changes of the pool and searches that
// begin are dealt with in their order, one after the other.
type unconfirmed struct {
	view    *poolview.View // nil: no search has asked yet
	queue   []poolWork
	running bool

	holders map[chainhash.Hash][]*job // that have entries of a transaction, by wtxid
	entries int                       // of all searches
	cut     bool                      // some were left out
}

// poolWork is one thing to do: a transaction that came into the pool or left it, or a search that
// all in the pool are to be looked at for.
type poolWork struct {
	tx   *poolview.Tx
	left bool
	job  *job
}

// poolEntries are those of a transaction in the pool.
type poolEntries struct {
	order   uint64
	entries []search.Entry
}

// Messages of the actor to itself.
type (
	poolContents struct{ poolview.Contents }

	poolCoins struct {
		txs   []*poolview.Tx
		jobs  []*job
		whole *job // for which all transactions are looked at: the last of them are these
		rest  []*poolview.Tx
		coins []*messages.Coin
		err   error
	}
	poolAgain struct{}
)

// mempool is what the actor does for the memory pool.
type mempool struct{ *Searches }

// look has the whole pool looked at for a search that includes the memory pool.
func (s mempool) look(j *job) {
	if !j.Mempool || s.cfg.Pool.IsAbsent() {
		return
	}
	j.poolKnown = false
	s.unconfirmed.queue = append(s.unconfirmed.queue, poolWork{job: j})
	if s.unconfirmed.view == nil {
		s.join()
		return
	}
	s.next()
}

// join begins to listen to the pool. Nothing is done before its contents have come.
func (s mempool) join() {
	s.unconfirmed.view, s.unconfirmed.running = poolview.New(), true
	poolview.Join(s.ctx, s.c, s.cfg.Pool, s.cfg.Changes, func(m poolview.Contents) any { return poolContents{m} })
}

func (s mempool) contents(m poolContents) {
	u := &s.unconfirmed
	u.running = false
	if err := u.view.Begin(m.Contents, nil); err != nil {
		s.later(err)
		return
	}
	s.next()
}

// later begins anew in a while.
func (s mempool) later(err error) {
	if !errors.Is(err, ask.ErrStopped) {
		s.cfg.Log.Warn("searches cannot read the memory pool", "err", err)
	}
	s.unconfirmed.running = true
	s.after(lookAgain, poolAgain{})
}

// again has the pool be looked at again, for all searches.
func (s mempool) again() {
	s.leave()
	u := &s.unconfirmed
	*u = unconfirmed{holders: u.holders, entries: u.entries, cut: u.cut} // what is known until all is looked at
	s.lookAll()
}

// changed takes what has changed in the pool.
func (s mempool) changed(m messages.PoolChanged) {
	u := &s.unconfirmed
	if u.view == nil {
		return
	}
	if m.Reset {
		for _, tx := range slices.Collect(u.view.All()) {
			u.queue = append(u.queue, poolWork{tx: tx, left: true})
		}
		u.view.Reset()
	}
	for i := range m.Changes {
		change := &m.Changes[i]
		left := u.view.Change(change)
		switch {
		case change.Added:
			u.queue = append(u.queue, poolWork{tx: u.view.ByWID(change.WID)})
		case left != nil:
			u.queue = append(u.queue, poolWork{tx: left, left: true})
		}
	}
	s.next()
}

// next does what is first in the queue.
func (s mempool) next() {
	u := &s.unconfirmed
	for !u.running && len(u.queue) > 0 {
		switch w := u.queue[0]; {
		case w.left:
			u.queue = u.queue[1:]
			s.left(w.tx)
		case w.job != nil:
			u.queue = u.queue[1:]
			if s.jobs[w.job.ID] == w.job {
				s.coins(poolCoins{whole: w.job, jobs: []*job{w.job}, rest: s.inOrder()})
			}
		default:
			s.added()
		}
	}
}

// inOrder returns all that is in the pool.
func (s mempool) inOrder() []*poolview.Tx {
	return slices.SortedFunc(s.unconfirmed.view.All(), func(a, b *poolview.Tx) int {
		return cmp.Compare(a.Order, b.Order)
	})
}

// added looks at the transactions that the queue begins with.
func (s mempool) added() {
	u := &s.unconfirmed
	var txs []*poolview.Tx
	for len(u.queue) > 0 && len(txs) < poolBatch && u.queue[0].job == nil && !u.queue[0].left {
		txs = append(txs, u.queue[0].tx)
		u.queue = u.queue[1:]
	}
	var jobs []*job
	for _, j := range s.jobs {
		if j.Mempool {
			jobs = append(jobs, j)
		}
	}
	if len(jobs) > 0 {
		s.coins(poolCoins{jobs: jobs, rest: txs})
	}
}

// coins asks for what the next transactions spend.
func (s mempool) coins(m poolCoins) {
	n := min(len(m.rest), poolBatch)
	m.txs, m.rest = m.rest[:n], m.rest[n:]
	q := messages.GetPoolCoins{View: messages.PoolOutputs}
	for _, tx := range m.txs {
		for _, in := range tx.Tx.TxIn {
			q.Outs = append(q.Outs, in.PreviousOutPoint)
		}
	}
	s.unconfirmed.running = true
	ask.Then(s.ctx, s.c, s.cfg.Pool, q, func(coins []*messages.Coin, err error) any {
		m.coins, m.err = coins, err
		return m
	})
}

// haveCoins looks at transactions in a worker.
func (s mempool) haveCoins(m poolCoins) {
	if m.err != nil {
		s.later(m.err)
		return
	}
	type named struct {
		job     *job
		scripts texts
		finder  *search.ScriptSet
	}
	list := make([]named, len(m.jobs))
	for i, j := range m.jobs {
		list[i] = named{j, j.texts(), j.finder}
	}
	s.tasks.Go(s.c, func() func() {
		found := make([][]poolEntries, len(list))
		spent := spentBy(m.txs, m.coins)
		for i := range list {
			n := &list[i]
			if n.finder == nil || n.finder.Len() != len(n.scripts.scripts) {
				n.finder = search.NewScriptSet(len(n.scripts.scripts))
				for k := range n.scripts.scripts {
					n.finder.Add(n.scripts.scripts[k].Script)
				}
			}
			found[i] = make([]poolEntries, len(m.txs))
			for k, tx := range m.txs {
				if spent[k] != nil {
					found[i][k] = poolEntries{tx.Order, inPool(tx.Tx, spent[k], n.finder)}
				}
			}
		}
		return func() {
			for i := range list {
				if j := list[i].job; s.jobs[j.ID] == j {
					j.finder = list[i].finder
					s.found(j, m.txs, found[i])
				}
			}
			s.looked(&m)
		}
	})
}

// spentBy returns what each transaction spends; nil where it has left the pool, so that this is not
// known any more.
func spentBy(txs []*poolview.Tx, coins []*messages.Coin) [][]chainview.Coin {
	spent := make([][]chainview.Coin, len(txs))
	for i, tx := range txs {
		own := coins[:len(tx.Tx.TxIn)]
		coins = coins[len(tx.Tx.TxIn):]
		if slices.Contains(own, nil) {
			continue
		}
		spent[i] = make([]chainview.Coin, len(own))
		for n, coin := range own {
			spent[i][n] = chainview.Coin{Value: btcutil.Amount(coin.Output.Value), Script: coin.Output.PkScript}
		}
	}
	return spent
}

func inPool(tx *wire.MsgTx, spent []chainview.Coin, scripts search.Finder) (entries []search.Entry) {
	search.InTx(tx, spent, scripts, func(e search.Entry) {
		e.Height = -1
		entries = append(entries, e)
	})
	return entries
}

// looked goes on with the next transactions.
func (s mempool) looked(m *poolCoins) {
	s.unconfirmed.running = false
	if len(m.rest) > 0 {
		s.coins(*m)
		return
	}
	if j := m.whole; j != nil && s.jobs[j.ID] == j && !slices.ContainsFunc(s.unconfirmed.queue, func(w poolWork) bool {
		return w.job == j // once more
	}) {
		s.known(j)
	}
	s.next()
}

// known notes that the whole pool has been looked at for a search. The search's entries of
// transactions that left while nobody listened are forgotten.
func (s mempool) known(j *job) {
	for id := range j.pool.byWID {
		if s.unconfirmed.view.ByWID(id) == nil {
			s.forget(j, id)
		}
	}
	j.poolKnown = true
	j.release()
}

// release runs the functions that wait until the pool has been looked at for a search.
func (j *job) release() {
	waiting := j.whenKnown
	j.whenKnown = nil
	for _, then := range waiting {
		then()
	}
}

// lookAll has all in the pool be looked at for all searches that were read from the disk.
func (s mempool) lookAll() {
	for _, j := range s.jobs {
		s.look(j)
	}
}

// leave stops listening.
func (s mempool) leave() {
	if s.unconfirmed.view != nil {
		s.cfg.Changes.Unsubscribe(s.c)
	}
}

// whenKnown does something once all in the pool has been looked at for a search.
func (s mempool) whenKnown(j *job, then func()) {
	if !j.Mempool || j.poolKnown || s.cfg.Pool.IsAbsent() {
		then()
		return
	}
	j.whenKnown = append(j.whenKnown, then)
}

func (s mempool) receive(message any) {
	switch m := message.(type) {
	case poolContents:
		s.contents(m)
	case poolCoins:
		s.haveCoins(m)
	case messages.PoolChanged:
		s.changed(m)
	case poolAgain:
		s.again()
	}
}

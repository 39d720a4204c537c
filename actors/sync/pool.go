package sync

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// A pool is the unconfirmed transactions that compact blocks are made of, by wtxid.
// The memory pool shares them.
type pool struct {
	txs map[chainhash.Hash]*wire.MsgTx

	// gone are those that left before the answer came to what was there at first;
	// nil after it.
	gone map[chainhash.Hash]bool
}

func newPool() pool {
	return pool{txs: make(map[chainhash.Hash]*wire.MsgTx), gone: make(map[chainhash.Hash]bool)}
}

// poolAnswer is what was in the pool at first.
type poolAnswer struct {
	txs []messages.PoolTx
	err error
}

// followPool begins to follow the memory pool.
func (s *Sync) followPool(c actor.Context) {
	if s.cfg.Changes == nil || s.cfg.BlocksOnly {
		return
	}
	s.cfg.Changes.Subscribe(c)
	ask.Then(s.ctx, c, s.cfg.Pool, messages.GetPoolTxs{}, func(got messages.PoolTxs, err error) any {
		return poolAnswer{got.Txs, err}
	})
}

func (p *pool) begin(m poolAnswer) {
	for i := range m.txs {
		if tx := &m.txs[i]; !p.gone[tx.WID] {
			p.txs[tx.WID] = tx.Tx
		}
	}
	p.gone = nil
}

func (p *pool) change(m messages.PoolChanged) {
	if m.Reset {
		*p = pool{txs: make(map[chainhash.Hash]*wire.MsgTx)}
	}
	for i := range m.Changes {
		c := &m.Changes[i]
		if c.Added {
			p.txs[c.WID] = c.Tx
			delete(p.gone, c.WID)
			continue
		}
		delete(p.txs, c.WID)
		if p.gone != nil {
			p.gone[c.WID] = true
		}
	}
}

// each calls a function for each transaction.
func (p *pool) each(f func(wtxid chainhash.Hash, tx *wire.MsgTx)) {
	for wtxid, tx := range p.txs {
		f(wtxid, tx)
	}
}

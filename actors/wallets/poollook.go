package wallets

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// look takes over the transactions of the pool that concern scripts which
// payments have made the wallet's, unless the pool was compared with these
// scripts before.
func (p *poolState) look(c actor.Context) {
	if ledger := p.ledger; ledger != nil && txs.Reach(ledger.Txs()) > p.seen {
		p.lookFor(c)
	}
}

// lookFor takes over the transactions of the pool that concern scripts which have
// become the wallet's. They are picked out where the answer comes in: the pool is
// large, and few transactions concern few scripts.
func (p *poolState) lookFor(c actor.Context) {
	if p.cfg.Pool.IsAbsent() || !p.live || !p.joined || p.scans > 0 {
		return // the end of a scan looks again
	}
	scripts := p.ledger.Keys().Scripts()
	fresh := scripts[min(p.seen, len(scripts)):]
	if len(fresh) == 0 {
		return
	}
	coins := txs.OutputsTo(p.ledger.Txs(), fresh)
	pick := func(pool []messages.PoolTx) []messages.PoolTx { return concerned(pool, fresh, coins) }
	p.read(c, pick, func(pool messages.PoolTxs) {
		p.news.insert(&pool, func() {
			p.add(pool)
			p.seen = len(scripts)
			p.write(c)
		})
	})
}

// concerned returns the transactions that pay to scripts or spend coins, and their
// descendants in the pool.
func concerned(pool []messages.PoolTx, scripts [][]byte, coins map[wire.OutPoint]bool) []messages.PoolTx {
	wanted := make(map[string]bool, len(scripts))
	for _, pkScript := range scripts {
		wanted[string(pkScript)] = true
	}
	var found []messages.PoolTx // what spends from others after these
	taken, ids := make([]bool, len(pool)), make(map[chainhash.Hash]bool)
	concerns := func(t *wire.MsgTx) bool {
		return slices.ContainsFunc(t.TxOut, func(out *wire.TxOut) bool { return wanted[string(out.PkScript)] }) ||
			slices.ContainsFunc(t.TxIn, func(in *wire.TxIn) bool {
				return coins[in.PreviousOutPoint] || ids[in.PreviousOutPoint.Hash]
			})
	}
	for more := true; more; { // children may stand before their parents
		more = false
		for i := range pool {
			if !taken[i] && concerns(pool[i].Tx) {
				taken[i], ids[pool[i].ID], more = true, true, true
				found = append(found, pool[i])
			}
		}
	}
	return found
}

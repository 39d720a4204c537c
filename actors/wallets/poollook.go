package wallets

import (
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/poolorder"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// look takes over the transactions of the pool that concern scripts which
// payments have made the wallet's, unless the pool was compared with these
// scripts before.
func (p *poolState) look() {
	if ledger := p.ledger; ledger != nil && txs.Reach(ledger.Txs()) > p.seen {
		p.lookFor()
	}
}

// lookFor takes over the transactions of the pool that concern scripts which have
// become the wallet's. They are picked out where the answer comes in: the pool is
// large, and few transactions concern few scripts.
func (p *poolState) lookFor() {
	if p.cfg.Pool.IsAbsent() || !p.live || !p.joined || p.scans > 0 {
		return // the end of a scan looks again
	}
	scripts := p.ledger.Keys().Scripts()
	fresh := scripts[min(p.seen, len(scripts)):]
	if len(fresh) == 0 {
		return
	}
	coins := txs.OutputsTo(p.ledger.Txs(), fresh)
	pick := func(pool []messages.PoolTx) []messages.PoolTx { return txs.Concerned(pool, fresh, coins) }
	p.readBeside(pick, func(pool messages.PoolTxs) {
		p.events.Insert(&poolorder.Contents{PoolTxs: pool, Seen: len(scripts)})
	})
}

// readBeside has a job read the pool.
func (p *poolState) readBeside(
	pick func([]messages.PoolTx) []messages.PoolTx, use func(messages.PoolTxs),
) {
	p.scans++
	p.beside(func(j *ask.Job) { _ = p.read(j, pick, use) })
}

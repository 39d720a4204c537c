// Package bitcoin is the kind of Bitcoin's chains: the rules of their headers, which
// rules of scripts hold in which block, and how the chain lies in the database. The
// rest is package chainstate's, whose verdicts, their order and their words are
// Bitcoin Core's.
package bitcoin

import "github.com/seed61375155/trawl/internal/engine/chainstate"

// Config is what an Engine is made of.
type Config = chainstate.Config

// An Engine is an open chain.
type Engine = chainstate.Engine

// Open opens the chain in cfg.DB, or starts one with the genesis block. It takes over
// the database: after an error it is closed. A chain whose unspent outputs cannot be
// trusted is [chaindb.ErrDamaged].
func Open(cfg Config) (*Engine, error) {
	r := rules{cfg.Network, cfg.Clock}
	return chainstate.Open(cfg, chainstate.Kind{
		Headers: r, Scripts: r, Rows: rows{}, Counts: true, Unparsable: true,
	})
}

// Package qbit is the kind of chains that pay to P2MR outputs, qbit's networks. It
// has the rules of their headers, says which rules of scripts hold in which block,
// and how the chain lies in the database. The rest is package chainstate's.
package qbit

import (
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
)

// Config is what an Engine is made of; its network has P2MR set.
type Config = chainstate.Config

// An Engine is an open chain.
type Engine = chainstate.Engine

// Open opens the chain in cfg.DB, or starts one with the genesis block. It takes over
// the database: after an error it is closed. A chain whose unspent outputs cannot be
// trusted is [chaindb.ErrDamaged].
func Open(cfg Config) (*Engine, error) { return chainstate.Open(cfg, kind(&cfg)) }

// CheckCovered is chainstate.CheckCovered.
func CheckCovered(cfg Config) error { return chainstate.CheckCovered(cfg, kind(&cfg)) }

func kind(cfg *Config) chainstate.Kind {
	r := &rules{
		P2MR: cfg.Network.P2MR, net: cfg.Network, clock: cfg.Clock, places: map[*chainview.Block]*pow.Place{},
	}
	return chainstate.Kind{Headers: r, Scripts: r, Rows: rows{}}
}

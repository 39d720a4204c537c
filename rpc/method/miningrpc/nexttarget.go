package miningrpc

import (
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
)

// nextBits returns the target, in compact form, of a block made now on top of tip.
func (d *Deps) nextBits(tip *chainview.Block) uint32 { return d.bitsAt(tip, d.Now()) }

// bitsAt returns the target, in compact form, of a block made at a time on top of tip.
func (d *Deps) bitsAt(tip *chainview.Block, at time.Time) uint32 {
	return d.Network.NextBits(tip, max(tip.MedianTimePast()+1, at.Unix()))
}

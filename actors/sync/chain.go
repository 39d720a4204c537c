package sync

import (
	"log/slog"
	"math/big"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/corelog"
)

// nearTip is how many blocks a chain may leave ours before our tip and still be taken in
// whatever its work.
const nearTip = 144

// A chainState is the chain as all parts of the actor see it. Sync alone moves it.
type chainState struct {
	cfg *Config

	reader   chainview.Reader // that the blocks below are of
	best     *chainview.Block // header with the most work that is not known to be invalid
	tip      *chainview.Block // last announced
	imported bool             // no block file is read any more
	leftIBD  bool             // once set, the node is not in initial download again
}

// open takes over the chain's present view. changed says that the chain was opened again, so that
// blocks are to be found in its new tree, ok that there is one.
func (cs *chainState) open() (changed, ok bool) {
	reader := cs.cfg.View.Open()
	if reader == nil {
		return false, false
	}
	if cs.reader == reader {
		return false, true
	}
	if cs.reader = reader; cs.tip != nil {
		cs.tip = reader.Lookup(&cs.tip.Hash)
	}
	if cs.tip == nil {
		cs.tip = reader.Active().Tip()
	}
	cs.findBest()
	return true, true
}

// findBest finds the best header.
func (cs *chainState) findBest() {
	best := cs.reader.Active().Tip()
	for _, b := range cs.reader.Tips() {
		for b.Status().Invalid() {
			b = b.Parent
		}
		if b.CompareWork(best) > 0 {
			best = b
		}
	}
	cs.best = best
}

// initialDownload reports whether the node is on its first way to the network's
// tip: until the tip once has the least work and is recent.
func (cs *chainState) initialDownload() bool {
	if cs.leftIBD {
		return false
	}
	if !cs.imported || cs.reader == nil {
		return true
	}
	tip := cs.reader.Active().Tip()
	if tip.Work().Cmp(cs.cfg.MinimumWork) < 0 || cs.age(tip) > cs.cfg.MaxTipAge {
		return true
	}
	cs.leftIBD = true
	return false
}

// age is how old the time in a block is.
func (cs *chainState) age(b *chainview.Block) time.Duration {
	return cs.cfg.Now().Sub(b.Time())
}

// isOnBest reports whether a header is part of the best chain of headers, or of
// blocks.
func (cs *chainState) isOnBest(b *chainview.Block) bool {
	return cs.best.Ancestor(b.Height).Is(b) || cs.reader.Active().Contains(b)
}

// hasWork reports whether a block, or one of a chain with the block that is not known to be invalid, has the least
// work.
func (cs *chainState) hasWork(b *chainview.Block) bool {
	least := cs.cfg.MinimumWork
	if b.Work().Cmp(least) >= 0 {
		return true
	}
	return slices.ContainsFunc(cs.reader.Tips(), func(tip *chainview.Block) bool {
		valid := tip.Valid()
		return valid.Work().Cmp(least) >= 0 && valid.Ancestor(b.Height).Is(b)
	})
}

// leastWork is the work that a chain must have before its headers are kept.
func (cs *chainState) leastWork() *big.Int {
	near := cs.nearWork(cs.reader.Active().Tip())
	if near.Cmp(cs.cfg.MinimumWork) < 0 {
		return cs.cfg.MinimumWork
	}
	return near
}

// nearWork is the work of a chain that leaves ours shortly before our tip.
func (cs *chainState) nearWork(tip *chainview.Block) *big.Int {
	if cs.cfg.Network.Traffic.NearWork {
		if tip.Height < nearTip {
			return new(big.Int)
		}
		return tip.Ancestor(tip.Height - nearTip).Work()
	}
	near := consensus.TargetWork(tip.Bits())
	near.Mul(near, big.NewInt(nearTip))
	return near.Sub(tip.Work(), near)
}

// have reports whether nothing is to be asked for a block: it is stored, or a part of the
// active chain, pruned or not. A pruned block of another branch is asked for again where
// that has more work.
func (cs *chainState) have(b *chainview.Block) bool {
	active := cs.reader.Active()
	if active.Contains(b) {
		return b.Status()&chainview.HasData != 0 || !chainview.AssumedOf(cs.reader).Lacks(b, active)
	}
	const data = chainview.HasData | chainview.Pruned
	return b.Status()&data == chainview.HasData
}

// isBefore reports whether a block is one of those that the snapshot which the active chain
// begins with is made of.
func (cs *chainState) isBefore(b *chainview.Block) bool {
	a := chainview.AssumedOf(cs.reader)
	return a != nil && a.Base.Ancestor(b.Height).Is(b)
}

// canFetchDirectly reports whether the tip is so recent that a new block is
// probably the next one.
func (cs *chainState) canFetchDirectly() bool {
	return cs.age(cs.reader.Active().Tip()) < 20*cs.cfg.Network.Params.TargetTimePerBlock
}

// isSegwit reports whether blocks at a height may have witnesses.
func (cs *chainState) isSegwit(height int32) bool { return cs.cfg.Network.Active("segwit", height) }

// learn notes that a peer has a block.
func (cs *chainState) learn(p *peer, hash chainhash.Hash) {
	cs.relearn(p)
	if b := cs.reader.Lookup(&hash); b == nil {
		p.unknown = &hash
	} else if p.best == nil || b.CompareWork(p.best) >= 0 {
		p.best = b
	}
}

// relearn looks whether the header of a peer's announcement has come.
func (cs *chainState) relearn(p *peer) {
	if p.unknown == nil {
		return
	}
	if b := cs.reader.Lookup(p.unknown); b != nil {
		if p.best == nil || b.CompareWork(p.best) >= 0 {
			p.best = b
		}
		p.unknown = nil
	}
}

// A logger writes lines in Core's form.
type logger struct{ all, net *slog.Logger }

func newLogger(log *slog.Logger) logger {
	return logger{all: log, net: log.With(slog.String(corelog.CategoryKey, "net"))}
}

// debugf writes a line of Core's category net.
func (l logger) debugf(format string, args ...any) {
	corelog.Printf(l.net, slog.LevelDebug, format, args...)
}

// printf writes a line of Core's that everyone sees.
func (l logger) printf(format string, args ...any) {
	corelog.Printf(l.all, slog.LevelInfo, format, args...)
}

// validationf writes a line of Core's category validation.
func (l logger) validationf(format string, args ...any) {
	corelog.Printf(l.all.With(slog.String(corelog.CategoryKey, "validation")), slog.LevelDebug, format, args...)
}

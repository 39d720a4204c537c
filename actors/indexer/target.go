package indexer

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

// target is the index as a follower of the chain sees it: its position is the tip of the
// store's active chain. Filters are kept by their block's hash, and those of blocks that
// leave the chain stay, so a reorganisation only moves the tip.
type target struct{ cfg *Config }

// Position implements follow.Target.
func (t *target) Position() (at messages.Tip, ok bool) {
	at.Height, at.Hash, ok = t.cfg.Store.Tip()
	return at, ok
}

// Advance implements follow.Target.
func (t *target) Advance(ctx context.Context, s follow.Step) (apply func() error, err error) {
	if len(s.Connect) == 0 {
		return nil, t.setTip(s.Disconnect[len(s.Disconnect)-1].Parent)
	}
	stored := lowestMissing(t.cfg, s.Connect)
	if stored < len(s.Connect) {
		b := batch{cfg: t.cfg, reader: s.Reader, blocks: s.Connect[stored:]}
		n, err := b.run(ctx)
		if err != nil {
			return nil, err
		}
		stored += n
	}
	return nil, t.setTip(s.Connect[stored-1])
}

// lowestMissing returns the index of the first of some blocks, each the parent of the
// next, that has no filter. A filter is never stored before that of its parent, so they
// are missing from some block on.
func lowestMissing(cfg *Config, blocks []*chainview.Block) int {
	return sort.Search(len(blocks), func(k int) bool { return !cfg.Store.Has(&blocks[k].Hash) })
}

func (t *target) setTip(b *chainview.Block) error {
	if err := t.cfg.Store.SetTip(&b.Hash); err != nil {
		return fmt.Errorf("follow the chain: %w", err)
	}
	return nil
}

// Recorded implements follow.Recorder.
func (t *target) Recorded(_ chainview.Reader, b *chainview.Block) (bool, error) {
	return t.cfg.Store.Has(&b.Hash), nil
}

// Sync implements follow.Durable.
func (t *target) Sync() error {
	if err := t.cfg.Store.Sync(); err != nil {
		return fmt.Errorf("sync filters: %w", err)
	}
	return nil
}

// Reset implements follow.Target: where the chain has lost more than the index, the index
// goes back to the last block of the chain that has a filter. Damage of the store is none
// of the follower's.
func (t *target) Reset(reader chainview.Reader, why error) (apply func() error, err error) {
	if !errors.Is(why, follow.ErrUnknown) {
		return nil, why
	}
	active := reader.Active()
	missing := active.First(func(b *chainview.Block) bool { return !t.cfg.Store.Has(&b.Hash) })
	if missing > 0 {
		return nil, t.setTip(active.At(missing - 1))
	}
	// The index is of another chain altogether.
	b := batch{cfg: t.cfg, reader: reader, blocks: []*chainview.Block{active.At(0)}}
	if _, err := b.run(context.Background()); err != nil {
		return nil, err
	}
	return nil, t.setTip(active.At(0))
}

package index

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

// stepTime ends a step, so that the actor is notified of its progress.
const stepTime = time.Second

// Blocks is an index that takes in the blocks of a chain, one after the other. One
// goroutine at a time calls its methods. Errors wrap ErrDamaged where the index cannot be
// read as it was written.
type Blocks interface {
	// Best returns the last block in the index; ok is false when it is empty.
	Best() (hash chainhash.Hash, height int32, ok bool)

	// Connect adds the block that follows the best one; the first is the genesis block.
	Connect(reader chainview.Reader, b *chainview.Block) error

	// Disconnect takes the best block back.
	Disconnect(reader chainview.Reader, b *chainview.Block) error

	// Sync makes sure of the index: it survives a loss of power as it is.
	Sync() error

	// Reset goes back to an earlier state, at a block that is known; where there is none
	// it empties the index. A nil function says that the index is damaged: it is emptied.
	Reset(known func(hash *chainhash.Hash) bool) error
}

// A Record knows which blocks of stale branches were connected before. Its method is called as
// those of Blocks are.
type Record interface {
	Has(reader chainview.Reader, b *chainview.Block) (bool, error)
}

// A Recording is an index that has the blocks of stale branches too.
type Recording interface {
	Blocks
	Record
}

// A Parallel index takes in several blocks at a time, on all cores.
type Parallel interface {
	// ConnectSome is Connect for the first of some blocks that follow each other: for one, and for more as long as
	// goesOn reports true. That may be called by several goroutines.
	ConnectSome(reader chainview.Reader, blocks []*chainview.Block, goesOn func() bool) error
}

// A Tidier is an index that is to be tidied up now and then, while it is used.
type Tidier interface {
	// Tidy tidies up if that is due. The goroutine is another than that of the methods of Blocks. Errors are as
	// theirs, and that of ctx.
	Tidy(ctx context.Context) error
}

// NewTarget returns the target of an index, whose lines of the log are of Core's category index.
func NewTarget(name string, blocks Recording, log *slog.Logger) *Target {
	return &Target{Name: name, Blocks: blocks, Log: log.With(slog.String("category", "index"))}
}

// Target is an index as a follower of the chain sees it.
type Target struct {
	Name   string // of the index, in logs
	Blocks Recording
	Log    *slog.Logger
}

// Position implements follow.Target.
func (t *Target) Position() (at messages.Tip, ok bool) {
	at.Hash, at.Height, ok = t.Blocks.Best()
	return at, ok
}

// Advance implements follow.Target.
func (t *Target) Advance(ctx context.Context, s follow.Step) (apply func() error, err error) {
	began := time.Now()
	goesOn := func() bool { return ctx.Err() == nil && time.Since(began) <= stepTime }
	for _, b := range s.Disconnect {
		if !goesOn() {
			return nil, nil
		}
		if err := t.Blocks.Disconnect(s.Reader, b); err != nil {
			return nil, err
		}
	}
	if x, ok := t.Blocks.(Parallel); ok && len(s.Connect) > 1 && goesOn() {
		return nil, x.ConnectSome(s.Reader, s.Connect, goesOn)
	}
	for _, b := range s.Connect {
		if !goesOn() {
			return nil, nil
		}
		if err := t.Blocks.Connect(s.Reader, b); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Recorded implements follow.Recorder.
func (t *Target) Recorded(reader chainview.Reader, b *chainview.Block) (bool, error) {
	return t.Blocks.Has(reader, b)
}

// Sync implements follow.Durable.
func (t *Target) Sync() error { return t.Blocks.Sync() }

// Reset implements follow.Target.
func (t *Target) Reset(reader chainview.Reader, why error) (apply func() error, err error) {
	if !errors.Is(why, follow.ErrUnknown) {
		t.Log.Warn("index is damaged, building it anew from all blocks", "index", t.Name, "err", why)
		return nil, t.Blocks.Reset(nil)
	}
	_, height, _ := t.Blocks.Best()
	t.Log.Warn("index is ahead of the chain, going back", "index", t.Name, "height", height)
	return nil, t.Blocks.Reset(func(hash *chainhash.Hash) bool { return reader.Lookup(hash) != nil })
}

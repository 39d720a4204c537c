package follower

import (
	"context"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// refusing is what only an engine that validates can do.
type refusing struct{}

// Accept implements engine.Validator.
func (refusing) Accept([]byte) error { return messages.ErrFollows }

// Prepare implements engine.Validator.
func (refusing) Prepare([]byte) (accept func() error) {
	return func() error { return messages.ErrFollows }
}

// Late implements engine.Validator.
func (refusing) Late() []nodemsg.LateRefusal { return nil }

// Invalid implements engine.Validator.
func (refusing) Invalid() *chainview.Block { return nil }

// Moves implements engine.Validator: the tip moves as the other node's does, not step by step.
func (refusing) Moves() []engine.Move { return nil }

// Submit implements engine.Validator.
func (refusing) Submit([]byte) error { return messages.ErrFollows }

// Propose implements engine.Validator.
func (refusing) Propose([]byte) error { return messages.ErrFollows }

// AcceptHeaders implements engine.Validator.
func (refusing) AcceptHeaders([][]byte) (last *chainview.Block, added int, err error) {
	return nil, 0, messages.ErrFollows
}

// Mine implements engine.Validator.
func (refusing) Mine(context.Context, []byte, [][]byte, btcutil.Amount, *uint64) ([]byte, error) {
	return nil, messages.ErrFollows
}

// Template implements engine.Validator.
func (refusing) Template([]byte, [][]byte, btcutil.Amount) ([]byte, error) {
	return nil, messages.ErrFollows
}

// Coins implements engine.Validator.
func (refusing) Coins() (messages.CoinSet, error) { return nil, messages.ErrFollows }

// CoinsAt implements engine.Validator.
func (refusing) CoinsAt(*chainhash.Hash) (messages.CoinSet, error) { return nil, messages.ErrFollows }

// Totals implements engine.Validator: nothing is counted.
func (refusing) Totals() engine.Totals { return engine.Totals{} }

// Verify implements engine.Validator.
func (refusing) Verify(context.Context, int, int32) error { return messages.ErrFollows }

// States implements engine.Validator: the unspent outputs are Core's.
func (refusing) States() []messages.ChainState { return nil }

// LoadSnapshot implements engine.Validator.
func (refusing) LoadSnapshot(messages.LoadSnapshot) (engine.Snapshot, error) {
	return nil, messages.ErrFollows
}

// Behind implements engine.Validator.
func (refusing) Behind() bool { return false }

// Background implements engine.Validator.
func (refusing) Background(context.Context, time.Duration) (more bool, err error) { return false, nil }

// Invalidate implements engine.Validator.
func (refusing) Invalidate(*chainhash.Hash) error { return messages.ErrFollows }

// Reconsider implements engine.Validator.
func (refusing) Reconsider(*chainhash.Hash) error { return messages.ErrFollows }

// Precious implements engine.Validator.
func (refusing) Precious(*chainhash.Hash) error { return messages.ErrFollows }

// Prune implements engine.Validator: the files are Core's.
func (refusing) Prune(int32) error { return messages.ErrNotPruning }

// StartPruning implements engine.Validator.
func (refusing) StartPruning() error { return nil }

// SetPruneLock implements engine.Validator.
func (refusing) SetPruneLock(string, int32) {}

// PruneState implements engine.Validator.
func (refusing) PruneState() pruning.State { return pruning.State{} }

// ResumePruning implements engine.Validator.
func (refusing) ResumePruning(pruning.State) error { return nil }

// SetMockTime implements engine.Validator: Core has the clock.
func (refusing) SetMockTime(time.Time) {}

// Stored implements engine.Engine: the files are Core's.
func (refusing) Stored() *engine.Stored { return nil }

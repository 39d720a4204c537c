// Package engine defines the engines that validate chains, as the actor that owns a chain
// needs them. The engines are in packages below; opener opens the engine of a network.
package engine

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

// ErrCacheFull is [messages.ErrPartlyVerified] for want of memory for unspent outputs.
var ErrCacheFull = fmt.Errorf("%w: insufficient database cache size", messages.ErrPartlyVerified)

// An Engine validates one kind of chain, and has files of blocks.
type Engine interface {
	Validator

	// Stored returns the blocks in the engine's own files that it has yet to
	// take, nil when there are none.
	Stored() *Stored
}

// A Validator validates one kind of chain. One worker uses it at a time.
//
// A method's error is a [messages.Refusal] when it is about the request; any other
// means that the engine is broken.
type Validator interface {
	// Reader returns the readers' side, valid until Close.
	Reader() chainview.Reader

	// Accept validates a serialized block and connects it where it ends the
	// chain with the most work.
	Accept(raw []byte) error

	// Prepare does the first part of Accept, which depends on the block alone. The
	// returned function does the rest, and is to be called once. Prepare may be
	// called from anywhere at any time, also while the Validator is in use.
	Prepare(raw []byte) (accept func() error)

	// Late returns the blocks that Accept took and that proved to break a rule
	// since the last call.
	Late() []nodemsg.LateRefusal

	// Invalid returns the block with the most work of those that were found to be invalid, or build
	// on one; nil: none was. Of blocks that a user has invalidated the lowest alone counts.
	Invalid() *chainview.Block

	// Moves returns the steps that the tip took since the last call, in their order; also those
	// that led to a block that proved to break a rule, and back.
	Moves() []Move

	// Submit is Accept for a block that comes from a miner.
	Submit(raw []byte) error

	// Propose checks a block on the tip but for its proof of work, and changes
	// nothing.
	Propose(raw []byte) error

	// AcceptHeaders makes headers part of the tree without their blocks, and
	// keeps them over restarts. They are serialized as the network's peers send
	// them. It returns the last one and how many were new; with an error about a
	// header, what is said of those before it.
	AcceptHeaders(headers [][]byte) (last *chainview.Block, added int, err error)

	// Mine returns a solved block on the active chain, nil when tries are used
	// up or ctx has ended. It pays the subsidy and fees to script.
	Mine(ctx context.Context, script []byte, txs [][]byte, fees btcutil.Amount, tries *uint64) ([]byte, error)

	// Template returns the block that Mine would solve.
	Template(script []byte, txs [][]byte, fees btcutil.Amount) ([]byte, error)

	// Coin returns an output of the active chain that is not spent.
	Coin(out wire.OutPoint) (messages.Coin, error)

	// Coins returns all of them as they are now, to be released.
	Coins() (messages.CoinSet, error)

	// CoinsAt is Coins as of a block of the active chain, whose descendants are taken back
	// in memory. Nothing else sees that.
	CoinsAt(at *chainhash.Hash) (messages.CoinSet, error)

	// Totals sums up the active chain.
	Totals() Totals

	// Verify checks the last blocks of the active chain, 0: all, as
	// [messages.VerifyChain] says, and changes nothing. The error is [ErrCacheFull] where memory
	// did not suffice.
	Verify(ctx context.Context, level int, blocks int32) error

	// LoadSnapshot looks at a file of unspent outputs that the active chain may begin with.
	// With Only it returns none, and nothing is changed.
	LoadSnapshot(q messages.LoadSnapshot) (Snapshot, error)

	// Background validates blocks before the snapshot that the active chain begins with,
	// for about the duration d, or tidies up after the snapshot. It reports whether there
	// is more to do now; new blocks may bring more.
	Background(ctx context.Context, d time.Duration) (more bool, err error)

	// Behind reports whether there may be anything for Background to do.
	Behind() bool

	// States returns the chains whose unspent outputs are kept, the active one last.
	States() []messages.ChainState

	Invalidate(hash *chainhash.Hash) error
	Reconsider(hash *chainhash.Hash) error
	Precious(hash *chainhash.Hash) error
	SetMockTime(t time.Time)

	// Prune deletes old blocks up to a height, included, as far as the engine
	// allows; at 0, as many as its target asks. It deletes none by itself before
	// StartPruning. A lock keeps blocks from about a height on.
	Prune(height int32) error
	StartPruning() error
	SetPruneLock(name string, height int32)

	// PruneState is what StartPruning and SetPruneLock have told it, to be handed to the
	// engine that opens the chain again after this one. ResumePruning takes it over.
	PruneState() pruning.State
	ResumePruning(s pruning.State) error

	// Sync makes what was accepted survive a loss of power.
	Sync() error
	Close() error
}

// A Restorer is a Validator that deletes blocks, or their witnesses, and takes them again. A wrapper of a Validator
// has to be a Restorer if the Validator is a Restorer.
type Restorer interface {
	// Restore is Accept for a block that was pruned; any other is a duplicate.
	Restore(raw []byte) error

	// Recover takes a block again whose witnesses are wanted (chainview.WitnessesOf); any other is a duplicate.
	Recover(raw []byte) error
}

// A Snapshot is a file of unspent outputs that a chain is to begin with. Both methods are called,
// each once.
type Snapshot interface {
	// Read reads the outputs and holds them against the hash that is known. It may be called
	// from anywhere, also while the Validator is in use.
	Read(ctx context.Context) error

	// Use belongs to the methods of the Validator. It is given the error of Read, and has the
	// active chain begin with the outputs, or gives them up.
	Use(read error) (messages.LoadedSnapshot, error)
}

// Totals are numbers of the active chain, and of its outputs in memory. An engine that
// does not count leaves them 0.
type Totals struct {
	Txs         uint64 // transactions up to the tip
	CachedBytes int64  // memory of the unspent outputs that wait to be written or were used lately
	CachedCoins int
}

// A Move took the tip of the active chain to a block, by one block forward or back.
type Move struct {
	Tip    *chainview.Block
	Totals Totals // of the chain up to it

	// Left is the tip of the branch that the chain has left for a better one with this step; nil: with
	// none. A branch that the operator invalidates is not left for a better one.
	Left *chainview.Block
}

// A Stored is what an engine finds in its own block files after its metadata
// was lost, or that another node has left there.
type Stored struct {
	// Blocks yields every block once, in no promised order.
	Blocks iter.Seq2[blockfile.Record, error]

	// Read reads a block again that Blocks has yielded.
	Read func(file int, offset int64, size int) ([]byte, error)

	// Done notes that every block was offered to the engine.
	Done func() error

	Size int64 // in bytes, of all files
}

// A Follower is an Engine that validates nothing itself: its chain is that of another
// node. A request that would change the chain is refused with [messages.ErrFollows].
type Follower interface {
	Engine

	// Follow asks the other node for its tip once, and makes it the tip of the active
	// chain, fetching the headers between. A [messages.Refusal] is about the other
	// node, which is asked again later. Any other error but the error of ctx means that
	// the engine is broken.
	Follow(ctx context.Context) error

	// State may be called by anybody at any time.
	State() messages.AttachState
}

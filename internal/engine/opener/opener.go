// Package opener is the engine factory: it opens the engine of a network on its database. Nobody else asks which
// kind of chain a network has.
package opener

import (
	"context"
	"errors"
	"iter"
	"log/slog"

	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/engine/qbit"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
	"github.com/seed61375155/trawl/store/coinfile"
)

// Config says which chain is opened, where and how.
type Config struct {
	Network *dialect.Network
	Clock   *clock.Clock

	Dir, BlocksDir string
	NoXOR          bool            // do not obfuscate new block files
	SmallFiles     bool            // block files of 64 KiB
	Cache          int64           // bytes for unspent outputs in memory
	Prune          *pruning.Config // nil: all blocks are kept
	Strip          bool            // old blocks lose their witnesses, where the network allows that

	// TxIndex and TxoSpenderIndex say that there is the index, which needs all witnesses.
	TxIndex, TxoSpenderIndex bool

	// At the first opening Reindex rebuilds everything from the block files,
	// ReindexState the chain state.
	Reindex, ReindexState bool

	Verify     *messages.StartChecks // done when it is opened first; nil: none
	WroteCoins func(bytes int)       // as in chaindb.Options

	Log *slog.Logger
}

// A Factory opens the chain for its actor, which may do so more than once, one call
// after the other.
type Factory struct {
	cfg        Config
	opened     bool
	verified   bool
	rebuilding context.Context //nolint:containedctx // of the opening, where the chain state is rebuilt; else nil
}

// New returns a Factory.
func New(cfg Config) *Factory { return &Factory{cfg: cfg} }

// errUnpruned reports that a node which has deleted blocks is to keep all.
const errUnpruned = messages.StartError("You need to rebuild the database using -reindex to go back to unpruned " +
	"mode.  " +
	"This will redownload the entire blockchain.\nPlease restart with -reindex or -reindex-chainstate to recover.")

// Open opens the engine. Data that cannot be trusted is built again from the blocks: a
// node never refuses to start over a damage that it can mend. It does not mend damage
// that verification finds.
//
// Errors: [messages.StartError].
func (o *Factory) Open(ctx context.Context) (engine.Engine, error) {
	if !o.opened && o.keepsIndex() {
		o.rebuilding = ctx
	}
	e, err := o.open()
	o.rebuilding = nil
	if err != nil {
		return nil, err
	}
	if err := o.verify(ctx, e); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// Why a chain is refused that was verified.
const (
	errCorrupted = messages.StartError("Corrupted block database detected.\n" +
		"Please restart with -reindex or -reindex-chainstate to recover.")
	errCacheFull = messages.StartError("Insufficient dbcache for block verification")
)

// verify looks at the last blocks, once.
func (o *Factory) verify(ctx context.Context, e engine.Engine) error {
	v := o.cfg.Verify
	if v == nil || o.verified {
		return nil
	}
	o.verified = true
	if v.Begun != nil {
		v.Begun()
	}
	err := e.Verify(ctx, v.Level, v.Blocks)
	if _, corrupt := errors.AsType[*messages.CorruptError](err); corrupt {
		return errCorrupted
	}
	switch {
	case errors.Is(err, engine.ErrCacheFull):
		if v.Full {
			return errCacheFull
		}
		return nil
	case errors.Is(err, messages.ErrPartlyVerified):
		return nil
	}
	return err
}

func (o *Factory) open() (engine.Engine, error) {
	options := chaindb.Options{
		Dir: o.cfg.Dir, BlocksDir: o.cfg.BlocksDir,
		Magic: o.cfg.Network.Magic, XOR: !o.cfg.NoXOR, FastPrune: o.cfg.SmallFiles,
		HeaderLen: o.cfg.Network.HeaderLen, Prunable: o.cfg.Prune != nil, Strips: o.strips() != nil, Log: o.cfg.Log,
		WroteCoins: o.cfg.WroteCoins,
	}
	var e engine.Engine
	// Reads through btcd's interface panic over damage.
	err := cores.Catch(func() (err error) {
		e, err = o.engine(options)
		return err
	})
	var p *cores.Panic
	if errors.As(err, &p) && !errors.Is(err, chaindb.ErrDamaged) {
		panic(p)
	}
	switch {
	case errors.Is(err, chainstate.ErrSnapshot):
		return o.dropSnapshot(options)
	case !errors.Is(err, chaindb.ErrDamaged):
		return e, err
	}
	o.cfg.Log.Warn("chain state is damaged, building it anew from the block files", "err", err)
	if err := chaindb.Rebuild(options); err != nil {
		return nil, err
	}
	return o.engine(options)
}

func (o *Factory) engine(options chaindb.Options) (engine.Engine, error) {
	db, err := o.database(options)
	if err != nil {
		return nil, err
	}
	if option := o.cfg.needsWitnesses(); option != "" && db.HasStripped() {
		return nil, errors.Join(errStrippedUnder(option), db.Close())
	}
	if o.cfg.Prune == nil && db.HasPruned() {
		return nil, errors.Join(errUnpruned, db.Close())
	}
	e, err := o.validator(db)
	if err != nil {
		return nil, err
	}
	return withFiles{e, db, o.cfg.BlocksDir}, nil
}

// validator opens what validates the chains of the network's kind.
func (o *Factory) validator(db *chaindb.DB) (validator, error) {
	cfg := o.state(db)
	if o.cfg.Network.Engine == dialect.EngineP2MR {
		return qbit.Open(cfg)
	}
	return bitcoin.Open(cfg)
}

func (o *Factory) state(db *chaindb.DB) chainstate.Config {
	return chainstate.Config{
		Network: o.cfg.Network, DB: db, Cache: o.cfg.Cache, Clock: o.cfg.Clock, Log: o.cfg.Log, Prune: o.cfg.Prune,
		Strip: o.strips(), StartOver: o.rebuilding, FS: vfs.OS, Mark: o.mark(),
		NoIdle: o.cfg.WroteCoins != nil, // a node that ends by chance as it writes does so in the calls that expect it
	}
}

// A validator is an engine but for the blocks in its files.
type validator interface {
	engine.Validator

	// Unread returns the blocks that are to be fed to Accept, nil when there are
	// none; done is called when all were.
	Unread() (blocks iter.Seq2[blockfile.Record, error], done func() error)
}

// database opens the chain database. Data that cannot be trusted is built again
// from the blocks: a node never refuses to start over a damage it can mend.
func (o *Factory) database(options chaindb.Options) (*chaindb.DB, error) {
	if o.rebuilds() {
		if err := o.checkStripped(options); err != nil {
			return nil, err
		}
		o.cfg.Log.Info("Reindexing block files")
		if err := o.dropMark(); err != nil {
			return nil, err
		}
		if err := chaindb.Rebuild(options); err != nil {
			return nil, err
		}
	}
	if o.rebuilding != nil {
		if err := o.checkCovered(options); err != nil {
			return nil, err
		}
	}
	o.opened = true
	db, err := chaindb.Open(options)
	if !errors.Is(err, chaindb.ErrDamaged) {
		return db, err
	}
	o.cfg.Log.Warn("chain database is damaged, building it anew from the block files", "err", err)
	if err := chaindb.Rebuild(options); err != nil {
		return nil, err
	}
	return chaindb.Open(options)
}

// mark is that of a snapshot that the chain begins with.
func (o *Factory) mark() coinfile.Mark {
	return coinfile.Mark{FS: vfs.OS, Dir: o.cfg.Dir + "_snapshot"}
}

// dropMark removes it: the chain is rebuilt from the blocks.
func (o *Factory) dropMark() error {
	_, ok, err := o.mark().Read()
	if err != nil || !ok {
		return err
	}
	corelog.Printf(o.cfg.Log, slog.LevelInfo, "[snapshot] deleting snapshot chainstate due to reindexing")
	return o.mark().Remove()
}

// withFiles is the engine as the chain's actor knows it.
type withFiles struct {
	validator
	db        *chaindb.DB
	blocksDir string
}

var _ engine.Restorer = withFiles{}

// errKept refuses a block that is there.
var errKept = &messages.RejectError{Reason: "duplicate"}

// Restore implements engine.Restorer, where the validator does.
func (e withFiles) Restore(raw []byte) error {
	if v, ok := e.validator.(engine.Restorer); ok {
		return v.Restore(raw)
	}
	return errKept
}

// Recover implements engine.Restorer, where the validator does.
func (e withFiles) Recover(raw []byte) error {
	if v, ok := e.validator.(engine.Restorer); ok {
		return v.Recover(raw)
	}
	return errKept
}

// Stored implements engine.Engine.
func (e withFiles) Stored() *engine.Stored {
	blocks, done := e.Unread()
	if blocks == nil {
		return nil
	}
	size, err := blockfile.Blocks.DiskSize(e.blocksDir)
	if err != nil {
		blocks = failing(err)
	}
	return &engine.Stored{Blocks: blocks, Read: e.db.Record, Done: done, Size: size}
}

// failing yields an error and nothing else.
func failing(err error) iter.Seq2[blockfile.Record, error] {
	return func(yield func(blockfile.Record, error) bool) { yield(blockfile.Record{}, err) }
}

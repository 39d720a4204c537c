package trawl

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"time"

	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/p2mr"
	"github.com/seed61375155/trawl/internal/headersync"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// opener opens the chain for its actor, which may do so more than once.
type opener struct {
	cfg    *Config
	net    *dialect.Network
	clock  *clock.Clock
	opened bool
}

func (o *opener) open(context.Context) (chain.Engine, error) {
	options := chaindb.Options{
		Dir:       filepath.Join(o.cfg.Dir, "chainstate"),
		BlocksDir: o.cfg.BlocksDir,
		Magic:     o.net.Magic, XOR: !o.cfg.NoBlocksXOR, FastPrune: o.cfg.SmallFiles,
		HeaderLen: o.net.HeaderLen, Prunable: o.cfg.Prune != nil, Log: o.cfg.Log,
	}
	var e chain.Engine
	// What reads through btcd's interface panics over damage.
	err := cores.Catch(func() (err error) { //nolint:contextcheck // an engine opens as a whole
		e, err = o.engine(options)
		return err
	})
	var p *cores.Panic
	if errors.As(err, &p) && !errors.Is(err, chaindb.ErrDamaged) {
		panic(p)
	}
	if !errors.Is(err, chaindb.ErrDamaged) {
		return e, err
	}
	o.cfg.Log.Warn("chain state is damaged, building it anew from the block files", "err", err)
	if err := chaindb.Rebuild(options); err != nil {
		return nil, err
	}
	return o.engine(options) //nolint:contextcheck // as above
}

func (o *opener) engine(options chaindb.Options) (chain.Engine, error) {
	db, err := o.database(options)
	if err != nil {
		return nil, err
	}
	if err := o.checkPruning(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	e, err := o.validator(db)
	if err != nil {
		return nil, err
	}
	return engine{e, db, o.cfg.BlocksDir}, nil
}

// validator opens what validates the dialect's chains.
func (o *opener) validator(db *chaindb.DB) (validator, error) {
	if o.net.P2MR != nil {
		return p2mr.Open(p2mr.Config{Network: o.net, DB: db, Clock: o.clock, Prune: o.enginePrune(), Log: o.cfg.Log})
	}
	return bitcoin.Open(bitcoin.Config{
		Network: o.net, DB: db, Cache: o.cfg.Cache, Clock: o.clock, Log: o.cfg.Log,
		Prune: o.enginePrune(),
	})
}

// proofOf returns how a header proves its work on chains that can be merge-mined;
// nil: by its hash.
func proofOf(net *dialect.Network) func(h *headersync.Header) bool {
	if net.P2MR == nil {
		return nil
	}
	return func(h *headersync.Header) bool { return p2mr.Proves(net, h.Raw) }
}

// nextBitsOf returns how readers find the target of the next block on chains of two
// lanes; nil: by Bitcoin's rules.
func nextBitsOf(net *dialect.Network) func(tip *chainview.Block, now time.Time) uint32 {
	if net.P2MR == nil {
		return nil
	}
	return p2mr.NextBits(net)
}

// A validator is an engine but for the blocks in its files.
type validator interface {
	chain.Validator

	// Unread returns the blocks that are to be fed to Accept, nil when there are
	// none; done is called when all were.
	Unread() (blocks iter.Seq2[blockfile.Record, error], done func() error)
}

// database opens the chain database. What cannot be trusted is built again from
// the blocks: a node never refuses to start over a damage it can mend.
func (o *opener) database(options chaindb.Options) (*chaindb.DB, error) {
	if o.cfg.Reindex && !o.opened {
		o.cfg.Log.Info("Reindexing block files")
		if err := chaindb.Rebuild(options); err != nil {
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

// engine is the engine as the chain's actor knows it.
type engine struct {
	validator
	db        *chaindb.DB
	blocksDir string
}

// Restore stores a block again that was pruned, where the validator can.
func (e engine) Restore(raw []byte) error {
	if v, ok := e.validator.(interface{ Restore(raw []byte) error }); ok {
		return v.Restore(raw)
	}
	return &messages.RejectError{Reason: "duplicate"}
}

// Stored implements chain.Engine.
func (e engine) Stored() *chain.Stored {
	blocks, done := e.Unread()
	if blocks == nil {
		return nil
	}
	size, err := blockfile.Blocks.DiskSize(e.blocksDir)
	if err != nil {
		blocks = failing(err)
	}
	return &chain.Stored{Blocks: blocks, Read: e.db.Record, Done: done, Size: size}
}

// failing yields an error and nothing else.
func failing(err error) iter.Seq2[blockfile.Record, error] {
	return func(yield func(blockfile.Record, error) bool) { yield(blockfile.Record{}, err) }
}

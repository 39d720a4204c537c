// Package follower is the engine of a node whose chain another node validates: a running
// Bitcoin Core.
//
// Core says which chain is the active one, and when it changes. The engine checks
// Core's answers as far as possible without validating. Headers link, have the work
// that the rules of the network ask for, and are the requested headers. The bytes of a
// block give its hash and its merkle root, and its spent outputs fit its inputs.
//
// The known chain is kept in a directory of the node's own (store/attachdb), so that
// the node starts and answers without Core. No state of Core's is an error of the
// engine: [Engine.State] tells it, and what Core cannot give now is
// [chainview.ErrNotYet].
package follower

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/attachdb"
)

// Config is what an Engine is made of.
type Config struct {
	Network *dialect.Network
	Core    *corenode.Client // stays the caller's
	FS      vfs.FS           // of Dir; nil: the operating system's
	Dir     string           // of the node's own directory of the chain; made when missing
	Blocks  string           // Core's directory of block files; empty: they are not read
	Filters string           // Core's directory of the network, for its filter files; empty: they are not read
	Log     *slog.Logger

	// From is the height from which on filters are wanted, for a Core that has pruned the
	// blocks below and keeps no filters. 0: of all blocks.
	From int32
}

// An Engine follows the chain of another node. Its readers' side is safe for concurrent
// use; one goroutine at a time calls the rest, but for State.
type Engine struct {
	refusing

	net    *dialect.Network
	core   *corenode.Client
	log    *slog.Logger
	close  context.CancelCauseFunc
	store  *attachdb.Store
	tree   *chainview.Tree
	source *source

	numbers sync.RWMutex     // guards Block.Order, which is the number in the store
	head    *chainview.Block // the last header that came from Core's active chain
	adding  []attachdb.Block // headers of the tree that are not stored yet
	pruned  int32            // blocks below this height are marked as pruned
	greeted bool             // Core was asked what it is since it was away last
	files   fileSource
	filters filterFiles

	audit    audit
	verified atomic.Int32 // height up to which all filters were built here
	refused  atomic.Bool  // one was wrong
	from     int32        // height from which on filters are wanted
	first    atomic.Int32 // the same, once it is noted

	state state
}

var _ engine.Follower = (*Engine)(nil)

// Open opens the directory. It asks Core nothing: [Engine.Follow] does.
//
// Errors: [messages.StartError], those of attachdb.Open.
func Open(_ context.Context, cfg Config) (*Engine, error) {
	if cfg.Network.Engine != dialect.EngineBitcoin {
		return nil, messages.StartError("-attach: blocks of " + cfg.Network.Name + " cannot be read from another node.")
	}
	store, err := attachdb.Open(attachdb.Options{FS: cfg.FS, Dir: cfg.Dir, Network: cfg.Network.Magic, Log: cfg.Log})
	if err != nil {
		return nil, err
	}
	e := &Engine{net: cfg.Network, core: cfg.Core, log: cfg.Log, store: store}
	e.files.dir = cfg.Blocks
	if err := e.loadFirst(cfg.From); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	err = errors.Join(e.loadRefused(), e.load())
	if errors.Is(err, attachdb.ErrDamaged) {
		e.log.Warn("the directory of the followed chain is damaged, its headers are asked for again", "err", err)
		if err = store.Wipe(); err == nil {
			err = e.load()
		}
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	e.source = &source{net: cfg.Network, core: cfg.Core, tree: e.tree}
	e.source.rest.Store(true) // until Core has told: it is tried, and costs a hundredth of RPC
	e.source.spentREST.Store(true)
	e.source.ctx, e.close = context.WithCancelCause(context.Background())
	e.filters.dir, e.filters.room = cfg.Filters, windowBytes
	e.filters.source, e.filters.log = e.source, cfg.Log
	e.filters.note = func(blocks []*chainview.Block) error { return e.noteFilters(attachdb.CoreFiles, blocks...) }
	e.state.begin(e)
	return e, nil
}

// load makes the tree of the stored headers. A header that is not as it should be, and
// all after it, are dropped.
func (e *Engine) load() error {
	genesis := &e.net.Params.GenesisBlock.Header
	e.tree = chainview.NewTree(genesis, consensus.TargetWork(genesis.Bits))
	e.head = e.tree.Active().Tip()
	tip, best := e.store.Tip(), e.head
	var at *chainview.Block
	before := e.store.Count()
	err := e.store.Load(func(number uint32, stored *attachdb.Block) bool {
		h := readHeader(stored.Header[:])
		b, err := e.add(&h)
		if err != nil || b.Order != 0 || b.Parent == nil {
			return false
		}
		e.tree.SetStatus(b, b.Status()|chainview.Valid)
		b.Order = int64(number)
		if number == tip.Number && b.Hash == tip.Hash {
			at = b
		}
		if b.CompareWork(best) > 0 {
			best = b
		}
		return true
	})
	if err != nil {
		return err
	}
	if n := e.store.Count(); n != before {
		e.log.Warn("headers of the followed chain were damaged and are asked for again", "blocks", before-n)
	}
	if at == nil && tip.Number != 0 {
		at = best
	}
	if at != nil {
		e.tree.SetActive(at)
		e.head = at
	}
	return nil
}

// Reader implements engine.Validator.
func (e *Engine) Reader() chainview.Reader { return reader{e.tree, e} }

// Sync implements engine.Validator.
func (e *Engine) Sync() error {
	if err := e.flush(nil); err != nil {
		return err
	}
	return e.store.Sync()
}

// Close implements engine.Validator.
func (e *Engine) Close() error {
	err := e.flush(nil)
	e.close(chainview.ErrClosed)
	return errors.Join(err, e.closeFiles(), e.filters.close(), e.store.Close())
}

// add puts a header into the tree, or returns the block that is there.
//
// Errors: [errUnlinked], [errHeader].
func (e *Engine) add(h *wire.BlockHeader) (*chainview.Block, error) {
	hash := h.BlockHash()
	if b := e.tree.Lookup(&hash); b != nil {
		return b, nil
	}
	parent := e.tree.Lookup(&h.PrevBlock)
	if parent == nil {
		return nil, fmt.Errorf("header %v: %w", hash, errUnlinked)
	}
	if err := e.check(h, &hash, parent); err != nil {
		return nil, fmt.Errorf("header %v at height %d: %w", hash, parent.Height+1, err)
	}
	return e.tree.Add(h, consensus.TargetWork(h.Bits), chainview.HasData)
}

// number returns the number of a block in the store, 0 while it has none.
func (e *Engine) number(b *chainview.Block) uint32 {
	e.numbers.RLock()
	defer e.numbers.RUnlock()
	return uint32(b.Order)
}

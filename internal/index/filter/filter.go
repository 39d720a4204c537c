// Package filter is the index of the BIP158 basic filters of all blocks, as those see it
// who only read: scans by [NewSource], single filters by a [Reader]. The actor
// actors/indexer alone writes its store.
package filter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// Folder is where the index is, below the data directory.
const Folder = "indexes/blockfilter/basic"

// Config says where the index is and what it holds beside the filters.
type Config struct {
	Dir          string
	Anew         bool // forget all filters: they are built again from the blocks
	Lines        bool // keep probe lines, the index of a filter's elements
	RangeFilters bool // keep a filter of all scripts of every 2,048 blocks
	Log          *slog.Logger
}

// Open opens the store of the index.
func Open(cfg Config) (*segment.Store, error) {
	keys := filepath.Join(cfg.Dir, "db")
	if cfg.Anew {
		corelog.Printf(cfg.Log, slog.LevelInfo, "Wiping LevelDB in %s", keys)
		if err := os.RemoveAll(cfg.Dir); err != nil {
			return nil, fmt.Errorf("remove block filter index: %w", err)
		}
	}
	corelog.Printf(cfg.Log, slog.LevelInfo, "Opening LevelDB in %s", keys)
	options := segment.Options{
		Dir: cfg.Dir, RangeFilters: cfg.RangeFilters, Log: cfg.Log.With(slog.String("category", "index")),
	}
	if cfg.Lines {
		options.MakeLines = filters.AppendLines
	}
	store, err := segment.Open(options)
	if err != nil {
		return nil, fmt.Errorf("open block filter index: %w", err)
	}
	corelog.Printf(cfg.Log, slog.LevelInfo, "Opened LevelDB successfully")
	return store, nil
}

// LockName is the name of the index among the prune locks, and in texts.
const LockName = "basic block filter index"

// Hold is [index.Hold] for the blocks of the active chain whose filters the store lacks.
func Hold(
	ctx context.Context, locks *ask.Ref, reader chainview.Reader, store *segment.Store, more string,
) error {
	missing := reader.Active().First(func(b *chainview.Block) bool { return !store.Has(&b.Hash) })
	return index.Hold(ctx, locks, reader, LockName, missing, more)
}

// A Lookup looks single filters up, and changes nothing. A [segment.Store] is one.
type Lookup interface {
	ByHash(block *chainhash.Hash) (segment.Entry, error) // whole
	Header(block *chainhash.Hash) (segment.Entry, error) // all but the filter
	Headers(blocks []chainhash.Hash) ([]chainhash.Hash, error)
}

// A Reader reads single filters, and has damaged ones made again. It implements
// chain.Filters.
type Reader struct {
	Store   Lookup
	Indexer *ask.Ref // the actor that keeps the index
}

// Filter returns the filter of a block of any branch, and its filter header (BIP157).
// The error is [index.ErrNoFilter] where there is none; any other error says that the
// filter cannot be read.
func (r *Reader) Filter(ctx context.Context, hash *chainhash.Hash) ([]byte, chainhash.Hash, error) {
	e, err := r.Store.ByHash(hash)
	if _, damaged := errors.AsType[*segment.DamagedError](err); damaged {
		if _, err := ask.Ask(ctx, r.Indexer, messages.RepairFilter{Block: *hash}); err != nil {
			return nil, chainhash.Hash{}, err
		}
		e, err = r.Store.ByHash(hash)
	}
	if errors.Is(err, segment.ErrNotFound) {
		return nil, chainhash.Hash{}, index.ErrNoFilter
	}
	return e.Filter, e.Header, err
}

// Headers returns the filter headers of blocks of any branch, in their order. Errors are as of Filter.
func (r *Reader) Headers(blocks []chainhash.Hash) ([]chainhash.Hash, error) {
	headers, err := r.Store.Headers(blocks)
	if errors.Is(err, segment.ErrNotFound) {
		err = index.ErrNoFilter
	}
	return headers, err
}

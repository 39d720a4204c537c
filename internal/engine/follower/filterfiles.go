package follower

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/store/attachdb"
	"github.com/seed61375155/trawl/store/corefiles"
)

const (
	// window is how many filters of Core's files are proven at a time: by the filter header
	// of the last one, which Core tells and which commits to all before it.
	window = 1000

	// windowBytes bounds the filters of a window: a thousand filters of the main chain
	// have a tenth of this size.
	windowBytes = 128 << 20

	// minDepth is how far below the tip a block is whose filter is looked for in the files.
	// Filters of newer blocks, which may yet leave the chain, cost little to build.
	minDepth = 10

	// filesRetry is after how long files are looked at again in which filters were missing
	// or did not fit.
	filesRetry = time.Minute
)

// filterFiles are the filters that Core keeps in files of its own. It is safe for
// concurrent use.
type filterFiles struct {
	dir    string // of Core's network; empty: they are not read
	room   int    // how large a window may be in bytes
	source *source
	log    *slog.Logger
	note   func(blocks []*chainview.Block) error // before their filters are handed out

	mu      sync.Mutex // held while a window is read: other callers want filters of the same window
	open    *corefiles.FilterDir
	proven  [2]*proven // the last ones
	refused time.Time
	why     string // the last reason not to take filters
}

// proven are the filters of the blocks of the active chain from a height on.
type proven struct {
	blocks  []*chainview.Block
	filters [][]byte
	header  chainhash.Hash // of the last filter
}

func (p *proven) filter(b *chainview.Block) ([]byte, bool) {
	if p == nil {
		return nil, false
	}
	i := int(b.Height - p.blocks[0].Height)
	if i < 0 || i >= len(p.blocks) || p.blocks[i] != b {
		return nil, false
	}
	return p.filters[i], true
}

// filter returns the filter of a block of the active chain, if the files have a filter
// that fits Core's filter headers. Else there is no error: the filter can be built.
func (f *filterFiles) filter(b *chainview.Block) (filter []byte, ok bool) {
	active := f.source.tree.Active()
	if f.dir == "" || active.Height()-b.Height < minDepth || !active.Contains(b) {
		return nil, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.proven {
		if filter, ok := p.filter(b); ok {
			return filter, true
		}
	}
	if time.Since(f.refused) < filesRetry || f.source.ctx.Err() != nil {
		return nil, false
	}
	p, err := f.prove(b, active)
	if err != nil {
		f.refused = time.Now()
		f.logChange(err)
		return nil, false
	}
	f.logChange(nil)
	f.proven[0], f.proven[1] = f.proven[1], p
	return p.filter(b)
}

// logChange logs an error, unless it is the last one, and that there is none any more.
func (f *filterFiles) logChange(err error) {
	why := "none"
	if err != nil {
		why = err.Error()
	}
	if why == f.why {
		return
	}
	f.why = why
	switch {
	case err == nil:
		f.log.Info("taking block filters from Bitcoin Core's files", "dir", f.dir)
	case errors.Is(err, fs.ErrNotExist):
		f.log.Info("Bitcoin Core has no files of block filters")
	case f.source.ctx.Err() == nil:
		f.log.Warn("block filters are not taken from Bitcoin Core's files", "err", err)
	}
}

var (
	errOtherFilters = errors.New("they are not those that Bitcoin Core's filter headers tell of")
	errLargeFilters = errors.New("they are too large")
)

// prove reads the filters of the window that a block is in.
func (f *filterFiles) prove(b *chainview.Block, active *chainview.Chain) (*proven, error) {
	if err := f.look(); err != nil {
		return nil, err
	}
	first := b.Height / window * window
	last := min(first+window-1, active.Height()-minDepth)
	header, err := f.headerBefore(active.At(first))
	if err != nil {
		return nil, err
	}
	p := &proven{}
	room := f.room
	for height := first; height <= last; height++ {
		at := active.At(height)
		filter, err := f.open.Filter(&at.Hash)
		if err != nil {
			return nil, err
		}
		if room -= len(filter); room < 0 {
			return nil, fmt.Errorf("filters of blocks %d to %d: %w", first, height, errLargeFilters)
		}
		if _, err := filters.Decode(filter); err != nil {
			return nil, fmt.Errorf("filter of block %v: %w", at.Hash, errOtherFilters)
		}
		hash := filters.Hash(filter)
		header = filters.Header(&hash, &header)
		p.blocks, p.filters = append(p.blocks, at), append(p.filters, filter)
	}
	want, err := f.source.filterHeader(&active.At(last).Hash)
	if err != nil {
		return nil, err
	}
	if want != header {
		return nil, fmt.Errorf("filters of blocks %d to %d: %w", first, last, errOtherFilters)
	}
	if err := f.note(p.blocks); err != nil {
		return nil, err
	}
	p.header = header
	f.source.counts.filters.files.Add(int64(len(p.blocks)))
	return p, nil
}

// look opens the files, if they are not open, and finds what is new in them.
func (f *filterFiles) look() error {
	if f.open == nil {
		open, err := corefiles.OpenFilters(f.dir)
		if err != nil {
			return err
		}
		f.open = open
	}
	_, err := f.open.Refresh(f.source.ctx)
	return err
}

// headerBefore returns the filter header that comes before a block's.
func (f *filterFiles) headerBefore(b *chainview.Block) (chainhash.Hash, error) {
	if b.Parent == nil {
		return chainhash.Hash{}, nil
	}
	for _, p := range f.proven {
		if p != nil && p.blocks[len(p.blocks)-1] == b.Parent {
			return p.header, nil
		}
	}
	return f.source.filterHeader(&b.Parent.Hash)
}

// filterHeader asks Core for a filter header.
func (s *source) filterHeader(hash *chainhash.Hash) (header chainhash.Hash, err error) {
	var answer struct {
		Header string `json:"header"`
	}
	if err = s.core.Call(s.ctx, &answer, "getblockfilter", hash.String()); err != nil {
		return header, err
	}
	if err = chainhash.Decode(&header, answer.Header); err != nil {
		err = fmt.Errorf("%w: filter header", corenode.ErrReply)
	}
	return header, err
}

func (f *filterFiles) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		return nil
	}
	return f.open.Close()
}

// noteFilters stores that the filters of blocks are Core's, before they are handed out.
func (e *Engine) noteFilters(source attachdb.Source, blocks ...*chainview.Block) error {
	noted := &attachdb.Change{Filters: map[uint32]attachdb.Filter{}}
	for _, b := range blocks {
		n := e.number(b)
		if n == 0 && b.Parent == nil {
			continue // every node knows the first one's
		}
		if n == 0 || n > e.store.Count() {
			return errNotStored
		}
		noted.Filters[n] = attachdb.Filter{Source: source}
	}
	return e.store.Commit(noted)
}

var errNotStored = errors.New("the header is not stored yet")

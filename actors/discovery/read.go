package discovery

import (
	"context"
	"errors"
	"sync"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/discover"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
)

const (
	// batchBlocks is how many blocks are read, on all cores, from one report to the next.
	batchBlocks = 256

	// shareBlocks is how many of them a core takes at a time.
	shareBlocks = 8
)

// read sums what the scripts received and spent in the blocks found.
func (w *job) read(j *ask.Job) (*discover.Book, error) {
	if err := w.enter(j, messages.ScanReading); err != nil {
		return nil, err
	}
	blocks := w.blocks()
	book := w.search.Book()
	for at := 0; at < len(blocks); at += batchBlocks {
		err := w.addAll(j.Context(), book, blocks[at:min(at+batchBlocks, len(blocks))])
		if errors.Is(err, chainview.ErrPruned) {
			return w.readFetched(j, blocks)
		}
		if err == nil {
			err = w.report(j, at, len(blocks))
		}
		if err != nil {
			return nil, err
		}
	}
	return book, nil
}

// addAll adds blocks to a book.
func (w *job) addAll(ctx context.Context, book *discover.Book, blocks []*chainview.Block) error {
	var mu sync.Mutex
	return cores.DoIn(ctx, nil, len(blocks), shareBlocks, func(from, to int) error {
		var buf []byte
		for _, b := range blocks[from:to] {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			raw, err := chainview.RawInto(w.reader, &buf, &b.Hash)
			if err != nil {
				return err
			}
			spent, err := w.reader.Spent(&b.Hash)
			if err != nil {
				return err
			}
			entries, err := search.InRaw(raw, w.Network.HeaderLen(raw), spent, book)
			if err != nil {
				return err
			}
			mu.Lock()
			book.Add(b, entries)
			mu.Unlock()
		}
		return nil
	})
}

// readFetched is read where blocks were pruned: these are fetched. The blocks before tell the outputs that a block
// spends, since all scripts were looked for from the first block on.
func (w *job) readFetched(j *ask.Job, blocks []*chainview.Block) (*discover.Book, error) {
	book := w.search.Book()
	for i, b := range blocks {
		raw, err := w.Fetch.Block(j.Context(), w.reader, &b.Hash)
		if err != nil {
			return nil, err
		}
		book.AddBlock(b, raw)
		if err := w.report(j, i, len(blocks)); err != nil {
			return nil, err
		}
		if err := j.Context().Err(); err != nil {
			return nil, err
		}
	}
	return book, nil
}

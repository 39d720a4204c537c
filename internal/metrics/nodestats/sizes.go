package nodestats

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

const (
	// sizeAge is how old the reported sizes of stores may be: to read them means to go
	// through folders of thousands of files.
	sizeAge = time.Minute

	// maxEntries bounds what is gone through of one folder.
	maxEntries = 200_000
)

// A store is a folder whose size is reported.
type store struct{ name, dir string }

// stores returns the folders of a node: that of the block files, and those below dir.
func stores(blocks, dir string) []store {
	list := []store{{"blocks", blocks}, {"filters", filepath.Join(dir, "indexes", "blockfilter")}}
	for _, name := range []string{"chainstate", "follow", "searches", "wallets"} {
		list = append(list, store{name, filepath.Join(dir, name)})
	}
	for _, name := range []string{"txindex", "coinstatsindex", "txospenderindex", "scriptindex"} {
		list = append(list, store{name, filepath.Join(dir, "indexes", name)})
	}
	return list
}

// sizes keeps the sizes of the stores.
type sizes struct {
	stores []store
	poll   ask.Poll[[]messages.StoreStats]

	mu   sync.Mutex
	last []messages.StoreStats
	read time.Time // zero: never
}

// begin begins to read the sizes where those that are known are old. The function that it
// returns waits for them, and returns the old ones where they are not known when ctx ends.
func (z *sizes) begin() func(ctx context.Context) []messages.StoreStats {
	z.mu.Lock()
	defer z.mu.Unlock()
	if !z.read.IsZero() && time.Since(z.read) < sizeAge {
		last := z.last
		return func(context.Context) []messages.StoreStats { return last }
	}
	wait := z.poll.Begin(z.readAll)
	return func(ctx context.Context) []messages.StoreStats {
		if list, err := wait(ctx); err == nil {
			return list
		}
		z.mu.Lock()
		defer z.mu.Unlock()
		return z.last
	}
}

func (z *sizes) readAll() ([]messages.StoreStats, error) {
	var list []messages.StoreStats
	for _, s := range z.stores {
		if n, ok := size(s.dir); ok {
			list = append(list, messages.StoreStats{Name: s.name, Bytes: n})
		}
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.last, z.read = list, time.Now()
	return list, nil
}

var errMany = errors.New("too many files")

// size returns how many bytes the files of a folder have. It is not ok where the folder is
// not there, or has too many files.
func size(dir string) (total int64, ok bool) {
	n := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if n++; n > maxEntries {
			return errMany
		}
		if err != nil {
			if path == dir {
				return err
			}
			return nil // it is gone by now
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err == nil
}

package blocks

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/messages"
)

// Config says where the indexes are, and of which network.
type Config struct {
	Dir     string // each index has a folder there
	Network *dialect.Network
	Prunes  bool // old blocks are deleted
	Anew    bool // the index is emptied

	Importing func() bool // reports whether files of blocks are being read; nil: they are not

	Log *slog.Logger
}

func (c *Config) dir(name string) string { return filepath.Join(c.Dir, name) }

// needsAll refuses an index that reads old blocks where these are deleted.
func (c *Config) needsAll(name string) error {
	if c.Prunes {
		return messages.StartError("Prune mode is incompatible with -" + name + ".")
	}
	return nil
}

// An Index has a store, which Close closes.
type Index interface {
	index.Recording
	Close() error
}

var _, _, _, _ Index = (*TxIndex)(nil), (*CoinStats)(nil), (*Spenders)(nil), (*Scripts)(nil)

// failed is the error of an index that cannot be opened.
func failed(err error) error { return fmt.Errorf("trawl: %w", err) }

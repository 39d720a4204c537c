package nodefiles

import (
	"errors"
	"io/fs"
	"log/slog"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/vfs"
)

const anchorsName = "anchors.dat"

// TakeAnchors reads the nodes to connect to first, at most limit, for the network with the
// given magic. It removes the file, so that the next start does not begin with the same
// nodes if this start goes wrong. Without a readable file there are none.
func (f Files) TakeAnchors(magic [4]byte, limit int, log *slog.Logger) []codec.Address {
	if f.Dir == "" {
		return nil
	}
	path := f.path(anchorsName)
	content, err := vfs.ReadFile(f.disk(), path, addrman.MaxAnchorsFile)
	var anchors []codec.Address
	if err == nil {
		if anchors, err = addrman.ParseAnchors(content, magic); err == nil {
			corelog.Printf(log, slog.LevelInfo, "Loaded %d addresses from \"%s\"", len(anchors), anchorsName)
		} else {
			anchors = nil
		}
	}
	if err := f.disk().Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Error("anchors of the last start not removed", "err", err)
	}
	return anchors[:min(len(anchors), limit)]
}

// SaveAnchors writes what [addrman.MarshalAnchors] has made. After nil it is on the disk.
func (f Files) SaveAnchors(content []byte) error { return f.write(anchorsName, content) }

// Package nodefiles has the small files that a node keeps between two runs under
// Bitcoin Core's names. They are banlist.json, peers.dat, anchors.dat, keys of Tor
// and I2P, fee_estimates.dat, mempool.dat and settings.json. Each is replaced as a
// whole, in one step.
//
// Package addrman defines the bytes of peers.dat, package feeestimate the bytes of
// fee_estimates.dat.
package nodefiles

import (
	"path/filepath"

	"github.com/seed61375155/trawl/internal/p2p/asmap"
	"github.com/seed61375155/trawl/internal/vfs"
)

// mode is that of the files: they say whom a node knows.
const mode = 0o600

// Files are the files of one node. Its methods may be called by several
// goroutines, but each file has one writer at a time.
type Files struct {
	FS  vfs.FS // nil: the operating system's
	Dir string // empty: there are no files, nothing is kept

	FixedKey bool       // new tables of addresses have the key of tests
	ASMap    *asmap.Map // by which addresses are spread over the tables; may be nil
}

func (f Files) disk() vfs.FS {
	if f.FS == nil {
		return vfs.OS
	}
	return f.FS
}

// path returns where a file lies.
func (f Files) path(name string) string { return filepath.Join(f.Dir, name) }

// write replaces a file. After nil it is on the disk.
func (f Files) write(name string, content []byte) error {
	if f.Dir == "" {
		return nil
	}
	return vfs.ReplaceFile(f.disk(), f.path(name), content, mode)
}

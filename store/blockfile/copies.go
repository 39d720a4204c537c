package blockfile

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
)

// CopiesFolder is the folder of [Copies] beside the block files, as qbit names it.
const CopiesFolder = "recovered-witness"

// ErrCopySize reports a copy that is longer than a block may be.
var ErrCopySize = errors.New("longer than a block may be")

// Copies are blocks that each have a file of their own for a while: those that came again with their witnesses,
// which the block files have lost. The files are obfuscated as block files are. Copies have one user at a time.
type Copies struct {
	fs   vfs.FS
	dir  string
	key  Key
	kept map[chainhash.Hash]struct{}
}

// OpenCopies begins without any copy: those of a program before this one are removed.
func OpenCopies(fs vfs.FS, blocksDir string, key Key) (*Copies, error) {
	c := &Copies{
		fs: fs, dir: filepath.Join(blocksDir, CopiesFolder), key: key, kept: make(map[chainhash.Hash]struct{}),
	}
	if err := vfs.RemoveAll(fs, c.dir); err != nil {
		return nil, fmt.Errorf("remove copies of blocks: %w", err)
	}
	return c, nil
}

// Put keeps a copy of a block. After an error there is none. The folder is there while it has copies.
func (c *Copies) Put(hash *chainhash.Hash, raw []byte) error {
	if err := vfs.MakeDir(c.fs, c.dir, 0o700); err != nil {
		return fmt.Errorf("copy of block %v: %w", hash, err)
	}
	hidden := append([]byte(nil), raw...)
	c.key.XOR(hidden, 0)
	if err := vfs.ReplaceFile(c.fs, c.path(hash), hidden, 0o600); err != nil {
		return fmt.Errorf("copy of block %v: %w", hash, errors.Join(err, c.Drop(hash)))
	}
	c.kept[*hash] = struct{}{}
	return nil
}

// Has reports whether there is a copy of a block.
func (c *Copies) Has(hash *chainhash.Hash) bool {
	_, ok := c.kept[*hash]
	return ok
}

// Get returns the copy of a block as the file has it, of at most so many bytes. Errors: [ErrCopySize], those of
// the file system.
func (c *Copies) Get(hash *chainhash.Hash, limit int) ([]byte, error) {
	file, err := c.fs.OpenFile(c.path(hash), 0, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > limit:
		return nil, ErrCopySize
	}
	c.key.XOR(raw, 0)
	return raw, nil
}

// Drop removes the copy of a block, if there is one. After an error nothing counts as kept: the file is in the way
// of nobody, and goes when the copies are opened next.
func (c *Copies) Drop(hash *chainhash.Hash) error {
	delete(c.kept, *hash)
	err := vfs.RemoveAll(c.fs, c.path(hash))
	if len(c.kept) == 0 {
		err = errors.Join(err, vfs.RemoveAll(c.fs, c.dir))
	}
	return err
}

func (c *Copies) path(hash *chainhash.Hash) string { return filepath.Join(c.dir, hash.String()+".dat") }

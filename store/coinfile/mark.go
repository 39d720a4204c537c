package coinfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
)

// markFile is the name of the file in the folder of a [Mark].
const markFile = "base_blockhash"

// A Mark says that a chain begins with the outputs of a file. As in Bitcoin Core it is a folder
// beside the chain's database: chainstate_snapshot, with the hash of the block (32 bytes) in a file.
// The chain's database decides; the mark informs other programs and people.
type Mark struct {
	FS  vfs.FS
	Dir string // the folder; empty: no marks are kept
}

// Read returns the block that is marked; ok is false where there is none.
func (m Mark) Read() (block chainhash.Hash, ok bool, err error) {
	if m.Dir == "" {
		return block, false, nil
	}
	content, err := vfs.ReadFile(m.FS, m.path(), chainhash.HashSize)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, vfs.ErrTooLarge):
		return block, false, nil
	case err != nil:
		return block, false, fmt.Errorf("mark of a snapshot: %w", err)
	case len(content) != chainhash.HashSize:
		return block, false, nil
	}
	return chainhash.Hash(content), true, nil
}

// Write marks a block. The mark survives a loss of power when it returns.
func (m Mark) Write(block *chainhash.Hash) error {
	if m.Dir == "" {
		return nil
	}
	err := vfs.MakeDir(m.FS, m.Dir, 0o700)
	if err == nil {
		err = vfs.ReplaceFile(m.FS, m.path(), block[:], 0o600)
	}
	if err != nil {
		return fmt.Errorf("mark of a snapshot: %w", err)
	}
	return nil
}

// Remove removes the mark, and its folder where nothing else is in it.
func (m Mark) Remove() error {
	if m.Dir == "" {
		return nil
	}
	for _, path := range []string{m.path() + vfs.ReplacementSuffix, m.path()} {
		if err := m.FS.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("mark of a snapshot: %w", err)
		}
	}
	if entries, err := m.FS.ReadDir(m.Dir); err != nil || len(entries) > 0 {
		return nil //nolint:nilerr // there is no folder, or it is not ours alone
	}
	if err := m.FS.Remove(m.Dir); err != nil {
		return fmt.Errorf("mark of a snapshot: %w", err)
	}
	return nil
}

func (m Mark) path() string { return filepath.Join(m.Dir, markFile) }

package chaindb

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// A Finding is what the files of a database say of it, without opening it.
type Finding struct {
	Whose dbfiles.Verdict
	Magic [4]byte // of its network, if HasMagic
	// HasMagic is false where the record of the format was not found.
	HasMagic bool

	blocks map[chainhash.Hash]*location // some of those that it knows
}

// Of a look into a database: how many blocks are then looked for in block files,
// and after how many other pairs in a row a file is left.
const (
	someBlocks = 256
	manyOthers = 1024
)

// Look reads whose database lies in a folder, and with details what it is of.
// Nothing is changed, nor opened as a database.
func Look(dir string, details bool) (Finding, error) {
	f := Finding{blocks: map[chainhash.Hash]*location{}}
	var err error
	if f.Whose, err = dbfiles.Judge(dir, owns); err != nil || f.Whose != dbfiles.Own || !details {
		return f, err
	}
	others := 0
	_, _, err = dbfiles.Walk(dir, func(key, value []byte) bool {
		if others++; f.note(key, value) {
			others = 0
		}
		if others == manyOthers {
			others = 0
			return false
		}
		return len(f.blocks) < someBlocks || !f.HasMagic
	})
	return f, err
}

// refuseForeign is [ErrForeign] where the folder holds a database of another
// program.
func refuseForeign(dir string) error {
	f, err := Look(dir, false)
	if err == nil && f.Whose == dbfiles.Foreign {
		err = fmt.Errorf("%w: %s", ErrForeign, dir)
	}
	return err
}

// note keeps what one pair says. It returns false for one of the unspent outputs
// and whatever else btcd keeps, of which there are many.
func (f *Finding) note(key, value []byte) bool {
	switch {
	case key[0] == prefixItem:
		return false
	case len(key) == 1 && key[0] == prefixFormat && len(value) == 1+len(f.Magic):
		f.Magic, f.HasMagic = [4]byte(value[1:]), true
	case key[0] == prefixBlock && len(key) == 1+chainhash.HashSize && len(f.blocks) < someBlocks:
		if l, err := decodeLocation(value); err == nil {
			f.blocks[chainhash.Hash(key[1:])] = l
		}
	}
	return true
}

// owns reports whether a pair can be one of a chain database. None of those that
// Bitcoin Core keeps of the unspent outputs can.
func owns(key, value []byte) bool {
	if len(key) == 0 {
		return false
	}
	switch key[0] {
	case prefixFormat, prefixSynced, prefixReload:
		return len(key) == 1
	case prefixCommit, prefixFile, prefixGone:
		return len(key) == 1+8
	case prefixBlock, prefixUndo, prefixPruned, prefixStripped:
		return len(key) == 1+chainhash.HashSize
	case prefixDirectory, prefixItem:
		return len(key) >= 1+4
	}
	return false
}

// Fits reports whether block files are those of the database: whether most of its
// blocks that could be in the folder lie where it says. A database that knows none
// fits no folder. The genesis block proves nothing: every chain begins with it, at
// the same place.
func (f *Finding) Fits(blocksDir string) (bool, error) {
	key, err := blockfile.LoadKey(vfs.OS, blocksDir)
	if err != nil {
		return false, err
	}
	lie, looked := 0, 0
	for _, l := range f.blocks {
		if l.prev() == (chainhash.Hash{}) && len(f.blocks) > 1 {
			continue
		}
		header, err := l.headerIn(blocksDir, key)
		if errors.Is(err, os.ErrNotExist) {
			continue // pruned
		}
		if err != nil {
			return false, err
		}
		looked++
		if header == l.header {
			lie++
		}
	}
	return lie > looked-lie, nil
}

// headerIn reads what lies where the block's header should, zero behind the end of
// the file.
func (l *location) headerIn(dir string, key blockfile.Key) (header [80]byte, err error) {
	file, err := os.Open(blockfile.Blocks.Path(dir, int(l.file)))
	if err != nil {
		return header, fmt.Errorf("look at block files: %w", err)
	}
	defer file.Close()
	at := int64(l.offset) + blockfile.HeaderSize
	if _, err := file.ReadAt(header[:], at); errors.Is(err, io.EOF) {
		return [80]byte{}, nil
	} else if err != nil {
		return header, fmt.Errorf("look at block files: %w", err)
	}
	key.XOR(header[:], at)
	return header, nil
}

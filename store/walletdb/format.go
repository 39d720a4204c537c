package walletdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Sizes and places of what tells the formats apart, in bytes.
const (
	sqliteMinSize = 512
	sqliteAppIDAt = 68

	sqliteWriteFormatAt = 18
	sqliteMaxFormat     = 2 // WAL; 1 is the rollback journal

	berkeleyMinSize = 4096
	berkeleyMagicAt = 12
	berkeleyMagic   = 0x00053162 // of a btree, in either byte order
	headSize        = sqliteAppIDAt + 4
)

var sqliteMagic = []byte("SQLite format 3\x00")

// A Format is the kind of a file, as far as its first bytes tell.
type Format int

// The formats of wallet files.
const (
	Unknown  Format = iota // none, or a wallet file of another network
	SQLite                 // a wallet file of the network
	Berkeley               // a legacy wallet file
)

// FormatOf looks at the size and the first bytes of a file.
//
// Errors: those of the file system; fs.ErrNotExist if there is no file.
func FormatOf(path string, magic [4]byte) (Format, error) {
	head, size, err := readHead(path)
	if err != nil || size < sqliteMinSize {
		return Unknown, err
	}
	if bytes.HasPrefix(head, sqliteMagic) {
		if bytes.Equal(head[sqliteAppIDAt:], magic[:]) {
			return SQLite, nil
		}
		return Unknown, nil
	}
	mark := head[berkeleyMagicAt : berkeleyMagicAt+4]
	if size >= berkeleyMinSize &&
		(binary.LittleEndian.Uint32(mark) == berkeleyMagic || binary.BigEndian.Uint32(mark) == berkeleyMagic) {
		return Berkeley, nil
	}
	return Unknown, nil
}

// readHead returns the first bytes and the size of a file. A file that is not
// regular has size 0, and files below sqliteMinSize are not read.
func readHead(path string) (head []byte, size int64, err error) {
	info, err := os.Stat(path) // before opening: a pipe would wait for a writer
	if err != nil || !info.Mode().IsRegular() || info.Size() < sqliteMinSize {
		return nil, 0, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	head = make([]byte, headSize)
	_, err = io.ReadFull(file, head)
	return head, info.Size(), err
}

// checkWritable refuses a file in a form that SQLite reads but does not write.
// Opening for writing finds that out by itself.
func checkWritable(path string, opts Options) error {
	head, size, err := readHead(path)
	if err == nil && size > 0 && head[sqliteWriteFormatAt] <= sqliteMaxFormat {
		return nil
	}
	return lockError(err, opts)
}

// checkFormat refuses what is no wallet file of the network.
func checkFormat(path string, magic [4]byte) error {
	format, err := FormatOf(path, magic)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Kind: ErrNotFound, err: err, Text: fmt.Sprintf(
			"Failed to load database path '%s'. Path does not exist.", dirOf(path))}
	case err == nil && format == SQLite:
		return nil
	case format == Berkeley:
		return legacyError(dirOf(path))
	}
	return formatError(dirOf(path), err)
}

// Package coinfile writes and reads the set of unspent outputs as Bitcoin Core's dumptxoutset
// and loadtxoutset do. A file begins with magic and version, the network's magic, the block
// of the set, and the number of outputs. For each transaction follow, in the order of ids,
// its id, the number of its outputs, and these outputs with their indexes. Source:
// src/node/utxo_snapshot.h, src/rpc/blockchain.cpp, src/validation.cpp of Bitcoin Core 30.2.
//
// A file that is written takes its name when it is whole and would survive a loss of power:
// until then it has the ending [Incomplete], also after a kill. A [Reader] believes no length
// that the bytes do not back.
package coinfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// Incomplete is the ending of the name of a file that is not whole.
const Incomplete = ".incomplete"

// version is that of the format.
const version = 2

var fileMagic = [5]byte{'u', 't', 'x', 'o', 0xff}

// Where the number of outputs stands, which is known at the end.
const countAt = len(fileMagic) + 2 + 4 + chainhash.HashSize

// bufferSize is how many bytes are written at a time.
const bufferSize = 1 << 20

var (
	// ErrExists reports that there is a file of that name, which is left alone.
	ErrExists = errors.New("coinfile: file exists")

	// ErrCreate reports that the file cannot be made.
	ErrCreate = errors.New("coinfile: cannot create file")

	errOrder = errors.New("coinfile: outputs are not in the order of transactions")
)

// A Writer writes one file.
type Writer struct {
	fs   vfs.FS
	path string
	file vfs.File
	out  *bufio.Writer

	tx    chainhash.Hash
	coins []coin // of tx
	bytes []byte // of coins
	count uint64
}

// coin is an output that waits for the others of its transaction.
type coin struct {
	index    uint32
	from, to int // in Writer.bytes: the key of the index, then the output
	key      int // length of the key
}

// Create begins a file of the set as of a block. The rest of an earlier file, left by a
// kill, is overwritten.
//
// Errors: ErrExists, ErrCreate.
func Create(disk vfs.FS, path string, magic [4]byte, block *chainhash.Hash) (*Writer, error) {
	switch _, err := disk.Stat(path); {
	case err == nil:
		return nil, fmt.Errorf("%w: %s", ErrExists, path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %w", ErrCreate, err)
	}
	file, err := disk.OpenFile(path+Incomplete, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCreate, err)
	}
	w := &Writer{fs: disk, path: path, file: file, out: bufio.NewWriterSize(file, bufferSize)}
	head := binary.LittleEndian.AppendUint16(bytes.Clone(fileMagic[:]), version)
	head = append(append(head, magic[:]...), block[:]...)
	if _, err := w.out.Write(binary.LittleEndian.AppendUint64(head, 0)); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

// Add adds an output; those of a transaction come together.
func (w *Writer) Add(out *wire.OutPoint, c blockfile.Coin) error {
	if out.Hash != w.tx || w.count == 0 {
		if w.count > 0 && bytes.Compare(out.Hash[:], w.tx[:]) < 0 {
			return errOrder
		}
		if err := w.endTx(); err != nil {
			return err
		}
		w.tx = out.Hash
	}
	from := len(w.bytes)
	w.bytes = blockfile.AppendOutputIndex(w.bytes, out.Index)
	key := len(w.bytes) - from
	w.bytes = blockfile.AppendUnspent(w.bytes, c)
	w.coins = append(w.coins, coin{out.Index, from, len(w.bytes), key})
	w.count++
	return nil
}

// endTx writes the outputs of a transaction in the order of their keys in Core's database.
func (w *Writer) endTx() error {
	if len(w.coins) == 0 {
		return nil
	}
	keyOf := func(c coin) []byte { return w.bytes[c.from : c.from+c.key] }
	slices.SortFunc(w.coins, func(a, b coin) int { return bytes.Compare(keyOf(a), keyOf(b)) })
	head := blockfile.AppendCount(bytes.Clone(w.tx[:]), len(w.coins))
	if _, err := w.out.Write(head); err != nil {
		return err
	}
	for _, c := range w.coins {
		if _, err := w.out.Write(blockfile.AppendCount(head[:0], int(c.index))); err != nil {
			return err
		}
		if _, err := w.out.Write(w.bytes[c.from+c.key : c.to]); err != nil {
			return err
		}
	}
	w.coins, w.bytes = w.coins[:0], w.bytes[:0]
	return nil
}

// Count returns how many outputs were added.
func (w *Writer) Count() uint64 { return w.count }

// Finish completes the file, makes it durable and gives it its name. After an error nothing of
// it is left.
func (w *Writer) Finish() error {
	err := w.endTx()
	if err == nil {
		err = w.out.Flush()
	}
	if err == nil {
		_, err = w.file.WriteAt(binary.LittleEndian.AppendUint64(nil, w.count), int64(countAt))
	}
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write unspent outputs: %w", err), w.Abort())
	}
	if err := w.file.Close(); err != nil {
		return errors.Join(fmt.Errorf("write unspent outputs: %w", err), w.fs.Remove(w.path+Incomplete))
	}
	if err := w.fs.Rename(w.path+Incomplete, w.path); err != nil {
		return errors.Join(fmt.Errorf("write unspent outputs: %w", err), w.fs.Remove(w.path+Incomplete))
	}
	return w.fs.SyncDir(filepath.Dir(w.path))
}

// Abort gives the file up and removes it.
func (w *Writer) Abort() error {
	return errors.Join(w.file.Close(), w.fs.Remove(w.path+Incomplete))
}

package nodefiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/vfs"
)

// maxTx is the longest transaction that is read, in bytes: that of a block.
const maxTx = 4_000_000

// A PoolReader reads a mempool.dat part by part, in an amount of memory that does not depend on
// the file.
type PoolReader struct {
	from   io.Reader
	file   io.Closer // nil: the caller's
	window []byte    // what was read and not used, in the clear
	offset int       // in the key, of the next byte to read
	key    []byte    // nil: none
	ended  bool      // there is no more than the window
	failed bool

	part part
	left uint64 // of the part
}

// A part is one of the lists of a file.
type part int

const (
	txs part = iota
	deltas
	unbroadcast
	done
)

// OpenPool opens a file, which has to be a regular one.
//
// Errors: [ErrPoolFormat], and errors of the file system.
func OpenPool(path string) (*PoolReader, error) {
	file, err := vfs.Open(vfs.OS, path)
	if err != nil {
		return nil, fmt.Errorf("poolfile: %w", err)
	}
	r, err := NewPoolReader(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.file = file
	return r, nil
}

// NewPoolReader reads the beginning of a file.
//
// Errors: [ErrPoolFormat].
func NewPoolReader(from io.Reader) (*PoolReader, error) {
	r := &PoolReader{from: from}
	switch r.int() {
	case plain:
	case obfuscated:
		if r.count() != keySize {
			return nil, ErrPoolFormat
		}
		key := bytes.Clone(r.bytes(keySize))
		r.offset = 8 + 1 + keySize
		xor(r.window, key, r.offset)
		r.key, r.offset = key, (r.offset+len(r.window))%keySize
	default:
		return nil, ErrPoolFormat
	}
	if r.left = uint64(max(0, r.int())); r.failed {
		return nil, ErrPoolFormat
	}
	return r, nil
}

// Close closes the file.
func (r *PoolReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Next reads on for about the given number of bytes. With the last part of the file
// it returns [io.EOF].
//
// Errors: [ErrPoolFormat], with what could be read before the fault; [io.EOF].
func (r *PoolReader) Next(size int) (*PoolContent, error) {
	c := &PoolContent{Deltas: make(map[chainhash.Hash]int64)}
	for used := 0; used < size && r.part != done; {
		if r.left == 0 {
			if r.part++; r.part != done {
				r.left = r.count()
			}
		} else {
			r.left--
			used += r.item(c)
		}
		if r.failed {
			return c, ErrPoolFormat
		}
	}
	if r.part == done {
		return c, io.EOF
	}
	return c, nil
}

// item reads one item of the present part, and returns its size.
func (r *PoolReader) item(c *PoolContent) int {
	const idSize, deltaSize = chainhash.HashSize, chainhash.HashSize + 8
	switch r.part {
	case txs:
		tx, size := r.tx()
		if !r.failed {
			c.Txs = append(c.Txs, tx)
		}
		return size
	case deltas:
		id := r.hash()
		if delta := r.int(); !r.failed {
			c.Deltas[id] = delta
		}
		return deltaSize
	default:
		if id := r.hash(); !r.failed {
			c.Unbroadcast = append(c.Unbroadcast, id)
		}
		return idSize
	}
}

// ParsePool reads a whole file that is in memory.
//
// Errors: [ErrPoolFormat], with what could be read before the fault.
func ParsePool(raw []byte) (*PoolContent, error) {
	r, err := NewPoolReader(bytes.NewReader(raw))
	if err != nil {
		return &PoolContent{}, err
	}
	c, err := r.Next(len(raw) + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c, err
}

// fill has the window hold at least n bytes, or all that there are.
func (r *PoolReader) fill(n int) {
	if r.ended || len(r.window) >= n {
		return
	}
	more := make([]byte, len(r.window)+n)
	copy(more, r.window)
	got, err := io.ReadFull(r.from, more[len(r.window):])
	r.ended = err != nil // whatever the reason, the file ends here
	fresh := more[len(r.window) : len(r.window)+got]
	if r.key != nil {
		xor(fresh, r.key, r.offset)
	}
	r.offset = (r.offset + got) % keySize
	r.window = more[:len(r.window)+got]
}

// bytes takes bytes off the window. After a failure it yields zeros.
func (r *PoolReader) bytes(n int) []byte {
	r.fill(n)
	if r.failed || len(r.window) < n {
		r.failed, r.window = true, nil
		return make([]byte, n)
	}
	p := r.window[:n]
	r.window = r.window[n:]
	return p
}

func (r *PoolReader) int() int64           { return int64(binary.LittleEndian.Uint64(r.bytes(8))) }
func (r *PoolReader) hash() chainhash.Hash { return chainhash.Hash(r.bytes(chainhash.HashSize)) }

func (r *PoolReader) count() uint64 {
	r.fill(wire.MaxVarIntPayload)
	from := bytes.NewReader(r.window)
	n, err := wire.ReadVarInt(from, 0)
	if err != nil {
		r.failed = true
		return 0
	}
	r.bytes(len(r.window) - from.Len())
	return n
}

func (r *PoolReader) tx() (PoolTx, int) {
	r.fill(maxTx)
	tx, rest, ok := rawtx.Next(r.window[:min(len(r.window), maxTx)])
	if !ok {
		r.failed, r.window = true, nil
		return PoolTx{}, 0
	}
	size := min(len(r.window), maxTx) - len(rest)
	r.window = r.window[size:]
	return PoolTx{Tx: tx.Copy(), Time: r.int(), Delta: r.int()}, size + 16
}

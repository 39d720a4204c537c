package poolfile

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

// A Reader reads a file part by part, in an amount of memory that does not depend on
// the file.
type Reader struct {
	from   io.Reader
	file   io.Closer // nil: the caller's
	window []byte    // what was read and not used, in the clear
	offset int       // in the key, of what is read next
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

// Open opens a file, which has to be a regular one.
//
// Errors: [ErrFormat], and those of the file system.
func Open(path string) (*Reader, error) {
	file, err := vfs.Open(vfs.OS, path)
	if err != nil {
		return nil, fmt.Errorf("poolfile: %w", err)
	}
	r, err := NewReader(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.file = file
	return r, nil
}

// NewReader reads the beginning of a file.
//
// Errors: [ErrFormat].
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{from: from}
	switch r.int() {
	case plain:
	case obfuscated:
		if r.count() != keySize {
			return nil, ErrFormat
		}
		key := bytes.Clone(r.bytes(keySize))
		r.offset = 8 + 1 + keySize
		xor(r.window, key, r.offset)
		r.key, r.offset = key, (r.offset+len(r.window))%keySize
	default:
		return nil, ErrFormat
	}
	if r.left = uint64(max(0, r.int())); r.failed {
		return nil, ErrFormat
	}
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Next reads on for about the given number of bytes. With the last part of the file
// it returns [io.EOF].
//
// Errors: [ErrFormat], with what could be read before the fault; [io.EOF].
func (r *Reader) Next(size int) (*Content, error) {
	c := &Content{Deltas: make(map[chainhash.Hash]int64)}
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
			return c, ErrFormat
		}
	}
	if r.part == done {
		return c, io.EOF
	}
	return c, nil
}

// item reads one item of the present part, and returns its size.
func (r *Reader) item(c *Content) int {
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

// Parse reads a whole file that is in memory.
//
// Errors: [ErrFormat], with what could be read before the fault.
func Parse(raw []byte) (*Content, error) {
	r, err := NewReader(bytes.NewReader(raw))
	if err != nil {
		return &Content{}, err
	}
	c, err := r.Next(len(raw) + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c, err
}

// fill has the window hold at least n bytes, or all that there are.
func (r *Reader) fill(n int) {
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
func (r *Reader) bytes(n int) []byte {
	r.fill(n)
	if r.failed || len(r.window) < n {
		r.failed, r.window = true, nil
		return make([]byte, n)
	}
	p := r.window[:n]
	r.window = r.window[n:]
	return p
}

func (r *Reader) int() int64           { return int64(binary.LittleEndian.Uint64(r.bytes(8))) }
func (r *Reader) hash() chainhash.Hash { return chainhash.Hash(r.bytes(chainhash.HashSize)) }

func (r *Reader) count() uint64 {
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

func (r *Reader) tx() (Tx, int) {
	r.fill(maxTx)
	tx, rest, ok := rawtx.Next(r.window[:min(len(r.window), maxTx)])
	if !ok {
		r.failed, r.window = true, nil
		return Tx{}, 0
	}
	size := min(len(r.window), maxTx) - len(rest)
	r.window = r.window[size:]
	return Tx{Tx: tx.Copy(), Time: r.int(), Delta: r.int()}, size + 16
}

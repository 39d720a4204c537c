// Package poolfile reads and writes the file in which a node keeps its pool of
// unconfirmed transactions while it is not running: Bitcoin Core's mempool.dat
// (src/node/mempool_persist.cpp), version 1 without and version 2 with an
// obfuscation of what follows its key.
package poolfile

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx"
)

// ErrFormat reports a file that is none of a pool, or that is cut short.
var ErrFormat = errors.New("poolfile: not a mempool file")

// Versions of the format.
const (
	plain      = 1
	obfuscated = 2
	keySize    = 8
)

// A Tx is a transaction of the file.
type Tx struct {
	Tx    *wire.MsgTx
	Time  int64 // when it came into the pool, in seconds since 1970
	Delta int64 // what the operator added to its fee
}

// Content is what a file holds.
type Content struct {
	Txs         []Tx // each after those that it depends on
	Deltas      map[chainhash.Hash]int64
	Unbroadcast []chainhash.Hash
}

// Save writes a file in the place of the one that was there, if any. It is on
// disk when Save returns.
func Save(path string, c *Content, old bool) error {
	var buf bytes.Buffer
	if err := write(&buf, c, old); err != nil {
		return fmt.Errorf("poolfile: %w", err)
	}
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("poolfile: %w", err)
	}
	_, err = file.Write(buf.Bytes())
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("poolfile: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("poolfile: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("poolfile: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("poolfile: %w", err)
	}
	return nil
}

// Load reads a file.
//
// Errors: [ErrFormat], with what could be read before the fault; [os.ErrNotExist].
func Load(path string) (*Content, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("poolfile: %w", err)
	}
	return Parse(raw)
}

func write(buf *bytes.Buffer, c *Content, old bool) error {
	var key []byte
	if old {
		writeInt(buf, plain)
	} else {
		key = make([]byte, keySize)
		_, _ = rand.Read(key) // never fails
		writeInt(buf, obfuscated)
		buf.WriteByte(keySize)
		buf.Write(key)
	}
	start := buf.Len()
	writeInt(buf, int64(len(c.Txs)))
	deltas := make(map[chainhash.Hash]int64, len(c.Deltas))
	maps.Copy(deltas, c.Deltas)
	for _, tx := range c.Txs {
		if err := tx.Tx.Serialize(buf); err != nil {
			return err
		}
		writeInt(buf, tx.Time)
		writeInt(buf, tx.Delta)
		delete(deltas, tx.Tx.TxHash())
	}
	if err := writeDeltas(buf, deltas); err != nil {
		return err
	}
	if err := wire.WriteVarInt(buf, 0, uint64(len(c.Unbroadcast))); err != nil {
		return err
	}
	for _, id := range c.Unbroadcast {
		buf.Write(id[:])
	}
	if key != nil {
		xor(buf.Bytes()[start:], key, start)
	}
	return nil
}

func writeDeltas(buf *bytes.Buffer, deltas map[chainhash.Hash]int64) error {
	if err := wire.WriteVarInt(buf, 0, uint64(len(deltas))); err != nil {
		return err
	}
	list := make([]chainhash.Hash, 0, len(deltas))
	for id := range deltas {
		list = append(list, id)
	}
	slices.SortFunc(list, func(a, b chainhash.Hash) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range list {
		buf.Write(id[:])
		writeInt(buf, deltas[id])
	}
	return nil
}

func writeInt(buf *bytes.Buffer, n int64) {
	_ = binary.Write(buf, binary.LittleEndian, n) // a buffer does not fail
}

// xor applies a key to what lies at an offset of the file.
func xor(data, key []byte, offset int) {
	for i := range data {
		data[i] ^= key[(offset+i)%len(key)]
	}
}

// Parse reads the content of a file. It writes to raw.
func Parse(raw []byte) (*Content, error) {
	r := &reader{rest: raw}
	c := &Content{Deltas: make(map[chainhash.Hash]int64)}
	switch r.int() {
	case plain:
	case obfuscated:
		if r.count() != keySize {
			return c, ErrFormat
		}
		key := r.bytes(keySize)
		xor(r.rest, key, len(raw)-len(r.rest))
	default:
		return c, ErrFormat
	}
	for n := r.int(); n > 0 && !r.failed; n-- {
		if tx := r.tx(); !r.failed {
			c.Txs = append(c.Txs, tx)
		}
	}
	for n := r.count(); n > 0 && !r.failed; n-- {
		id := r.hash()
		if delta := r.int(); !r.failed {
			c.Deltas[id] = delta
		}
	}
	for n := r.count(); n > 0 && !r.failed; n-- {
		if id := r.hash(); !r.failed {
			c.Unbroadcast = append(c.Unbroadcast, id)
		}
	}
	if r.failed {
		return c, ErrFormat
	}
	return c, nil
}

// reader takes a file apart. After a failure it yields zeros.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) bytes(n int) []byte {
	if r.failed || len(r.rest) < n {
		r.failed, r.rest = true, nil
		return make([]byte, n)
	}
	p := r.rest[:n]
	r.rest = r.rest[n:]
	return p
}

func (r *reader) int() int64           { return int64(binary.LittleEndian.Uint64(r.bytes(8))) }
func (r *reader) hash() chainhash.Hash { return chainhash.Hash(r.bytes(chainhash.HashSize)) }

func (r *reader) count() uint64 {
	from := bytes.NewReader(r.rest)
	n, err := wire.ReadVarInt(from, 0)
	if err != nil {
		r.failed = true
		return 0
	}
	r.bytes(len(r.rest) - from.Len())
	return n
}

func (r *reader) tx() Tx {
	tx, rest, ok := rawtx.Next(r.rest)
	r.rest, r.failed = rest, r.failed || !ok
	if r.failed {
		return Tx{}
	}
	return Tx{Tx: tx.Copy(), Time: r.int(), Delta: r.int()}
}

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
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/atomicfile"
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
	if err := atomicfile.Write(vfs.OS, path, buf.Bytes(), 0o600); err != nil {
		return fmt.Errorf("poolfile: %w", err)
	}
	return nil
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

package nodefiles

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
)

// ErrPoolFormat reports a file that is not a mempool.dat, or that is cut short.
var ErrPoolFormat = errors.New("poolfile: not a mempool file")

// Versions of mempool.dat (Bitcoin Core: src/node/mempool_persist.cpp): version 2 obfuscates
// what follows its key.
const (
	plain      = 1
	obfuscated = 2
	keySize    = 8
)

// A PoolTx is a transaction of the file.
type PoolTx struct {
	Tx    *wire.MsgTx
	Time  int64 // when it came into the pool, in seconds since 1970
	Delta int64 // what the operator added to its fee
}

// PoolContent is what a mempool.dat holds.
type PoolContent struct {
	Txs         []PoolTx // each after those that it depends on
	Deltas      map[chainhash.Hash]int64
	Unbroadcast []chainhash.Hash
}

// SavePool writes a file, in the place of an existing file if there is any. The
// file is on disk when SavePool returns.
func SavePool(path string, c *PoolContent, old bool) error {
	var buf bytes.Buffer
	if err := writePool(&buf, c, old); err != nil {
		return fmt.Errorf("poolfile: %w", err)
	}
	if err := vfs.ReplaceFile(vfs.OS, path, buf.Bytes(), 0o600); err != nil {
		return fmt.Errorf("poolfile: %w", err)
	}
	return nil
}

func writePool(buf *bytes.Buffer, c *PoolContent, old bool) error {
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

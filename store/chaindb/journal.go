package chaindb

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/store/blockfile"
)

// btcd's spend journal and Core's undo data encode a coin alike. They differ in
// what surrounds it: btcd writes the coins of a block from the last to the
// first without any counts, Core from the first to the last by transaction.

// isJournalItem tells whether a key of the metadata is an entry of the spend
// journal.
func (t *tx) isJournalItem(key string) bool {
	return len(key) > itemPrefixSize && key[0] == prefixItem &&
		t.dir.isJournal(bucketID(binary.BigEndian.Uint32([]byte(key[1:itemPrefixSize]))))
}

// putJournal notes undo data for the rev file. run is btcd's entry.
func (t *tx) putJournal(key, run []byte) error {
	if len(key) != chainhash.HashSize {
		return dbError(database.ErrIncompatibleValue, "spend journal key %x is not a block hash", key)
	}
	hash := chainhash.Hash(key)
	shape, err := t.shape(&hash)
	if err != nil {
		return err
	}
	undo, err := toUndo(run, shape.inputs)
	if err != nil {
		return toBTCD(&hash, err)
	}
	if t.hasUndo(&hash, undo) {
		return nil
	}
	t.undo = append(t.undo, pendingUndo{hash, undo})
	return nil
}

// hasUndo tells whether a block's undo data is in the rev file already: when
// the block was connected before and left the chain.
func (t *tx) hasUndo(hash *chainhash.Hash, undo []byte) bool {
	stored, err := t.storedUndo(hash)
	return err == nil && bytes.Equal(stored, undo)
}

// storedUndo reads undo data as of the transaction's snapshot.
func (t *tx) storedUndo(hash *chainhash.Hash) ([]byte, error) {
	l, err := findLocation(t.snap, hash)
	if err != nil {
		return nil, err
	}
	return t.db.readUndo(t.snap, hash, l)
}

// journalEntry returns btcd's entry for a block from the rev file; nil when that
// cannot be read, which btcd reports as an inconsistent database.
func (t *tx) journalEntry(key []byte) []byte {
	hash, err := chainhash.NewHash(key)
	var undo []byte
	if err == nil {
		undo, err = t.storedUndo(hash)
	}
	if err == nil {
		var run []byte
		if run, err = fromUndo(undo); err == nil {
			return run
		}
	}
	t.db.o.Log.Error("undo data cannot be read", "block", hex.EncodeToString(key), "error", err)
	return nil
}

// toUndo converts an entry of the spend journal to undo data.
func toUndo(run []byte, inputs []int) ([]byte, error) {
	coins, err := blockfile.SplitCoins(run)
	if err != nil {
		return nil, err
	}
	slices.Reverse(coins)
	return blockfile.AppendRawUndo(make([]byte, 0, len(run)+len(inputs)+8), inputs, coins)
}

// fromUndo is the inverse of toUndo.
func fromUndo(undo []byte) ([]byte, error) {
	coins, err := blockfile.RawCoins(undo)
	if err != nil {
		return nil, err
	}
	run := make([]byte, 0, len(undo))
	for _, coin := range slices.Backward(coins) {
		run = append(run, coin...)
	}
	return run, nil
}

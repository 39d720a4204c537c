package chaindb

import (
	"fmt"
	"hash/crc32"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/blockfile"
)

// castagnoli is the polynomial of CRC-32C, which processors compute.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// HasBlock tells whether a block is stored.
func (db *DB) HasBlock(hash *chainhash.Hash) (bool, error) {
	return read(db, hash, func() (bool, error) {
		return db.ldb.Has(hashKey(prefixBlock, hash), nil)
	})
}

// Block returns a stored block, on the active chain or not, as it was stored;
// the slice is the caller's. The bytes are checked: [ErrCorrupt]. A block that
// is not stored is [ErrNotFound].
func (db *DB) Block(hash *chainhash.Hash) ([]byte, error) { return db.BlockInto(nil, hash) }

// BlockInto is Block into the memory of buf, which grows as needed: the slice
// is valid until buf is used again.
func (db *DB) BlockInto(buf *[]byte, hash *chainhash.Hash) ([]byte, error) {
	return read(db, hash, func() ([]byte, error) {
		l, err := findLocation(db.ldb, hash)
		if err != nil {
			return nil, err
		}
		return db.readBlockInto(buf, hash, l)
	})
}

// BlockHeader returns the header of a stored block, or [ErrNotFound]. It reads
// no file.
func (db *DB) BlockHeader(hash *chainhash.Hash) ([80]byte, error) {
	return read(db, hash, func() ([80]byte, error) {
		l, err := findLocation(db.ldb, hash)
		if err != nil {
			return [80]byte{}, err
		}
		return l.header, nil
	})
}

// BlockSize returns the serialized size of a stored block in bytes, or
// [ErrNotFound]. It reads no file.
func (db *DB) BlockSize(hash *chainhash.Hash) (int, error) {
	return read(db, hash, func() (int, error) {
		l, err := findLocation(db.ldb, hash)
		if err != nil {
			return 0, err
		}
		return int(l.length), nil
	})
}

// BlockPart returns n bytes of a stored block, or fewer where it ends, from an offset on,
// without reading and checking the whole block. Errors: [ErrNotFound], [ErrCorrupt].
func (db *DB) BlockPart(hash *chainhash.Hash, offset, n int) ([]byte, error) {
	return read(db, hash, func() ([]byte, error) {
		l, err := db.places.find(db.ldb, hash)
		if err != nil {
			return nil, err
		}
		offset = min(max(offset, 0), int(l.length))
		n = min(max(n, 0), int(l.length)-offset)
		part, err := db.blocks.Read(int(l.file), int64(l.offset)+blockfile.HeaderSize+int64(offset), n)
		return part, db.orPruned(l, err)
	})
}

// Undo returns the coins that a block spent: for each transaction but the
// coinbase, in the order of its inputs. Blocks that left the chain keep theirs.
// Errors: [ErrNotFound] when the block was never connected, as the genesis
// block never is, and [ErrCorrupt].
func (db *DB) Undo(hash *chainhash.Hash) ([][]blockfile.Coin, error) {
	return read(db, hash, func() ([][]blockfile.Coin, error) {
		undo, err := db.findUndo(hash)
		if err != nil {
			return nil, err
		}
		return blockfile.ParseUndo(undo)
	})
}

// SpentScripts returns the scripts of the coins of [DB.Undo] in one list.
func (db *DB) SpentScripts(hash *chainhash.Hash) ([][]byte, error) {
	return read(db, hash, func() ([][]byte, error) {
		undo, err := db.findUndo(hash)
		if err != nil {
			return nil, err
		}
		return blockfile.SpentScripts(undo)
	})
}

// read runs one read of a block between the gate's posts, while blocks stay where they are, and
// names the block in its error. It is not used within itself.
func read[T any](db *DB, hash *chainhash.Hash, do func() (T, error)) (value T, err error) {
	if err = db.gate.enter(); err != nil {
		return value, err
	}
	defer db.gate.leave()
	db.moving.RLock()
	defer db.moving.RUnlock()
	if value, err = do(); err != nil {
		return value, fmt.Errorf("block %v: %w", hash, fromLevelDB(db.seen(err)))
	}
	return value, nil
}

// findLocation looks up where a block lies. The header is proof that the
// record belongs to the hash.
func findLocation(r reader, hash *chainhash.Hash) (*location, error) {
	record, err := r.Get(hashKey(prefixBlock, hash), nil)
	if err != nil {
		return nil, fromLevelDB(err)
	}
	l, err := decodeLocation(record)
	if err != nil {
		return nil, err
	}
	if l.hash() != *hash {
		return nil, fmt.Errorf("%w: location has the header of another block", ErrCorrupt)
	}
	return l, nil
}

// readBlock reads a block from its file and checks it.
func (db *DB) readBlock(hash *chainhash.Hash, l *location) ([]byte, error) {
	return db.readBlockInto(nil, hash, l)
}

// readBlockInto is readBlock into the memory of buf, where there is one.
func (db *DB) readBlockInto(buf *[]byte, hash *chainhash.Hash, l *location) ([]byte, error) {
	block, err := db.blocks.ReadRecordInto(buf, int(l.file), int64(l.offset), int(l.length), 0)
	if err != nil {
		return nil, db.orPruned(l, err)
	}
	if chainhash.DoubleHashH(block[:len(l.header)]) != *hash {
		return nil, fmt.Errorf("%w: block hash doesn't match index", ErrCorrupt)
	}
	if crc32.Checksum(block, castagnoli) != l.crc {
		return nil, fmt.Errorf("%w: block checksum mismatch", ErrCorrupt)
	}
	return block, nil
}

// orPruned tells a file that was removed on purpose, maybe just before its reading,
// from a damaged file.
func (db *DB) orPruned(l *location, err error) error {
	if err != nil && db.isGone(int(l.file)) {
		return ErrPruned
	}
	return err
}

// findUndo looks up and reads the undo data of a block.
func (db *DB) findUndo(hash *chainhash.Hash) ([]byte, error) {
	l, err := findLocation(db.ldb, hash)
	if err != nil {
		return nil, err
	}
	return db.readUndo(db.ldb, hash, l)
}

// readUndo reads the undo data of a block from its file and checks it.
func (db *DB) readUndo(r reader, hash *chainhash.Hash, l *location) ([]byte, error) {
	record, err := r.Get(hashKey(prefixUndo, hash), nil)
	if err = fromLevelDB(err); err != nil {
		return nil, fmt.Errorf("undo data: %w", err)
	}
	at, err := decodeUndoLocation(record)
	if err != nil {
		return nil, err
	}
	b, err := db.undo.ReadRecord(int(l.file), int64(at.offset), int(at.length), blockfile.ChecksumSize)
	if err != nil {
		return nil, db.orPruned(l, err)
	}
	undo, checksum := b[:at.length:at.length], b[at.length:]
	if blockfile.UndoChecksum(l.prev(), undo) != chainhash.Hash(checksum) {
		return nil, fmt.Errorf("%w: undo data checksum mismatch", ErrCorrupt)
	}
	return undo, nil
}

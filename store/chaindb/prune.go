package chaindb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// A BlockFile is a pair of block and undo file.
type BlockFile struct {
	Number int
	Size   int64            // bytes in use, of both
	Blocks []chainhash.Hash // that lie in it
}

// Files returns the pairs of files that hold blocks, ascending, without the
// pair that is being filled. It is for databases opened with
// [Options.Prunable].
func (db *DB) Files() (files []BlockFile, used int64) {
	db.writer.Lock()
	defer db.writer.Unlock()
	for _, n := range slices.Sorted(maps.Keys(db.ends)) {
		ends := db.ends[n]
		used += ends.blk + ends.rev
		if n != db.current {
			files = append(files, BlockFile{n, ends.blk + ends.rev, slices.Clone(db.held[n])})
		}
	}
	return files, used
}

// Used returns how many bytes the block and undo files hold.
func (db *DB) Used() int64 { return db.used.Load() }

// setEnds notes how far a file of a database is used.
func setEnds(db *DB, file int, ends fileEnds) {
	old := db.ends[file]
	db.ends[file] = ends
	db.used.Add(ends.blk + ends.rev - old.blk - old.rev)
}

// Prune removes pairs of files for good. Of their blocks it keeps the header, the
// size, and the number of transactions; their blocks and undo data are [ErrPruned]
// from now on. Everything committed before is made durable first, so that a kill
// or a loss of power at any moment leaves the files either whole and known, or to
// be removed on opening.
func (db *DB) Prune(numbers []int) error {
	if err := db.gate.enter(); err != nil {
		return err
	}
	defer db.gate.leave()
	if err := db.notePruned(numbers); err != nil {
		return fmt.Errorf("prune: %w", fromLevelDB(err))
	}
	return db.removePruned(numbers)
}

// notePruned writes that files are gone, and of each of their blocks the number of
// transactions.
func (db *DB) notePruned(numbers []int) error {
	db.writer.Lock()
	defer db.writer.Unlock()
	if err := syncHeld(db); err != nil {
		return err
	}
	batch := new(leveldb.Batch)
	for _, n := range numbers {
		if _, ok := db.ends[n]; !ok || n == db.current {
			return fmt.Errorf("%w: block file %d cannot be pruned", ErrNotFound, n)
		}
		for i := range db.held[n] {
			hash := &db.held[n][i]
			txs, err := db.countTxs(hash)
			if err != nil {
				return err
			}
			batch.Put(hashKey(prefixPruned, hash), binary.LittleEndian.AppendUint32(nil, txs))
		}
		batch.Delete(numberKey(prefixFile, uint64(n)))
		batch.Put(numberKey(prefixGone, uint64(n)), nil)
	}
	db.published.Lock()
	defer db.published.Unlock()
	if err := db.writeDurably(batch); err != nil { // before the files go
		return err
	}
	gone := maps.Clone(db.gone)
	for _, n := range numbers {
		gone[n] = struct{}{}
		setEnds(db, n, fileEnds{})
		delete(db.ends, n)
		delete(db.held, n)
	}
	db.gone = gone
	return nil
}

// countTxs reads how many transactions a stored block has.
func (db *DB) countTxs(hash *chainhash.Hash) (uint32, error) {
	l, err := findLocation(db.ldb, hash)
	if err != nil {
		return 0, err
	}
	n, err := db.readTxCount(l, min(blockStart, int(l.length)))
	if errors.Is(err, ErrCorrupt) && l.length > blockStart {
		n, err = db.readTxCount(l, int(l.length))
	}
	return n, err
}

// blockStart is how much of a block is read to find its number of transactions: more
// than a merge-mined block's header takes as a rule.
const blockStart = 4096

// readTxCount finds the number of transactions in the first size bytes of a block.
func (db *DB) readTxCount(l *location, size int) (uint32, error) {
	start, err := db.blocks.Read(int(l.file), int64(l.offset)+blockfile.HeaderSize, size)
	if err != nil {
		return 0, db.orPruned(l, err)
	}
	at := wire.MaxBlockHeaderPayload
	if db.o.HeaderLen != nil {
		at = db.o.HeaderLen(start)
	}
	if at < 0 || at > len(start) {
		return 0, fmt.Errorf("%w: header of a block", ErrCorrupt)
	}
	n, err := wire.ReadVarInt(bytes.NewReader(start[at:]), 0)
	if err != nil || n > blockfile.MaxBlockSize {
		return 0, fmt.Errorf("%w: number of transactions", ErrCorrupt)
	}
	return uint32(n), nil
}

// removePruned deletes files that are noted as gone.
func (db *DB) removePruned(numbers []int) error {
	for _, n := range numbers {
		for _, files := range []*blockfile.Files{db.blocks, db.undo} {
			if err := files.Remove(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("prune: %w", err)
			}
		}
	}
	return nil
}

// HasPruned tells whether files were ever removed.
func (db *DB) HasPruned() bool {
	db.published.RLock()
	defer db.published.RUnlock()
	return len(db.gone) > 0
}

// isGone tells whether a file was removed.
func (db *DB) isGone(file int) bool {
	db.published.RLock()
	defer db.published.RUnlock()
	_, gone := db.gone[file]
	return gone
}

// IsPruned tells whether a block was stored and its file was removed.
func (db *DB) IsPruned(hash *chainhash.Hash) (bool, error) {
	if !db.HasPruned() {
		return false, nil
	}
	return read(db, hash, func() (bool, error) { return db.ldb.Has(hashKey(prefixPruned, hash), nil) })
}

// Pruned calls visit with every block whose file was removed.
func (db *DB) Pruned(visit func(*chainhash.Hash)) error { return visitHashes(db, prefixPruned, visit) }

// TxCount returns how many transactions a block has that is, or was, stored. Of a
// pruned block it reads no file. Errors: [ErrNotFound], [ErrCorrupt].
func (db *DB) TxCount(hash *chainhash.Hash) (int, error) {
	return read(db, hash, func() (int, error) {
		record, err := db.ldb.Get(hashKey(prefixPruned, hash), nil)
		switch {
		case errors.Is(err, leveldb.ErrNotFound):
			n, err := db.countTxs(hash)
			return int(n), err
		case err != nil:
			return 0, err
		case len(record) != 4:
			return 0, fmt.Errorf("%w: record of a pruned block: %x", ErrCorrupt, record)
		}
		return int(binary.LittleEndian.Uint32(record)), nil
	})
}

// loadPruned reads, on opening, which files are gone, and removes those that a kill
// has left.
func (db *DB) loadPruned() error {
	db.gone = map[int]struct{}{}
	it := db.ldb.NewIterator(util.BytesPrefix([]byte{prefixGone}), nil)
	defer it.Release()
	var numbers []int
	for it.Next() {
		n, err := keyNumber(it.Key())
		if err != nil {
			return err
		}
		numbers = append(numbers, int(n))
		db.gone[int(n)] = struct{}{}
	}
	if err := it.Error(); err != nil {
		return err
	}
	return db.removePruned(numbers)
}

// loadHeld finds out, on opening, which blocks lie in which file.
func (db *DB) loadHeld() error {
	if !db.o.Prunable && !db.o.Strips {
		return nil
	}
	db.held = map[int][]chainhash.Hash{}
	it := db.ldb.NewIterator(util.BytesPrefix([]byte{prefixBlock}), nil)
	defer it.Release()
	for it.Next() {
		l, err := decodeLocation(it.Value())
		if err != nil {
			return err
		}
		if _, gone := db.gone[int(l.file)]; !gone {
			db.hold(int(l.file), chainhash.Hash(it.Key()[1:]))
		}
	}
	return it.Error()
}

// hold notes that a block lies in a file.
func (db *DB) hold(file int, hash chainhash.Hash) {
	if db.held != nil {
		db.held[file] = append(db.held[file], hash)
	}
}

// dropLoose removes the block files that follow a gap, before a prunable database is
// rebuilt over them: nothing leads up to their blocks, which come from the network
// again.
func dropLoose(disk vfs.FS, dir string) error {
	numbers, err := blockfile.Blocks.Numbers(disk, dir)
	if err != nil {
		return err
	}
	for i, n := range numbers {
		if n == i {
			continue
		}
		if err := disk.Remove(blockfile.Blocks.Path(dir, n)); err != nil {
			return fmt.Errorf("remove block file behind a gap: %w", err)
		}
	}
	return nil
}

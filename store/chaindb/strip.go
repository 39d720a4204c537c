package chaindb

import (
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/store/blockfile"
)

// ErrHandOver reports that a file without witnesses could not take the place of the file with witnesses.
// Nothing is lost; the next [Open] brings the files in order.
var ErrHandOver = errors.New("block file could not be replaced")

// stripped is the part of a database that is about blocks which lose their witnesses.
type stripped struct{ db *DB }

// A Stripper says how [DB.Strip] takes witnesses out of blocks.
type Stripper struct {
	// Strip appends a block without its witnesses to dst.
	Strip func(dst, raw []byte) ([]byte, error)

	// Before is called when all is prepared, with the blocks that lose their witnesses, before any reader gets
	// blocks without witnesses.
	Before func(blocks []chainhash.Hash)
}

// A stripping is a file that loses the witnesses of its blocks.
type stripping struct {
	db     *DB
	number int
	blocks []*location // that lie in the file, by their offsets
	into   *blockfile.Rewrite
	size   int64 // of the new file
}

// Strip replaces a block file by a file that has the same blocks without their witnesses, and nothing else. It
// is for databases opened with [Options.Strips], and for files that are not being filled. Where the new file
// cannot be written, or a block cannot be read, nothing has changed. A kill or a loss of power at any moment
// leaves all blocks as they were, or all of them without witnesses. The error is [ErrHandOver], or [ErrFailed]
// from then on, where the database has to be opened again.
func (p stripped) Strip(number int, how Stripper) error {
	db := p.db
	if err := db.gate.enter(); err != nil {
		return err
	}
	defer db.gate.leave()
	db.writer.Lock()
	defer db.writer.Unlock()
	if err := syncHeld(db); err != nil {
		return fmt.Errorf("%w: %w", ErrFailed, err)
	}
	if _, ok := db.ends[number]; !ok || number == db.current {
		return fmt.Errorf("%w: block file %d cannot be rewritten", ErrNotFound, number)
	}
	s := &stripping{db: db, number: number}
	if err := s.prepare(how.Strip); err != nil {
		return fmt.Errorf("rewrite block file %d: %w", number, fromLevelDB(err))
	}
	how.Before(slices.Clone(db.held[number]))
	if err := s.handOver(); err != nil {
		return fmt.Errorf("%w: block file %d: %w", ErrHandOver, number, fromLevelDB(db.fail(err)))
	}
	return nil
}

// prepare writes the new file beside the old one.
func (s *stripping) prepare(strip func(dst, raw []byte) ([]byte, error)) (err error) {
	for i := range s.db.held[s.number] {
		l, err := findLocation(s.db.ldb, &s.db.held[s.number][i])
		if err != nil {
			return err
		}
		s.blocks = append(s.blocks, l)
	}
	slices.SortFunc(s.blocks, func(a, b *location) int { return int(a.offset) - int(b.offset) })
	if s.into, err = s.db.blocks.Rewrite(s.number); err != nil {
		return err
	}
	if err = s.write(strip); err != nil {
		s.into.Drop()
	}
	return err
}

func (s *stripping) write(strip func(dst, raw []byte) ([]byte, error)) error {
	var raw, stripped []byte
	for _, l := range s.blocks {
		hash := l.hash()
		full, err := s.db.readBlockInto(&raw, &hash, l)
		if err != nil {
			return fmt.Errorf("block %v: %w", hash, err)
		}
		if stripped, err = strip(stripped[:0], full); err != nil {
			return fmt.Errorf("block %v: %w", hash, err)
		}
		offset, err := s.into.Add(stripped)
		if err != nil {
			return err
		}
		l.offset, l.length = uint32(offset), uint32(len(stripped))
		l.crc = crc32.Checksum(stripped, castagnoli)
	}
	var err error
	s.size, err = s.into.Finish()
	return err
}

// handOver puts the new file in the place of the old one. No reader looks for a block meanwhile: it would look
// into the wrong file.
func (s *stripping) handOver() error {
	db := s.db
	db.moving.Lock()
	defer db.moving.Unlock()
	if err := s.into.Install(); err != nil {
		return err
	}
	ends := fileEnds{blk: s.size, rev: db.ends[s.number].rev}
	batch := new(leveldb.Batch)
	for _, l := range s.blocks {
		hash := l.hash()
		batch.Put(hashKey(prefixBlock, &hash), l.encode())
		batch.Put(hashKey(prefixStripped, &hash), nil)
	}
	batch.Put(numberKey(prefixFile, uint64(s.number)), ends.encode())
	batch.Put(formatKey, db.format(formatStripped))
	if err := db.writeDurably(batch); err != nil {
		return err
	}
	setEnds(db, s.number, ends)
	db.twoSets = true // the format says more than that
	db.isStripped.Store(true)
	for _, l := range s.blocks {
		hash := l.hash()
		db.places.forget(&hash)
	}
	return s.into.Settle()
}

// FilesAbove calls visit with the pairs of files above the given number, ascending, without the pair that is
// being filled, as long as visit returns true. A file without blocks is left out. The blocks are those of the
// database: they are not to be kept. It is for databases opened with [Options.Prunable] or [Options.Strips].
func (p stripped) FilesAbove(number int, visit func(BlockFile) bool) {
	db := p.db
	db.writer.Lock()
	defer db.writer.Unlock()
	for _, n := range slices.Sorted(maps.Keys(db.ends)) {
		if n <= number || n == db.current || len(db.held[n]) == 0 {
			continue
		}
		ends := db.ends[n]
		if !visit(BlockFile{n, ends.blk + ends.rev, db.held[n]}) {
			return
		}
	}
}

// HasStripped reports whether witnesses were ever removed from blocks of the files.
func (p stripped) HasStripped() bool { return p.db.isStripped.Load() }

// HasBegunToStrip reports whether the first witnesses were removed since the database was opened.
func (p stripped) HasBegunToStrip() bool { return p.db.isStripped.Load() && !p.db.wasStripped }

// Copies are blocks that came again with their witnesses: none when the database is opened.
func (p stripped) Copies() *blockfile.Copies { return p.db.copies }

// Stripped calls visit with every block that lies in a file without its witnesses.
func (p stripped) Stripped(visit func(*chainhash.Hash)) error {
	return visitHashes(p.db, prefixStripped, visit)
}

// visitHashes calls visit with the block of each key of a key space.
func visitHashes(db *DB, prefix byte, visit func(*chainhash.Hash)) error {
	if err := db.gate.enter(); err != nil {
		return err
	}
	defer db.gate.leave()
	it := db.ldb.NewIterator(util.BytesPrefix([]byte{prefix}), nil)
	defer it.Release()
	for it.Next() {
		if len(it.Key()) != 1+chainhash.HashSize {
			return fmt.Errorf("%w: key %x", ErrCorrupt, it.Key())
		}
		hash := chainhash.Hash(it.Key()[1:])
		visit(&hash)
	}
	return fromLevelDB(db.seen(it.Error()))
}

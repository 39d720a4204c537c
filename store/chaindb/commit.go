package chaindb

import (
	"hash/crc32"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/seed61375155/trawl/store/blockfile"
)

// pendingBlock is a block that a transaction is going to store.
type pendingBlock struct {
	hash  chainhash.Hash
	raw   []byte
	again bool // it was pruned
}

// pendingUndo is undo data that a transaction is going to store.
type pendingUndo struct {
	hash chainhash.Hash
	undo []byte
}

// A writing collects what one commit does: records go to the files at once, all
// else into one batch. Until the batch is written nothing refers to the files'
// new records, and the next commit overwrites them.
type writing struct {
	db      *DB
	batch   *leveldb.Batch
	ends    map[int]fileEnds // changed ones
	current int
	stored  []pendingBlock
	list    []byte // of records in the files, for verifyCommit
	placed  map[chainhash.Hash]*location
}

// commit writes everything in one step. The transaction is of no use after it.
func (t *tx) commit() error {
	if len(t.blocks) == 0 && len(t.undo) == 0 && len(t.pending) == 0 {
		return nil
	}
	if err := t.db.writable(); err != nil {
		return database.Error{ErrorCode: database.ErrDriverSpecific, Description: "commit", Err: err}
	}
	w := &writing{
		db:      t.db,
		batch:   leveldb.MakeBatch(t.batchSize()),
		ends:    map[int]fileEnds{},
		current: t.db.current,
		placed:  map[chainhash.Hash]*location{},
	}
	for _, b := range t.blocks {
		if err := w.addBlock(b); err != nil {
			return toBTCD(&b.hash, err)
		}
	}
	for _, u := range t.undo {
		if err := w.addUndo(t, u); err != nil {
			return toBTCD(&u.hash, err)
		}
	}
	t.addPending(w.batch)
	if err := w.finish(t); err != nil {
		return database.Error{
			ErrorCode: database.ErrDriverSpecific, Description: "commit", Err: fromLevelDB(t.db.seen(err)),
		}
	}
	return nil
}

// addBlock puts a block into a file, unless a reload found it in one.
func (w *writing) addBlock(b pendingBlock) error {
	l := &location{length: uint32(len(b.raw)), crc: crc32.Checksum(b.raw, castagnoli), header: [80]byte(b.raw)}
	file, offset, found := w.db.adopt(&b.hash, b.raw)
	if !found {
		need := int64(blockfile.HeaderSize + len(b.raw))
		file, offset = blockfile.Next(w.current, w.end(w.current).blk, need, w.db.fileLimit())
		end, err := w.db.blocks.WriteRecord(file, offset, b.raw, nil)
		if err != nil {
			return err
		}
		if offset == 0 { // the files of a number come in pairs, as in Core
			if err := w.db.undo.Create(file); err != nil {
				return err
			}
		}
		w.current = file
		w.ends[file] = fileEnds{blk: end, rev: w.end(file).rev}
	}
	l.file, l.offset = uint32(file), uint32(offset)
	w.placed[b.hash] = l
	w.batch.Put(hashKey(prefixBlock, &b.hash), l.encode())
	if b.again {
		// Its undo data went with the file that it was in before; it has its witnesses again.
		w.batch.Delete(hashKey(prefixPruned, &b.hash))
		w.batch.Delete(hashKey(prefixUndo, &b.hash))
		w.batch.Delete(hashKey(prefixStripped, &b.hash))
	}
	w.list = appendWritten(w.list, wroteBlock, &b.hash)
	w.stored = append(w.stored, b)
	return nil
}

// addUndo puts undo data into the rev file that goes with the block's file.
func (w *writing) addUndo(t *tx, u pendingUndo) error {
	l := w.placed[u.hash]
	if l == nil {
		var err error
		if l, err = findLocation(t.snap, &u.hash); err != nil {
			return err
		}
	}
	file := int(l.file)
	ends := w.end(file)
	checksum := blockfile.UndoChecksum(l.prev(), u.undo)
	at := undoLocation{offset: uint32(ends.rev), length: uint32(len(u.undo))}
	end, err := w.db.undo.WriteRecord(file, ends.rev, u.undo, checksum[:])
	if err != nil {
		return err
	}
	w.ends[file] = fileEnds{blk: ends.blk, rev: end}
	w.batch.Put(hashKey(prefixUndo, &u.hash), at.encode())
	w.list = appendWritten(w.list, wroteUndo, &u.hash)
	return nil
}

// end returns how far a file is used, this commit's writes included.
func (w *writing) end(file int) fileEnds {
	if ends, ok := w.ends[file]; ok {
		return ends
	}
	return w.db.ends[file]
}

// batchSize estimates the bytes of the batch. A flush of btcd's unspent outputs
// has millions of records. Without an estimate goleveldb would grow the batch
// by a few thousand records at a time, each time copying the whole batch.
func (t *tx) batchSize() int {
	const perRecord, others = 16, 4096
	size := others + (len(t.blocks)+len(t.undo))*2*locationSize
	for key, value := range t.pending {
		size += perRecord + len(key) + len(value)
	}
	return size
}

// addPending adds the pending writes of the metadata. Of the spend journal only
// the keys are stored; the values are in the rev files.
func (t *tx) addPending(batch *leveldb.Batch) {
	for key, value := range t.pending {
		switch {
		case value == nil:
			batch.Delete([]byte(key))
		case t.isJournalItem(key):
			batch.Put([]byte(key), nil)
		default:
			batch.Put([]byte(key), value)
		}
	}
}

// finish writes the batch and makes the new state that of the database.
func (w *writing) finish(t *tx) error {
	db := w.db
	for file, ends := range w.ends {
		w.batch.Put(numberKey(prefixFile, uint64(file)), ends.encode())
	}
	w.batch.Put(numberKey(prefixCommit, db.seq+1), w.list)
	if err := t.publish(w.batch); err != nil {
		return err
	}
	db.seq++
	db.current = w.current
	for file, ends := range w.ends {
		setEnds(db, file, ends)
	}
	for _, b := range w.stored {
		db.places.forget(&b.hash)
		db.hold(int(w.placed[b.hash].file), b.hash)
	}
	return nil
}

// publish writes the batch, and with it the new directory if there is one: no
// reader may get one of the two without the other.
func (t *tx) publish(batch *leveldb.Batch) error {
	if !t.newDir {
		return t.db.fail(t.db.ldb.Write(batch, nil))
	}
	t.db.published.Lock()
	defer t.db.published.Unlock()
	err := t.db.fail(t.db.ldb.Write(batch, nil))
	if err == nil {
		t.db.dir = t.dir
	}
	return err
}

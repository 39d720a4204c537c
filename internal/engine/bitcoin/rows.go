package bitcoin

import (
	"bytes"
	"encoding/binary"

	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/store/chaindb"
)

// The buckets and items of the chain database that Bitcoin's chains have beside those
// of all, in the form that btcd gave them; store/schema.md has them all. Headers whose
// blocks are not there, or lack one before them, have a bucket of their own.
const (
	indexBucket   = "blockheaderidx"
	headersBucket = "trawl-headers"
	hashBucket    = "hashidx"
	heightBucket  = "heightidx"
	journalBucket = "spendjournal"

	coinsVersionKey   = "utxosetversion"
	journalVersionKey = "spendjournalversion"

	coinsVersion   = 2
	journalVersion = 1
)

// rows implements chainstate.Rows.
type rows struct{}

// Buckets implements chainstate.Rows.
func (rows) Buckets() []string {
	return []string{indexBucket, headersBucket, hashBucket, heightBucket, journalBucket}
}

// First implements chainstate.Rows.
func (rows) First(genesis *chainview.Block) []chaindb.Row {
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	return []chaindb.Row{
		{Key: []byte(coinsVersionKey), Value: number(coinsVersion)},
		{Key: []byte(journalVersionKey), Value: number(journalVersion)},
		{Bucket: indexBucket, Key: chainstate.IndexKey(genesis), Value: indexRow(genesis)},
		{Bucket: hashBucket, Key: genesis.Hash[:], Value: number(0)},
		{Bucket: heightBucket, Key: number(0), Value: genesis.Hash[:]},
	}
}

// Load implements chainstate.Rows.
func (rows) Load(
	meta database.Bucket, add func(h *chainstate.Header, s chainview.Status, headerOnly bool) error,
) error {
	for _, of := range []struct {
		bucket     string
		headerOnly bool
	}{{indexBucket, false}, {headersBucket, true}} {
		err := meta.Bucket([]byte(of.bucket)).ForEach(func(_, row []byte) error {
			if len(row) != indexRowSize {
				return chainstate.ErrRow
			}
			return add(readHeader(row), chainstate.RowStatus(row[wire.MaxBlockHeaderPayload]), of.headerOnly)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Status implements chainstate.Rows.
func (rows) Status(b *chainview.Block, linked, wasHeaderOnly bool) []chaindb.Row {
	key := chainstate.IndexKey(b)
	if !linked {
		return []chaindb.Row{{Bucket: headersBucket, Key: key, Value: indexRow(b)}}
	}
	changed := []chaindb.Row{{Bucket: indexBucket, Key: key, Value: indexRow(b)}}
	if wasHeaderOnly {
		changed = append(changed, chaindb.Row{Bucket: headersBucket, Key: key})
	}
	return changed
}

// Move implements chainstate.Rows.
func (rows) Move(b *chainview.Block, back bool) []chaindb.Row {
	hash, height := b.Hash[:], binary.LittleEndian.AppendUint32(nil, uint32(b.Height))
	if back {
		return []chaindb.Row{
			{Bucket: hashBucket, Key: hash}, {Bucket: journalBucket, Key: hash}, {Bucket: heightBucket, Key: height},
		}
	}
	return []chaindb.Row{
		{Bucket: hashBucket, Key: hash, Value: height},
		{Bucket: journalBucket, Key: hash, Value: []byte{}},
		{Bucket: heightBucket, Key: height, Value: hash},
	}
}

const indexRowSize = wire.MaxBlockHeaderPayload + 1

// indexRow is the header and the status.
func indexRow(b *chainview.Block) []byte {
	row := bytes.NewBuffer(make([]byte, 0, indexRowSize))
	header := b.Header()
	_ = header.Serialize(row) // to memory
	row.WriteByte(chainstate.RowFlags(b.Status()))
	return row.Bytes()
}

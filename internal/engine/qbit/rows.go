package qbit

import (
	"bytes"

	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
	"github.com/seed61375155/trawl/store/chaindb"
)

// Where the chain keeps what it knows beside what all have; store/schema.md has the
// rows.
const (
	indexBucket   = "p2mr-index"
	journalBucket = "spendjournal" // names the blocks that have undo data
)

// rows implements chainstate.Rows.
type rows struct{}

// Buckets implements chainstate.Rows.
func (rows) Buckets() []string { return []string{indexBucket, journalBucket} }

// First implements chainstate.Rows: the genesis block has no row.
func (rows) First(*chainview.Block) []chaindb.Row { return nil }

// Load implements chainstate.Rows.
func (rows) Load(
	meta database.Bucket, add func(h *chainstate.Header, s chainview.Status, headerOnly bool) error,
) error {
	return meta.Bucket([]byte(indexBucket)).ForEach(func(_, row []byte) error {
		if len(row) < 1+wire.MaxBlockHeaderPayload {
			return chainstate.ErrRow
		}
		h, size, err := pow.ReadHeader(row[1:])
		if err != nil || size != len(row)-1 {
			return chainstate.ErrRow
		}
		return add(header(h), chainstate.RowStatus(row[0]), false)
	})
}

// Status implements chainstate.Rows. One bucket has all blocks.
func (rows) Status(b *chainview.Block, _, _ bool) []chaindb.Row {
	row := bytes.NewBuffer(make([]byte, 0, 1+wire.MaxBlockHeaderPayload+len(b.Payload())))
	row.WriteByte(chainstate.RowFlags(b.Status()))
	header := b.Header()
	_ = header.Serialize(row) // to memory
	row.Write(b.Payload())
	return []chaindb.Row{{Bucket: indexBucket, Key: chainstate.IndexKey(b), Value: row.Bytes()}}
}

// Move implements chainstate.Rows. Undo data stays when a block leaves the chain.
func (rows) Move(b *chainview.Block, back bool) []chaindb.Row {
	if back {
		return nil
	}
	return []chaindb.Row{{Bucket: journalBucket, Key: b.Hash[:], Value: []byte{}}}
}

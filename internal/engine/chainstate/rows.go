package chainstate

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/store/chaindb"
)

// The items and the bucket that every kind of chain has, in the form that btcd gave
// them; store/schema.md has them all.
const (
	stateKey = "chainstate" // the tip of the active chain
)

// ErrRow reports a row that cannot be read.
var ErrRow = fmt.Errorf("%w: malformed row", chaindb.ErrDamaged)

// IndexKey is the key of a block's row: the height, big-endian, and the hash.
func IndexKey(b *chainview.Block) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, 4+chainhash.HashSize), uint32(b.Height))
	return append(key, b.Hash[:]...)
}

// The status flags of a row.
const (
	rowData byte = 1 << iota
	rowValid
	rowFailed
	rowFailedAncestor
	rowNoUndo
)

var rowFlags = []struct {
	row    byte
	status chainview.Status
}{
	{rowData, chainview.HasData},
	{rowValid, chainview.Valid},
	{rowFailed, chainview.Failed},
	{rowFailedAncestor, chainview.FailedAncestor},
	{rowNoUndo, chainview.NoUndo},
}

// RowFlags is a status as rows have it.
func RowFlags(s chainview.Status) (flags byte) {
	for _, f := range rowFlags {
		if s&f.status != 0 {
			flags |= f.row
		}
	}
	return flags
}

// RowStatus is the inverse of [RowFlags].
func RowStatus(flags byte) (s chainview.Status) {
	for _, f := range rowFlags {
		if flags&f.row != 0 {
			s |= f.status
		}
	}
	return s
}

// stateRow is the hash of the tip, its height, the number of transactions up to it
// and the work of its chain.
func stateRow(tip *chainview.Block, txs uint64) []byte {
	work := tip.Work().Bytes()
	row := binary.LittleEndian.AppendUint32(slices.Clone(tip.Hash[:]), uint32(tip.Height))
	row = binary.LittleEndian.AppendUint64(row, txs)
	return append(binary.LittleEndian.AppendUint32(row, uint32(len(work))), work...)
}

package chainstate

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/store/chaindb"
)

// A Kind is what differs between kinds of chain beside the values of their networks.
type Kind struct {
	Headers Headers
	Scripts Scripts
	Rows    Rows

	Counts bool // transactions are counted from the first block on

	// Unparsable chains keep outputs whose scripts do not parse apart from the others.
	Unparsable bool
}

// A Header is a header as it was read, with what may follow it.
type Header struct {
	wire.BlockHeader
	Hash    chainhash.Hash
	Payload []byte // what stands behind it wherever it is serialized; nil: nothing
	Proof   any    // what the payload says, as the kind has read it
}

// Headers are the rules of headers.
type Headers interface {
	// Read reads the header that raw begins with, and returns its length with its
	// payload.
	Read(raw []byte) (h *Header, size int, err error)

	// CheckWork checks what a header proves by itself, with or without its work. The error is a
	// [*messages.RejectError], as that of Check.
	CheckWork(h *Header, work bool) error

	// CheckAgain checks what may differ of a header with a payload that is known, at its height.
	CheckAgain(h *Header, height int32) error

	// Check checks a header as a child of its parent, but for its work.
	Check(h *Header, parent *chainview.Block) error

	// Added takes notice of a header that has become a block of the tree, after its
	// parent; the first is the genesis block's.
	Added(b *chainview.Block, h *Header)
}

// Scripts are the rules of transactions that consensus.Rules do not have.
type Scripts interface {
	// Flags are the rules of scripts in a block.
	Flags(at *chainview.Block) script.Flags

	// Spend returns a transaction of the block whose inputs are to be verified, with
	// the outputs that it spends.
	Spend(tx *wire.MsgTx, spent []*wire.TxOut, at *chainview.Block) Spend

	// Repeats is about transactions with the id of an earlier transaction that has
	// unspent outputs (BIP30). It returns whether the block may have no such
	// transaction, and whether a forbidden transaction may come without breaking
	// another rule.
	Repeats(at *chainview.Block) (forbidden, possible bool)
}

// A Spend is a transaction with the outputs that it spends. Inputs may be verified
// concurrently.
type Spend interface {
	// VerifyInput executes the scripts of an input, by its number.
	VerifyInput(i int, flags script.Flags) error
}

// Rows are how the block tree and the active chain lie in the database.
type Rows interface {
	// Buckets returns the names of the buckets that have the rows.
	Buckets() []string

	// First returns the rows of a new database.
	First(genesis *chainview.Block) []chaindb.Row

	// Load hands every stored block to add, after its parent. A header-only block is from
	// the bucket of headers whose blocks are not stored, or lack a block before them.
	Load(meta database.Bucket, add func(h *Header, s chainview.Status, headerOnly bool) error) error

	// Status returns the rows with the status of a block. With linked the block and
	// all before it are stored; with wasHeaderOnly the block may have a row as a
	// headerOnly block.
	Status(b *chainview.Block, linked, wasHeaderOnly bool) []chaindb.Row

	// Move returns the rows that change if the tip moves onto a block, or back from
	// the block to its parent.
	Move(b *chainview.Block, back bool) []chaindb.Row
}

package messages

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// ErrCoinScanBusy reports that another scan of the unspent outputs is running;
// a node runs one at a time.
var ErrCoinScanBusy = refusal("scan of unspent outputs already in progress")

// A SetCoin is one output of the set of unspent outputs. Packed belongs to the
// set and is valid only while the coin is visited.
type SetCoin struct {
	Out      wire.OutPoint
	Height   int32 // of its block
	Coinbase bool
	Amount   int64  // satoshis
	Packed   []byte // the script in the form that the set stores
}

// A CoinSet is the set of unspent outputs as it was at one tip, whatever the
// chain does since. Its methods are safe for concurrent use. Its receiver
// releases it.
type CoinSet interface {
	Tip() Tip

	// Visit calls visit with every output of a transaction whose id begins
	// with two bytes from first to last, both included, read as a big-endian
	// number. Ids ascend in internal byte order; outputs of one transaction come
	// together, in no promised order. It ends early with ctx or with an error of
	// visit, and returns it.
	Visit(ctx context.Context, first, last uint16, visit func(*SetCoin) error) error

	// Pack returns the forms in which the set may store a script.
	Pack(script []byte) [][]byte

	// Unpack appends the script that is stored as packed.
	Unpack(dst, packed []byte) ([]byte, error)

	// DiskSize estimates the bytes that the set takes on disk.
	DiskSize() (int64, error)

	// Release gives up the set; no method may be called after it.
	Release()
}

// SnapshotCoins asks for the set of unspent outputs at the present tip.
//
// The receiver of the set releases it, also if it does not wait for the answer. Until then
// the chain can neither stop nor restart after a failure: both close its database. A method
// of the set that runs ends with its context only.
//
// Errors: [ErrNoRollback].
type SnapshotCoins struct {
	Asks[CoinSet]

	// At is a block of the active chain whose set is asked for instead; nil: the tip. The
	// blocks after it are taken back in memory alone, and nobody else sees it.
	At *chainhash.Hash
}

// ErrNoRollback reports that the set of unspent outputs cannot be had as of a block. The block
// is not on the active chain, or blocks or undo data after it cannot be read, or the changes do
// not fit into the memory for unspent outputs.
var ErrNoRollback = refusal("unspent outputs cannot be taken back to that block")

// DumpCoins writes the set of unspent outputs into a file that Bitcoin Core's loadtxoutset
// reads. It ends with the context of its caller, and leaves no part of a file then.
//
// Errors: [ErrFileExists], [ErrNotCreated], [ErrNoRollback].
type DumpCoins struct {
	Asks[DumpedCoins]

	Path string
	At   *chainhash.Hash // as of [SnapshotCoins]
}

// DumpedCoins is the answer to [DumpCoins].
type DumpedCoins struct {
	Block Tip // that the set is of
	Coins uint64
	Hash  chainhash.Hash // of the set, as [HashSerialized]
}

var (
	// ErrFileExists reports that a file is there already.
	ErrFileExists = refusal("file exists already")

	// ErrNotCreated reports that a file cannot be made.
	ErrNotCreated = refusal("file cannot be created")
)

// ReserveCoinScan takes the slot for one scan of the unspent outputs. The holder of
// the slot owes a [RunCoinScan] or a [ReleaseCoinScan].
//
// Errors: [ErrCoinScanBusy].
type ReserveCoinScan struct{ Asks[ScanSlot] }

// ReportCoinScan says how far the holder of a slot is, as [ReportScan] does.
type ReportCoinScan struct {
	Control[Done]

	Slot     uint64
	Progress int // percent, 0 to 100
}

// ReleaseCoinScan gives a slot back: without a scan, or after a scan that holds it. A slot
// that was released before is left alone.
type ReleaseCoinScan struct {
	Control[Done]

	Slot uint64
}

// RunCoinScan looks for the unspent outputs that pay to given scripts, as of the
// tip when the scan begins. The answer arrives when the scan ends;
// [AbortCoinScan] ends it early. The slot is free again when the answer arrives, unless
// Hold is set.
//
// Errors: [ErrNoSuchScan], or what reading the set answered.
type RunCoinScan struct {
	Asks[CoinScanResult]

	Slot    uint64
	Scripts [][]byte // output scripts as they appear on chain, any order
	Hold    bool     // keep the slot after the answer until a [ReleaseCoinScan]
}

// CoinScanResult is what a scan of the unspent outputs found.
type CoinScanResult struct {
	Completed bool // false when the scan was aborted
	Tip       Tip  // that the scan was made at
	Visited   int64
	Coins     []FoundCoin // ascending ids in internal byte order, then indices
}

// FoundCoin is an unspent output that a scan found.
type FoundCoin struct {
	Out      wire.OutPoint
	Script   []byte
	Amount   int64 // satoshis
	Height   int32 // of its block
	Coinbase bool
}

// GetCoinScanStatus asks how far the running scan of unspent outputs has come.
type GetCoinScanStatus struct{ Control[CoinScanStatus] }

// CoinScanStatus is the answer to [GetCoinScanStatus]. The zero value means that
// no scan is running.
type CoinScanStatus struct {
	Running  bool
	Progress int // percent of the stage; of the set, estimated, while it is read
	Stage    ScanStage
}

// AbortCoinScan ends the running scan of unspent outputs; the answer is false
// when there was none.
type AbortCoinScan struct{ Control[bool] }

// SumCoins counts the set of unspent outputs and hashes it. It takes minutes for
// a large set; it ends with the context of its caller.
type SumCoins struct {
	Asks[CoinSums]

	Hash CoinHash
}

// CoinHash is a way to hash the set of unspent outputs.
type CoinHash int

// The ways to hash the set, as Core names them.
const (
	NoHash         CoinHash = iota
	HashSerialized          // hash_serialized_3: SHA256d of all outputs in order
	MuHash                  // muhash: MuHash3072, which knows no order
)

// CoinSums describes the set of unspent outputs.
type CoinSums struct {
	Tip      Tip
	Txs      int64 // transactions with unspent outputs
	Outputs  int64
	BogoSize int64    // sum of nominal sizes
	Amount   int64    // satoshis
	Hash     [32]byte // in internal byte order; zero with NoHash
	DiskSize int64    // bytes, estimated
}

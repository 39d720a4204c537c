package messages

import (
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// PreviewRestore asks for the contents of a backup file and the result that [RestoreWallet] would have. The file
// is only read. Nothing is written or copied, unless it is a copy of a wallet in use with its journal
// beside it: then a copy is made whole below the wallets directory, and removed. It takes some seconds for a
// large one, 30 at most, and ends when the caller leaves.
//
// The faults of a file are part of the answer. Errors: [*WalletError] for a file that is not
// there, has more than a million records, or takes too long; the context's.
type PreviewRestore struct {
	Asks[RestorePreview]

	Backup string  // path
	Name   *string // that the wallet is to have; nil: one is suggested
}

// RestorePreview is the answer to [PreviewRestore]. No private key is in it.
type RestorePreview struct {
	Size    int64  // of the file, in bytes
	Format  string // "sqlite", "bdb" for a legacy wallet, or "unknown"
	Problem string // why the wallet cannot be loaded, in the words of RestoreWallet; empty: it can

	// The rest is empty where there is a problem with the file.
	Partial      bool     // some records of the wallet cannot be read, or not be trusted
	RolledBack   bool     // a journal beside the file is a part of it: an interrupted change was rolled back
	FromLog      bool     // a write-ahead log beside the file is a part of it: its changes were taken over
	Warnings     []string // what RestoreWallet would warn of
	Version      *int32   // of the client that wrote it last, if that is there
	Flags        []string
	PrivateKeys  bool                // the file has private keys
	Encrypted    bool                // and they have a passphrase
	Descriptors  []PreviewDescriptor // the first thousand
	NDescriptors int
	Transactions int
	Labels       int           // addresses with a label
	Birth        time.Time     // of the oldest descriptor; zero without descriptors
	LastBlock    *PreviewBlock // that the wallet has seen; nil: none

	Plan RestorePlan

	// Beyond is what a look of some seconds has found behind the addresses that the restored wallet would derive.
	Beyond WalletBeyond
}

// PreviewDescriptor is a descriptor of a backup.
type PreviewDescriptor struct {
	Desc         string   // public, with checksum
	Fingerprints []string // of the keys at which its paths begin, each once
	Addresses    []string // the first ones
	Active       bool
	Internal     bool // where it is active: for change
	PrivateKeys  bool
	Birth        time.Time
	Ranged       bool
	Range        [2]int32 // first and last index, where it is ranged
	Next         int32    // index of the next address
}

// PreviewBlock is a block that a wallet has seen.
type PreviewBlock struct {
	Hash   chainhash.Hash
	Height int32 // -1: it is not in the active chain
}

// RestorePlan is what a restore would do now.
type RestorePlan struct {
	Name     string // of the wallet
	Problem  string // why a restore would fail, although the file is fine; empty: it would not
	From, To int32  // heights of the first and last block that it would look for
	Blocks   int32  // how many they are; 0: none, and From and To mean nothing
	Filters  bool   // by filters; else every block is read
	Fetch    int32  // blocks of those that are not on the disk
	Estimate time.Duration
}

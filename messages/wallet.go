package messages

import (
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// The requests of this file and of wallettx.go go to the actor of one wallet.
// They fail with a [*WalletError] where nothing else is said.

// BackupWallet copies the wallet's file to a path.
type BackupWallet struct {
	Asks[Done]

	Path string
}

// ExportWatchOnly writes a wallet's file without private keys, for a node that watches, to a path where there is
// nothing.
type ExportWatchOnly struct {
	Asks[Done]

	Path string
}

// GetWalletInfo asks for a summary of the wallet.
type GetWalletInfo struct{ Asks[WalletInfo] }

// WalletInfo is the answer to [GetWalletInfo].
type WalletInfo struct {
	Name                string
	Format              string // "sqlite"
	TxCount             int
	KeypoolSize         int
	KeypoolSizeInternal int
	Encrypted           bool
	UnlockedUntil       time.Time // zero: locked
	PrivateKeys         bool
	AvoidReuse          bool
	Scanning            bool
	ScanDuration        time.Duration
	ScanProgress        float64
	Blank               bool
	Birthtime           int64 // Unix time in seconds, where Born is set
	Born                bool
	Flags               []string
	PQC                 PQCValidation
	PayFee              btcutil.Amount // fee rate for 1000 virtual bytes that was set; 0: none
	LastProcessedHash   chainhash.Hash
	LastProcessedHeight int32
}

// PQCValidation tells how far the private keys of P2MR that lie unencrypted in
// the wallet's file have been checked against their public keys. It takes
// milliseconds for each, and goes on in the background.
type PQCValidation struct {
	Pending, Valid, Failed int
	Encrypted              bool // the wallet has a passphrase
}

// ListDescriptors asks for the wallet's descriptors.
type ListDescriptors struct {
	Asks[[]WalletDescriptor]

	Private bool // with private keys; the wallet must be unlocked
}

// WalletDescriptor is one descriptor of a wallet.
type WalletDescriptor struct {
	Desc      Secret // with checksum
	Timestamp int64  // seconds since 1970
	Active    bool
	Internal  bool // only meaningful when active
	Ranged    bool
	First     int32 // range, both included; only when ranged
	Last      int32
	Next      int32

	// Annotations that it was imported with (BIP393); nil: it had none. They are the height of the block at or after
	// which the first payment came, the number of unused indices that may follow a used one, the largest label index.
	BirthHeight, GapLimit, MaxLabel *uint64

	// NotExported is set when it is not to be shown: keys of P2MR are derived
	// from its extended keys, of which public ones tell nothing, and the network
	// has no other outputs.
	NotExported bool
}

// GetHDKeys asks for the extended keys in the wallet's descriptors.
type GetHDKeys struct {
	Asks[[]HDKey]

	ActiveOnly bool
	Private    bool
}

// HDKey is one extended key of a wallet.
type HDKey struct {
	XPub        string
	HasPrivate  bool
	XPrv        Secret // empty where it was not asked for or is not there
	Descriptors []HDKeyUse
}

// HDKeyUse is a descriptor that holds an extended key.
type HDKeyUse struct {
	Desc   string
	Active bool
}

// ImportDescriptors adds descriptors to the wallet, and rescans from the lowest
// timestamp. One result for each, in order.
type ImportDescriptors struct {
	Asks[[]ImportResult]

	Items []ImportItem
}

// ImportItem is one descriptor to import, checked as far as its shape goes.
type ImportItem struct {
	Desc      string // checksum required
	NoDesc    bool   // none was given
	Active    bool
	Range     *[2]int64 // as given: begin and end, both included; nil: not given
	RangeErr  error     // what is wrong with the range that was given
	NextIndex *int64
	Timestamp int64 // seconds; NowTimestamp for the tip's median time, BirthTimestamp for that of the birth height
	Internal  *bool // nil: not given
	Label     *string
}

// NowTimestamp in an ImportItem stands for the median time of the tip.
const NowTimestamp int64 = -1 << 62

// BirthTimestamp in an ImportItem stands for the time of the block at the birth height that the descriptor is annotated
// with (BIP393). Where the chain does not have that block yet, it is [NowTimestamp].
const BirthTimestamp int64 = NowTimestamp + 1

// ImportResult tells what became of one ImportItem.
type ImportResult struct {
	Err      *WalletError // nil: success
	Warnings []string
}

// CreateWalletDescriptor adds the active descriptors of an address type, derived
// from an extended key of the wallet.
type CreateWalletDescriptor struct {
	Asks[[]string]

	Type     string // legacy, p2sh-segwit, bech32, bech32m, p2mr
	Internal *bool  // nil: both receive and change
	HDKey    string // empty: the only one used by active descriptors
}

// AddHDKey adds an extended key to the wallet of which no addresses are made, as the descriptor unused(KEY). The
// answer is the text of its public key.
//
// Errors: [*WalletError].
type AddHDKey struct {
	Asks[string]

	Key *string // the text of an extended private key; nil: a random one
}

// DeriveHDKey derives an extended key from that of an active descriptor, or of unused(KEY). It does not change the
// wallet.
//
// Errors: [*WalletError].
type DeriveHDKey struct {
	Asks[DerivedHDKey]

	Path    []uint32 // hardened steps have the highest bit set
	HDKey   *string  // the text of the extended public key that the path begins at; nil: the only one
	Private bool
}

// DerivedHDKey is the answer to [DeriveHDKey].
type DerivedHDKey struct {
	Origin string // as it stands in descriptors: [d34db33f/87h]
	XPub   string
	XPrv   Secret // empty where it was not asked for
}

// NewAddress takes the next unused address of a type.
type NewAddress struct {
	Asks[string]

	Label   string
	Type    string // as given, known or not
	HasType bool   // false: the wallet's default
	Change  bool   // an address for change, without a label
}

// GetAddressInfo asks what the wallet knows of an address, or of a script where
// it has one.
type GetAddressInfo struct {
	Asks[AddressInfo]

	Script []byte
}

// AddressInfo is the answer to [GetAddressInfo].
type AddressInfo struct {
	IsMine     bool
	Solvable   bool
	Desc       string // of this script alone, public; empty where not solvable
	ParentDesc string // of the wallet; empty where there is none
	IsChange   bool
	Timestamp  int64 // 0: unknown
	HasPath    bool
	KeyPath    string // m/…
	SeedID     string
	MasterFP   string // 8 hex digits
	Labels     []string
	PubKey     []byte   // single-key scripts
	Redeem     []byte   // of P2SH and P2WSH, where it is known
	Witness    []byte   // of P2WSH within P2SH, where it is known
	Keys       [][]byte // of a multisig redeem script
	SigsNeeded int
	PQCKeys    []PQCUse // its keys of P2MR that the wallet can sign with, ascending
}

// SetLabel gives an address a label. A foreign address enters the address book
// as one to send to.
type SetLabel struct {
	Asks[Done]

	Address string
	Script  []byte
	Label   string
}

// ListLabels asks for the labels in use, sorted.
type ListLabels struct {
	Asks[[]string]

	Purpose string // "", "receive" or "send"
}

// GetAddressesByLabel asks for the addresses with a label.
type GetAddressesByLabel struct {
	Asks[[]LabelledAddress]

	Label string
}

// LabelledAddress is an entry of the address book.
type LabelledAddress struct{ Address, Purpose string }

// KeypoolRefill derives addresses ahead.
type KeypoolRefill struct {
	Asks[Done]

	Size int // 0: the wallet's default
}

// EncryptWallet encrypts the wallet's keys.
type EncryptWallet struct {
	Asks[Done]

	Passphrase Secret
}

// UnlockWallet makes the keys available for a time.
type UnlockWallet struct {
	Asks[Done]

	Passphrase Secret
	For        time.Duration
}

// LockWallet makes the keys unavailable.
type LockWallet struct{ Asks[Done] }

// ChangePassphrase replaces the passphrase.
type ChangePassphrase struct {
	Asks[Done]

	Old, New Secret
}

// Rescan looks through blocks for the wallet's transactions again.
type Rescan struct {
	Asks[Rescanned]

	Start int32
	Stop  *int32 // nil: the tip, which is followed
}

// Rescanned is the answer to [Rescan].
type Rescanned struct {
	Start int32
	Stop  *int32 // last block that was looked at; nil when none was
}

// AbortRescan ends the wallet's rescan; the answer is false when there was none.
type AbortRescan struct{ Control[bool] }

// SignWithWallet signs what it can of a transaction.
type SignWithWallet struct {
	Asks[Signed]

	RawTx    []byte
	Prevs    []PrevOut
	HashType string // "" for the default
}

// DisplayAddress has the signing device of a wallet show one of its addresses. It fails if
// the device shows another address.
//
// Errors: [*WalletError].
type DisplayAddress struct {
	Asks[Done]

	Script []byte
}

// SignMessage signs a message with the key of a P2PKH script. The signature has 65 bytes.
type SignMessage struct {
	Asks[[]byte]

	Script  []byte
	Message string
}

// SignDataHash signs the hash of data with a key behind a P2MR script of the wallet. It takes
// the first single-key leaf that the request allows and that the wallet can sign with.
//
// Errors: [*WalletError].
type SignDataHash struct {
	Asks[DataSignature]

	Script []byte
	Hash   [32]byte

	Key           *[32]byte // public key; nil: any
	Leaf, Control []byte    // leaf script and control block; nil: any
}

// DataSignature is a signature of data by a key behind a P2MR script, which proves itself.
type DataSignature struct {
	Key       [32]byte
	Signature []byte
	Leaf      []byte // the script with the key
	Control   []byte // proves that the leaf is behind the script
	PQCKeys   []PQCUse
}

// PrevOut is an output that a transaction to sign spends: an unspent one of the
// chain, or what the client says there is. Its amount is nil where it is not
// known.
type PrevOut struct {
	TxID          chainhash.Hash
	Index         uint32
	Script        []byte
	RedeemScript  []byte
	WitnessScript []byte
	Amount        *btcutil.Amount
}

// Signed is the answer to [SignWithWallet].
type Signed struct {
	RawTx    []byte
	Complete bool
	Errors   []SignError
	PQCKeys  []PQCUse // keys of P2MR that signed, ascending
}

// SignError is an input that is not signed.
type SignError struct {
	TxID      chainhash.Hash
	Index     uint32
	Witness   [][]byte
	ScriptSig []byte
	Sequence  uint32
	Text      string
}

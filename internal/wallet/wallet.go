// Package wallet keeps the state of one descriptor wallet: which scripts are
// its own, what its transactions did, what its addresses are called. It answers
// what Bitcoin Core's wallet answers, and changes what Core's changes, record
// by record.
//
// A [Wallet] is opened from what package walletfile loaded, or made by [Create].
// Blocks and transactions are handed to it; requests of package messages are
// answered from memory. What changed is taken with [Wallet.TakeChanges] and must
// be written before anybody is told.
//
// Balances, coins and what addresses received are kept up to date with every
// transaction, so that asking for them costs what the answer is long.
//
// The package is pure: no file, no clock, no network, no randomness. Times are
// Unix times in seconds and handed in. A Wallet belongs to one goroutine.
//
// Source: Bitcoin Core v30, src/wallet.
package wallet

import (
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

const (
	// timestampWindow is how far, in seconds, the time of a block may be
	// before that of the keys it pays to.
	timestampWindow = 2 * 60 * 60

	// noTime is a birth time that is not known.
	noTime int64 = math.MaxInt64
)

// A Change is a record of the file to be written or deleted.
type Change = records.Change

// Params are the choices of a network and of a node.
type Params struct {
	Name     string // by which clients address the wallet
	Network  *descriptor.Network
	CoinType uint32 // of BIP44: 0 on the main chain, 1 elsewhere
	Maturity int32  // blocks that must follow a coinbase before it can be spent
	KeyPool  int32  // number of addresses derived ahead, at least 1
	Types    AddressTypes

	// Version is what the file is marked with: that of the program whose format
	// is written.
	Version walletfile.Version
}

// AddressTypes names the types of new addresses where a request names none, as
// [CheckTypes] allows them.
type AddressTypes struct {
	Receive string // default: bech32, or what the chain has
	Change  string // default: that of Receive
}

// ParamsOf returns the parameters of a wallet on a network.
func ParamsOf(n *dialect.Network, name string, keyPool int32) Params {
	var coinType uint32
	if n.Name != "main" {
		coinType = 1
	}
	return Params{
		Name:     name,
		Network:  n.Descriptors(),
		CoinType: coinType,
		Maturity: int32(n.Params.CoinbaseMaturity),
		KeyPool:  keyPool,
		Version:  walletfile.Version(n.Software.Version),
	}
}

// Wallet is the state of one wallet.
type Wallet struct {
	params Params
	log    records.Log
	flags  *records.Flags

	sources []*source // in the order in which they came
	byID    map[chainhash.Hash]*source
	active  map[walletfile.Slot]*source
	scripts map[string]*script // own ones, and all that transactions pay to
	mine    [][]byte           // own scripts in the order in which they came

	made     map[chainhash.Hash][]*KeyBatch // keys for descriptors that are to come
	expanded map[chainhash.Hash]*KeyBatch   // scripts for the request that is carried out
	pubKeys  pubKeyPool

	// defaultType and changeType are those of new addresses if nothing is said.
	defaultType, changeType walletfile.OutputType

	masterKeys map[uint32]walletfile.MasterKey
	master     *walletfile.Secret // nil while locked

	txs          map[chainhash.Hash]*tx
	misfiled     int   // transactions of the file that stand under other ids: Core counts them
	ordered      []*tx // by order position
	orderPosNext int64
	spends       map[wire.OutPoint][]*tx
	byBlock      map[chainhash.Hash][]*tx // confirmed or conflicted there
	pool         map[*tx]bool             // in the mempool
	funds        funds

	book   *book.Book
	locked map[wire.OutPoint]bool // true: in the file

	tip       messages.Tip
	bestBlock walletfile.Locator
	birth     int64
	told      int64 // the birth time that is told, as Core does
}

func newWallet(p Params) *Wallet {
	p.KeyPool = max(p.KeyPool, 1)
	w := &Wallet{
		params:     p,
		byID:       make(map[chainhash.Hash]*source),
		made:       make(map[chainhash.Hash][]*KeyBatch),
		expanded:   make(map[chainhash.Hash]*KeyBatch),
		pubKeys:    newPubKeyPool(),
		active:     make(map[walletfile.Slot]*source),
		scripts:    make(map[string]*script),
		masterKeys: make(map[uint32]walletfile.MasterKey),
		txs:        make(map[chainhash.Hash]*tx),
		spends:     make(map[wire.OutPoint][]*tx),
		byBlock:    make(map[chainhash.Hash][]*tx),
		pool:       make(map[*tx]bool),
		funds:      newFunds(),
		locked:     make(map[wire.OutPoint]bool),
		tip:        messages.Tip{Height: -1},
		birth:      noTime,
		told:       noTime,
	}
	w.flags = records.NewFlags(0, &w.log)
	w.book = book.New(p.Network, &w.log)
	return w
}

// Flags returns what the wallet can and may do.
func (w *Wallet) Flags() walletfile.Flags { return w.flags.Value() }

// Close wipes the private keys. The wallet is of no use afterwards.
func (w *Wallet) Close() {
	w.Lock()
	w.DropKeys()
	for _, s := range w.sources {
		s.wipe()
	}
	w.log.Take()
}

// BirthTime returns the time before which no block concerns the wallet. It is
// false as long as there is neither a descriptor nor a transaction.
func (w *Wallet) BirthTime() (t int64, ok bool) { return w.birth, w.birth != noTime }

// bornBy notes that something of the wallet is from the given time.
func (w *Wallet) bornBy(t int64) {
	w.birth = min(w.birth, t)
	w.told = min(w.told, t)
}

// settleActive notes which descriptors are active when the wallet is ready, and
// again after each import. When one of those is imported again with an earlier
// time the birth time that is told moves, that of others moves when the wallet is
// loaded again: so Core tells it. What the wallet itself goes by moves always.
func (w *Wallet) settleActive() {
	for _, s := range w.activeSources() {
		s.settled = true
	}
}

// TakeChanges returns what must be written to the file, in one transaction and
// before anything is acknowledged, and forgets it. A wallet whose changes could
// not be written must be opened again.
func (w *Wallet) TakeChanges() []Change { return w.log.Take() }

// SetLabel gives an address a label. An address that is not the wallet's is one
// to send to.
//
// Errors: [*messages.WalletError].
func (w *Wallet) SetLabel(r messages.SetLabel) error {
	if err := book.CheckLabel(r.Label); err != nil {
		return err
	}
	purpose := book.PurposeSend
	if w.IsMine(r.Script) {
		purpose = book.PurposeReceive
	}
	w.book.SetLabel(r.Script, r.Label, purpose)
	return nil
}

// Labels returns the labels in use: see [book.Book.Labels].
func (w *Wallet) Labels(purpose string) []string { return w.book.Labels(purpose) }

// AddressesByLabel returns the addresses with a label: see
// [book.Book.AddressesByLabel].
func (w *Wallet) AddressesByLabel(label string) ([]messages.LabelledAddress, error) {
	return w.book.AddressesByLabel(label)
}

// needUnlocked fails while the wallet is locked.
func (w *Wallet) needUnlocked() error {
	if w.Locked() {
		return codes.Errorf(codes.UnlockNeeded,
			"Error: Please enter the wallet passphrase with walletpassphrase first.")
	}
	return nil
}

// unknownType fails for a type of address that there is not.
func unknownType(name string) *messages.WalletError {
	return codes.Errorf(codes.AddressOrKey, "Unknown address type '%s'", name)
}

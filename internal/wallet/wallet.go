// Package wallet keeps the state of one descriptor wallet: which scripts are
// its own, what its transactions did, what its addresses are called. It answers
// what Bitcoin Core's wallet answers, and changes what Core's changes, record
// by record.
//
// A [Wallet] is opened from what package walletfile loaded, or made by [Create].
// It is the facade of its pieces, which lie in packages of their own and know only
// what they ask of each other. The pieces are the secrets ([vault.Vault]), the
// descriptors and their scripts ([keys.Set], [keys.Pool]), the address book
// ([book.Book]), and what transactions did ([txs.Ledger], [txs.Reports]). Blocks,
// transactions and requests are handed to these. Changes are taken with
// [Wallet.TakeChanges] and must be written before anybody is notified.
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
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Params are the choices of a network and of a node.
type Params struct {
	Name     string // by which clients address the wallet
	Network  *descriptor.Network
	Kinds    dialect.Wallet // of addresses, and how long keys of theirs take
	CoinType uint32         // of BIP44: 0 on the main chain, 1 elsewhere
	Maturity int32          // blocks that must follow a coinbase before it can be spent
	KeyPool  int32          // number of addresses derived ahead, at least 1
	Types    keys.AddressTypes

	// OnlyConfirmed trusts no transaction that is not confirmed, the wallet's own neither.
	OnlyConfirmed bool

	// Version is what the file is marked with: that of the program whose format
	// is written.
	Version walletfile.Version
}

// ParamsOf returns the parameters of a wallet on a network.
func ParamsOf(n *dialect.Network, name string, keyPool int32) Params {
	return Params{
		Name:     name,
		Network:  n.Descriptors(),
		Kinds:    n.Wallet(),
		CoinType: n.CoinType(),
		Maturity: int32(n.Params.CoinbaseMaturity),
		KeyPool:  keyPool,
		Version:  walletfile.Version(n.Software.Version),
	}
}

// LoadOptions says how the file of such a wallet is read.
func (p *Params) LoadOptions() walletfile.LoadOptions {
	return walletfile.LoadOptions{
		Network: p.Network, MerkleRoots: p.Kinds.Has(descriptor.MerkleRoot), Mixed: p.Kinds.Answers.MixedKeys,
	}
}

// Wallet is the state of one wallet.
type Wallet struct {
	params Params
	log    *records.Log
	flags  *records.Flags

	vault    *vault.Vault
	book     *book.Book
	keys     *keys.Set
	pool     *keys.Pool
	importer *keys.Importer
	pubKeys  *keys.PubKeys
	txs      *txs.Ledger
	reports  *txs.Reports
	spending *txs.Spending
}

// owner is what a ledger sees of the keys.
type owner struct {
	*keys.Set
	*keys.Pool
}

// newWallet puts the pieces of a wallet together.
func newWallet(p Params, flags walletfile.Flags) *Wallet {
	w := &Wallet{params: p, log: new(records.Log)}
	w.flags = records.NewFlags(flags, w.log)
	w.vault = vault.New(w.log)
	w.book = book.New(p.Network, w.log)
	mine := new(owner)
	w.txs = txs.NewLedger(txs.Config{
		Network: p.Network, Maturity: p.Maturity, Log: w.log, Flags: w.flags, Owner: mine, Book: w.book,
		OnlyConfirmed: p.OnlyConfirmed, FeeEntries: p.Kinds.FeeEntries,
	})
	w.keys = keys.NewSet(keys.Params{
		Network: p.Network, Kinds: p.Kinds, CoinType: p.CoinType, KeyPool: p.KeyPool, Types: p.Types,
	}, w.flags, w.log, w.vault, w.book, w.txs)
	w.pool = keys.NewPool(w.keys, w.flags, w.txs)
	mine.Set, mine.Pool = w.keys, w.pool
	w.importer = keys.NewImporter(w.pool)
	w.pubKeys = keys.NewPubKeys(w.pool, w.txs)
	w.reports = txs.NewReports(w.txs, w.book, w.keys)
	w.spending = txs.NewSpending(w.txs, w.reports)
	return w
}

// Vault returns what holds the secrets.
func (w *Wallet) Vault() *vault.Vault { return w.vault }

// Keys returns the descriptors and the own scripts.
func (w *Wallet) Keys() *keys.Set { return w.keys }

// Pool returns what derives scripts ahead of their use.
func (w *Wallet) Pool() *keys.Pool { return w.pool }

// Importer returns what adds descriptors.
func (w *Wallet) Importer() *keys.Importer { return w.importer }

// PubKeys returns the imported public keys of P2MR.
func (w *Wallet) PubKeys() *keys.PubKeys { return w.pubKeys }

// Book returns the address book.
func (w *Wallet) Book() *book.Book { return w.book }

// Txs returns the transactions.
func (w *Wallet) Txs() *txs.Ledger { return w.txs }

// Reports returns what answers about transactions and coins.
func (w *Wallet) Reports() *txs.Reports { return w.reports }

// Spending returns the payer's view of the coins.
func (w *Wallet) Spending() *txs.Spending { return w.spending }

// Flags returns what the wallet can and may do.
func (w *Wallet) Flags() walletfile.Flags { return w.flags.Value() }

// Close wipes the private keys. The wallet is of no use afterwards.
func (w *Wallet) Close() {
	w.pool.Drop()
	w.vault.Close()
	w.log.Take()
}

// TakeChanges returns what must be written to the file, in one transaction and
// before anything is acknowledged, and forgets it. A wallet whose changes could
// not be written must be opened again.
func (w *Wallet) TakeChanges() []records.Change { return w.log.Take() }

// BirthTime returns the time before which no block concerns the wallet. It is
// false as long as there is neither a descriptor nor a transaction.
func (w *Wallet) BirthTime() (t int64, ok bool) {
	birth := min(w.keys.Birth(), w.txs.Birth())
	return birth, birth != keys.NoTime
}

// FirstRun reports whether a wallet has no descriptors although it should: the
// caller then makes them with [keys.Importer.Setup], as after creating one.
func (w *Wallet) FirstRun() bool {
	return w.keys.Len() == 0 && w.flags.Value()&(walletfile.DisablePrivateKeys|walletfile.Blank) == 0
}

// SetLabel gives an address a label. An address that is not the wallet's is one
// to send to.
//
// Errors: [*messages.WalletError].
func (w *Wallet) SetLabel(r messages.SetLabel) error {
	if err := book.CheckLabel(r.Label); err != nil {
		return err
	}
	purpose := book.PurposeSend
	if w.keys.IsMine(r.Script) {
		purpose = book.PurposeReceive
	}
	w.book.SetLabel(r.Script, r.Label, purpose)
	return nil
}

// Info returns a summary of the wallet, without what its owner knows better:
// until when it is unlocked, and whether it is being scanned.
func (w *Wallet) Info() messages.WalletInfo {
	tip := w.txs.Tip()
	info := messages.WalletInfo{
		Name:                w.params.Name,
		Format:              "sqlite",
		TxCount:             w.txs.Count(),
		Encrypted:           w.vault.Encrypted(),
		PrivateKeys:         !w.flags.Has(walletfile.DisablePrivateKeys),
		AvoidReuse:          w.flags.Has(walletfile.AvoidReuse),
		Blank:               w.flags.Has(walletfile.Blank),
		Flags:               w.flags.Value().Names(),
		LastProcessedHash:   tip.Hash,
		LastProcessedHeight: tip.Height,
		PQC:                 w.vault.Validation(),
	}
	if birth := min(w.keys.ReportedBirth(), w.txs.Birth()); birth != keys.NoTime {
		info.Birthtime, info.Born = birth, true
	}
	info.KeypoolSize, info.KeypoolSizeInternal = w.keys.PoolSizes()
	return info
}

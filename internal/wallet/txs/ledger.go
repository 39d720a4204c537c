// Package txs keeps what happened to a wallet: its transactions, what became of
// them, and the coins that they left it. [Ledger] follows the chain and the
// mempool; [Reports] answers from the ledger.
//
// The ledger asks its [Owner] which scripts are the wallet's.
package txs

import (
	"math"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
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

// Owner knows which scripts are the wallet's.
type Owner interface {
	IsMine(pkScript []byte) bool

	// Scripts returns all scripts of the wallet. The list only grows.
	Scripts() [][]byte

	// Used notes that an own script was paid to. Other scripts may become the
	// wallet's by that, at once or later.
	Used(pkScript []byte)

	// Birth returns the time before which none can have been paid to.
	Birth() int64
}

// Book is the address book as the ledger changes it.
type Book interface {
	Used(d book.Destination) bool
	MarkUsed(pkScript []byte) bool
	MarkPaid(d book.Destination, payee int)
}

// Config says whose transactions a ledger has.
type Config struct {
	Network  *descriptor.Network
	Maturity int32 // blocks that must follow a coinbase before it can be spent
	Log      *records.Log
	Flags    *records.Flags
	Owner    Owner
	Book     Book

	OnlyConfirmed bool // trust no transaction that is not confirmed
	FeeEntries    bool // the history has an entry for the fee of a transaction that pays change alone
}

// Ledger holds the transactions of a wallet.
type Ledger struct {
	cfg Config
	log *records.Log

	txs      map[chainhash.Hash]*tx
	wrongIDs int // transactions of the file that stand under other ids: Core counts them
	history  history
	spends   spends
	states   stateIndex
	payees   payees
	balances balances
	locks    *Locks

	at        position
	bestBlock walletfile.Locator
	birth     int64 // of the oldest transaction
	reach     int   // see Reach
}

// NewLedger returns a ledger without transactions, at no block.
func NewLedger(cfg Config) *Ledger {
	return &Ledger{
		cfg: cfg, log: cfg.Log,
		txs:      make(map[chainhash.Hash]*tx),
		spends:   make(spends),
		states:   newStateIndex(),
		history:  history{log: cfg.Log},
		payees:   newPayees(cfg),
		balances: newBalances(),
		locks:    newLocks(cfg.Log),
		at:       position{tip: messages.Tip{Height: -1}, maturity: cfg.Maturity},
		birth:    noTime,
	}
}

// Count returns the number of transactions, as Core counts them.
func (l *Ledger) Count() int { return len(l.txs) + l.wrongIDs }

// Locks returns the coins that are locked.
func (l *Ledger) Locks() *Locks { return l.locks }

// Birth returns the time of the oldest transaction; [math.MaxInt64] if there is
// none.
func (l *Ledger) Birth() int64 { return l.birth }

// Tip returns the last block that was processed. Its height is -1 before that.
func (l *Ledger) Tip() messages.Tip { return l.at.tip }

// SetTip makes a block the last processed block, which confirmations are
// counted from.
func (l *Ledger) SetTip(tip messages.Tip) {
	l.at.tip = tip
	l.balances.tip = tip.Height
}

// BestBlock returns the best block that is in the file: nil if there is none.
func (l *Ledger) BestBlock() walletfile.Locator { return l.bestBlock }

// SaveBestBlock writes the last block that was processed, by its locator.
func (l *Ledger) SaveBestBlock(locator walletfile.Locator) {
	l.bestBlock = locator
	l.log.Put(walletfile.BestBlock(nil))
	l.log.Put(walletfile.BestBlockNoMerkle(locator))
}

// paysMe reports whether a transaction pays to the wallet.
func (l *Ledger) paysMe(transaction *wire.MsgTx) bool {
	return slices.ContainsFunc(transaction.TxOut, func(out *wire.TxOut) bool {
		return l.cfg.Owner.IsMine(out.PkScript)
	})
}

// fromMe reports whether a transaction spends from the wallet.
func (l *Ledger) fromMe(transaction *wire.MsgTx) bool {
	return slices.ContainsFunc(transaction.TxIn, func(in *wire.TxIn) bool {
		return l.ownOutput(in.PreviousOutPoint) != nil
	})
}

// ownOutput returns an output of the wallet's transactions that is the
// wallet's, or nil.
func (l *Ledger) ownOutput(at wire.OutPoint) *output {
	t := l.txs[at.Hash]
	if t == nil || int64(at.Index) >= int64(len(t.outs)) || !t.outs[at.Index].to.mine {
		return nil
	}
	return t.outs[at.Index]
}

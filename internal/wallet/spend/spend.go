// Package spend builds the transactions by which a wallet pays: it works out the fee rate,
// has coins chosen (package coinselect), and adds inputs, change and lock time.
//
// [Build] is pure: a [Plan] holds all that it needs to know of wallet, memory pool and
// chain. It neither signs nor changes anything, so that it can run beside the wallet.
//
// Source: Bitcoin Core v30, src/wallet/spend.cpp, fees.cpp.
package spend

import (
	"fmt"
	"math/rand/v2"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/coinselect"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// FeeRate is a fee for 1000 virtual bytes.
type FeeRate = coinselect.FeeRate

// Options are an operator's choices for all wallets.
type Options struct {
	Fallback      FeeRate // where there is no estimate; 0: that is an error
	Pay           FeeRate // instead of an estimate; 0: none
	Min           FeeRate // the least that is paid
	Discard       FeeRate // at which change is not worth keeping
	LongTerm      FeeRate // below which more coins than needed may be spent
	MaxFee        int64   // of a transaction
	MaxGroupFee   int64   // what avoiding partial spends may cost; negative: never avoid them
	ConfTarget    int     // blocks
	Irreplaceable bool    // do not signal BIP125
	AvoidPartial  bool    // always spend all coins of an address together
	OnlyOld       bool    // do not spend unconfirmed change
	AnyChain      bool    // try what the memory pool's limits on chains refuse
	SignThreads   int     // inputs that are signed at once at most; 0: as many as there are cores
}

// DefaultOptions are those of Bitcoin Core.
func DefaultOptions() Options {
	return Options{Min: 1000, Discard: 10_000, LongTerm: 10_000, MaxFee: 10_000_000, ConfTarget: 6}
}

// A Coin is an output that may be spent.
type Coin struct {
	txs.Spendable

	Size   descriptor.InputSize
	Known  bool // Size is known
	Weight int  // of the input, as the request says; 0: by Size
	Given  bool // the request asks for it
}

// Change is where change goes.
type Change struct {
	Script []byte
	Size   descriptor.InputSize // of an input that spends it
	Known  bool                 // Size is known
	Err    error                // why there is no script
}

// A Plan is what there is to pay with.
type Plan struct {
	Request *messages.Spend
	Options Options
	Given   []Coin // in the order of the request
	Coins   []Coin // that may be chosen besides
	Change  Change
	Pool    messages.PoolClusters
	Tip     messages.Tip

	// GivenErr is why a coin of the request cannot be spent, where all coins are to be.
	GivenErr error

	Current bool // the tip is of the last hours, so that the lock time may be set by it

	// Dust returns the least value that an output may have.
	Dust func(out *wire.TxOut, rate FeeRate) int64

	Atom   string // the least amount, as texts name it: "sat"
	Scale  int    // how many units of weight a virtual byte has
	Random *rand.Rand

	Answers dialect.Answers // those of the network

	// Native reports whether an output has a form that Bitcoin's networks do not know, of which an input takes
	// NativeInput virtual bytes at least; nil: none has.
	Native      func(pkScript []byte) bool
	NativeInput int

	// TRUCSize is the most virtual bytes of a transaction of version 3, and TRUCChildSize if it spends
	// unconfirmed outputs (BIP431).
	TRUCSize, TRUCChildSize int
}

// leastWeight returns the least weight that an input is taken for which spends a coin.
func (p *Plan) leastWeight(pkScript []byte) int {
	if p.Native != nil && p.Native(pkScript) {
		return p.NativeInput * p.Scale
	}
	return 0
}

// Built is a transaction that is not signed.
type Built struct {
	Tx        *wire.MsgTx
	Fee       int64
	Change    int    // position, -1: none
	Reason    string // for the fee rate
	Weight    int    // when it is signed
	Algorithm coinselect.Algorithm
	Waste     int64

	// Grouped is the fee where all coins of an address are spent together, Single where
	// they need not be; both 0 where only one was looked at.
	Grouped, Single int64
}

// A refusal says in Core's words why there is no transaction.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

func refusalf(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// Build builds the transaction. A second time it spends whole addresses, where that
// costs no more than it may.
//
// Errors: in Core's words.
func Build(p *Plan) (*Built, error) {
	if p.Request.All != nil {
		return buildAll(p)
	}
	if err := checkPayments(p.Request.Payments); err != nil {
		return nil, err
	}
	avoid := p.Request.AvoidPartial || p.Options.AvoidPartial
	first, err := (&builder{Plan: p, avoidPartial: avoid}).build()
	if err != nil || first.Fee == 0 || avoid || p.Options.MaxGroupFee < 0 {
		return first, err
	}
	whole, err := (&builder{Plan: p, avoidPartial: true}).build()
	if err != nil {
		return first, nil //nolint:nilerr // it goes without
	}
	first.Single, first.Grouped = first.Fee, whole.Fee
	if whole.Fee <= first.Fee+p.Options.MaxGroupFee {
		whole.Single, whole.Grouped = first.Fee, whole.Fee
		return whole, nil
	}
	return first, nil
}

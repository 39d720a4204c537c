// Package coinselect chooses which coins a wallet spends.
//
// [Choose] gathers coins into groups that are spent together, and tries ever less
// careful sets of groups. In each set several searches look for a choice, and the
// choice with the least waste is taken. Waste is the cost of the inputs above their
// cost at a long term fee rate, plus the cost of change or, without change, the amount
// paid above the target.
//
// Branch and bound ([searchExact]) looks for a choice that needs no change. Where fees
// are high, [searchLightest] looks for the lightest choice with change. The other
// searches are a random draw ([draw]) and the approximation of a subset sum
// ([approximate]).
//
// The package is pure: its only randomness is what it is handed. Amounts are in the
// smallest unit, sizes in virtual bytes where nothing else is said.
//
// Source: Bitcoin Core v30, src/wallet/coinselection.h, spend.cpp.
package coinselect

import "github.com/btcsuite/btcd/wire"

// A FeeRate is a fee for 1000 virtual bytes.
type FeeRate int64

// Fee returns the fee of a size, rounded up.
func (r FeeRate) Fee(size int) int64 {
	fee := int64(r) * int64(size)
	if fee > 0 {
		return (fee + 999) / 1000
	}
	return fee / 1000
}

// Kind is the kind of address that a coin is on. Coins of one kind are spent together
// where that is possible, in the order of the values.
type Kind int

// The kinds.
const (
	Legacy Kind = iota
	P2SHSegwit
	Bech32
	Bech32m
	MerkleRoot
	OtherKind
)

// A Coin is an output that can be spent.
type Coin struct {
	At     wire.OutPoint
	Value  int64
	Script []byte
	Kind   Kind
	Size   int   // of the input that spends it, signed; negative: not known
	Depth  int32 // confirmations
	Own    bool  // of a transaction of the wallet's own

	// Ancestors is how many unconfirmed transactions it depends on, its own included. Descendants is the most that any
	// of them would have or, where the memory pool limits clusters, the transactions of its cluster.
	Ancestors, Descendants int

	// Bump is what must be paid for its unconfirmed ancestors, so that they do not
	// hold it up.
	Bump int64
}

// fee returns what it costs to spend the coin.
func (c *Coin) fee(rate FeeRate) int64 { return rate.Fee(max(c.Size, 0)) + c.Bump }

// Effective returns what the coin is worth when what it costs to spend it is taken off.
func (c *Coin) Effective(rate FeeRate) int64 { return c.Value - c.fee(rate) }

// weight returns how much the input weighs, where a virtual byte has scale units of weight.
func (c *Coin) weight(scale int) int { return max(c.Size, 0) * scale }

// Params has the amount to be paid, and the rules by which coins are chosen.
type Params struct {
	Target int64 // what the coins must come to: the payments, and the fee of all but the inputs

	// SubtractFee is set when the fee is taken from the payments: coins count for their
	// value then.
	SubtractFee bool

	Rate         FeeRate // of the transaction
	LongTermRate FeeRate // at which inputs cost nothing extra

	FixedSize    int   // of all but inputs and change
	ChangeSize   int   // of the output of change
	ChangeFee    int64 // of that output
	ChangeCost   int64 // of that output, and of spending it later
	ChangeTarget int64 // what change should come to at least
	MinChange    int64 // less is not worth an output
	MaxWeight    int   // of the transaction

	MaxChildWeight int // of a transaction of version 3 that spends what is not confirmed
	Scale          int // how many units of weight a virtual byte has

	AvoidPartial bool // spend all coins of a script together
	Unsafe       bool // spend unconfirmed coins of others too
	Version3     bool // the transaction is of version 3 (TRUC)

	MaxAncestors, MaxDescendants int // limits of the memory pool
	NoUnconfirmed                bool
	IgnoreChains                 bool // try what the limits of the memory pool may refuse

	// ByPlace has the search for coins without change count the places of its tree, and keep apart groups of one amount
	// whose fees differ. Else it counts the groups that it adds.
	ByPlace bool

	// Combined returns what must be paid for the unconfirmed ancestors of some coins
	// together, which may be less than the sum of their Bumps. It is false where there
	// are too many to tell. Nil: the sum.
	Combined func(coins []wire.OutPoint) (int64, bool)
}

// amount returns what a coin counts for.
func (p *Params) amount(c *Coin) int64 {
	if p.SubtractFee {
		return c.Value
	}
	return c.Effective(p.Rate)
}

// Package txpool is the pool of unconfirmed transactions as a pure state
// machine: what it takes in, what it evicts, which of its transactions make the
// best block.
//
// Its policy and the words of its refusals are Bitcoin Core 30.2's
// (src/validation.cpp, txmempool.cpp, policy/). They cover standardness, dust,
// minimum fees, replacement by fee, limits of ancestors and descendants, TRUC
// (BIP431), ephemeral dust, packages of a child with its parents. Scripts are
// executed by what [Rules] brings.
//
// A [Pool] belongs to one goroutine. It knows no clock, chain or disk: the time,
// the tip and the coins of the chain are handed in.
package txpool

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/messages"
)

// Rules are the consensus rules of a network that concern single transactions.
type Rules struct {
	consensus.Rules
	Forms

	Unit string // of amounts, as texts name it: "BTC"

	// ZeroFeeParents has a child pay for a parent below the least fee rate, whatever the version of the parent; else
	// only for parents of version 3.
	ZeroFeeParents bool

	// TellsInputs has a transaction with inputs that are not standard told which input it is, and why.
	TellsInputs bool

	// Verify runs the scripts of all inputs with the outputs they spend, by the
	// rules for transactions that are relayed, for a block at height. The error is
	// in Core's words and says which input it is about.
	Verify func(tx *wire.MsgTx, spent []*wire.TxOut, height int32) error

	// VerifyVersion tells apart which rules Verify applies at a height; nil: the same at all.
	VerifyVersion func(height int32) int
}

// Forms are those of outputs that Bitcoin leaves to later rules, and that a network
// has given a meaning.
type Forms struct {
	// Native reports whether an output of such a form can be spent. Nil: none can.
	Native func(script []byte) bool

	// NativeInput is the size of an input that spends such an output, and
	// NativeWitness reports whether a witness of one is of a standard form.
	NativeInput   int
	NativeWitness func(witness wire.TxWitness) bool

	// TRUCSize is the most virtual bytes of a transaction of version 3, and TRUCChildSize if it spends
	// unconfirmed outputs (BIP431).
	TRUCSize, TRUCChildSize int64
}

// Policy is what an operator chooses. [DefaultPolicy] has Core's defaults.
type Policy struct {
	MinRelayFee     FeeRate
	IncrementalFee  FeeRate // what a replacement must add
	DustFee         FeeRate // defines dust
	MaxBytes        int64   // of memory
	Expiry          int64   // seconds until a transaction is dropped
	RequireStandard bool
	BareMultisig    bool  // such outputs are standard
	DataCarrier     int   // bytes of scripts that carry data; 0: none
	BytesPerSigOp   int64 // that a signature operation counts for
	Limits          Limits

	Order Order
	Seed  uint64 // of the search for the order of clusters: peers cannot know which take long
}

// Limits bound what a transaction may depend on, and what may depend on it,
// itself included.
type Limits struct {
	Ancestors, Descendants         int
	AncestorVSize, DescendantVSize int64

	// By clusters these are the limits, of transactions and of their virtual sizes.
	Cluster      int
	ClusterVSize int64
}

// DefaultPolicy returns the policy of Core 30.2.
func DefaultPolicy() Policy {
	return Policy{
		MinRelayFee: PerKvB(100), IncrementalFee: PerKvB(100), DustFee: PerKvB(3000),
		MaxBytes: 300_000_000, Expiry: 336 * 60 * 60,
		RequireStandard: true, BareMultisig: true, DataCarrier: 100_000, BytesPerSigOp: 20,
		Limits: Limits{
			Ancestors: 25, Descendants: 25, AncestorVSize: 101_000, DescendantVSize: 101_000,
			Cluster: 64, ClusterVSize: 101_000,
		},
	}
}

// Coins are outputs of the active chain that are not spent.
type Coins map[wire.OutPoint]messages.Coin

// Now is the moment at which something is checked.
type Now struct {
	Tip  *chainview.Block // that the pool is at
	Time int64            // seconds since 1970
}

// Change is what happened to the pool, in order.
type Change = messages.PoolChange

func ids(entries []*Entry) []chainhash.Hash {
	list := make([]chainhash.Hash, len(entries))
	for i, e := range entries {
		list[i] = e.ID
	}
	return list
}

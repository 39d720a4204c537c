package trawl

import (
	"cmp"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/txpool"
)

// MempoolConfig says which unconfirmed transactions a node keeps and relays. The
// defaults are those of Bitcoin Core 30.2. Fees are in the smallest unit, for
// 1000 virtual bytes.
type MempoolConfig struct {
	MaxBytes       int64         // of memory, default 300,000,000
	Expiry         time.Duration // after which a transaction is dropped, default 336 hours
	MinRelayFee    *int64        // default: the network's, 100 on Bitcoin's
	IncrementalFee *int64        // what a replacement must add, default: the network's, 100 on Bitcoin's
	DustFee        *int64        // defines dust, default: the network's, 3000 on Bitcoin's

	AcceptNonStandard bool // also take what is valid and not of a standard form
	NoBareMultisig    bool // such outputs are not standard
	DataCarrier       *int // bytes of scripts that carry data, default 100,000
	BytesPerSigOp     int  // virtual bytes that a signature operation counts for, default 20

	// Limits of what a transaction may depend on, and what may depend on it,
	// itself included: default 25 transactions and 101,000 virtual bytes.
	Ancestors, Descendants         int
	AncestorVSize, DescendantVSize int64

	NoPersist bool // do not keep the pool in a file between two runs
	OldFile   bool // write that file in the format of old versions
}

// policy returns what the pool of a network is told.
func (c *MempoolConfig) policy(n *dialect.Network) txpool.Policy {
	p := txpool.DefaultPolicy()
	p.Limits.AncestorVSize, p.Limits.DescendantVSize = n.ChainVSize, n.ChainVSize
	p.MinRelayFee, p.IncrementalFee = txpool.PerKvB(int64(n.RelayFee)), txpool.PerKvB(int64(n.IncrementalFee))
	p.DustFee = txpool.PerKvB(int64(n.DustRate))
	p.MaxBytes = cmp.Or(c.MaxBytes, p.MaxBytes)
	p.Expiry = cmp.Or(int64(c.Expiry/time.Second), p.Expiry)
	for _, rate := range []struct {
		from *int64
		to   *txpool.FeeRate
	}{{c.MinRelayFee, &p.MinRelayFee}, {c.IncrementalFee, &p.IncrementalFee}, {c.DustFee, &p.DustFee}} {
		if rate.from != nil {
			*rate.to = txpool.PerKvB(*rate.from)
		}
	}
	p.RequireStandard, p.BareMultisig = !c.AcceptNonStandard, !c.NoBareMultisig
	if c.DataCarrier != nil {
		p.DataCarrier = *c.DataCarrier
	}
	p.BytesPerSigOp = cmp.Or(int64(c.BytesPerSigOp), p.BytesPerSigOp)
	p.Limits.Ancestors = cmp.Or(c.Ancestors, p.Limits.Ancestors)
	p.Limits.Descendants = cmp.Or(c.Descendants, p.Limits.Descendants)
	p.Limits.AncestorVSize = cmp.Or(c.AncestorVSize, p.Limits.AncestorVSize)
	p.Limits.DescendantVSize = cmp.Or(c.DescendantVSize, p.Limits.DescendantVSize)
	return p
}

// txRules are the rules of a network that concern single transactions.
func txRules(n *dialect.Network) txpool.Rules {
	rules := txpool.Rules{
		MaxMoney: int64(n.MaxMoney), Maturity: int32(n.Params.CoinbaseMaturity),
		MaxWeight: int64(n.MaxBlockWeight), MaxSigOps: int64(n.MaxBlockSigOps), WitnessScale: int64(n.WitnessScale),
		Verify: func(tx *wire.MsgTx, spent []*wire.TxOut, _ int32) error { return rawtx.Verify(tx, spent) },
	}
	if n.P2MR != nil {
		rules.MayPayTo = n.MayPayTo
		rules.Native, rules.NativeInput, rules.NativeWitness = isP2MR, p2mrInput, vm.Standard
		rules.Verify = p2mrVerifier(n)
	}
	return rules
}

// p2mrInput is the size of an input that spends a P2MR output with one signature:
// the outpoint, an empty script, the sequence, and the witness with a byte for the
// hash type.
const p2mrInput = 32 + 4 + 1 + 4 + 1 + 3 + slhdsa.SignatureSize + 1 + 1 + 34 + 1 + 1

func isP2MR(script []byte) bool { _, is := p2mr.ParseOutputScript(script); return is }

// p2mrVerifier runs the scripts of inputs that spend P2MR outputs, and all others by
// Bitcoin's rules.
func p2mrVerifier(n *dialect.Network) func(*wire.MsgTx, []*wire.TxOut, int32) error {
	return func(tx *wire.MsgTx, spent []*wire.TxOut, height int32) error {
		others := script.NewSpend(tx, spent)
		hasher, err := p2mr.NewSigHasher(tx, spent)
		if err != nil {
			return err
		}
		rules := vm.Rules{Policy: true, WeightV1: height < n.P2MR.WeightV2}
		for i, out := range spent {
			var err error
			if root, ok := p2mr.ParseOutputScript(out.PkScript); ok {
				spend := vm.Spend{Tx: tx, Input: i, Program: root, Hasher: hasher, Rules: rules}
				err = spend.Verify()
			} else {
				err = others.VerifyInput(i, script.Standard|script.ReservedNOP4)
			}
			if err != nil {
				return &rawtx.InputScriptError{Tx: tx, Index: i, Err: err}
			}
		}
		return nil
	}
}

// Package poolrules makes the rules by which the memory pool of a network judges single
// transactions.
package poolrules

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/txpool"
)

// Of returns the rules of a network.
func Of(n *dialect.Network) txpool.Rules {
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

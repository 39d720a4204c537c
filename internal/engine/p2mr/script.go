package p2mr

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/store/blockfile"
)

// A scriptCheck is a transaction with the coins that it spends.
type scriptCheck struct {
	tx    *wire.MsgTx
	spent []blockfile.Coin
}

// checkScripts executes the scripts of a block's transactions on all processors.
func (e *Engine) checkScripts(checks []scriptCheck, height int32) error {
	err := cores.Do(context.Background(), len(checks), func(i int) error { return e.checkScript(&checks[i], height) })
	if err != nil {
		return reject(fmt.Sprintf("block-script-verify-flag-failed (%s)", scriptReason(err)), err.Error())
	}
	return nil
}

// checkScript executes the scripts of one transaction.
func (e *Engine) checkScript(c *scriptCheck, height int32) error {
	prevOuts := make([]*wire.TxOut, len(c.spent))
	all := make(map[wire.OutPoint]*wire.TxOut, len(c.spent))
	for i, coin := range c.spent {
		prevOuts[i] = wire.NewTxOut(coin.Amount, coin.Script)
		all[c.tx.TxIn[i].PreviousOutPoint] = prevOuts[i]
	}
	hasher, err := p2mr.NewSigHasher(c.tx, prevOuts)
	if err != nil {
		return err
	}
	var hashes *txscript.TxSigHashes // made for old scripts alone
	fetcher := txscript.NewMultiPrevOutFetcher(all)
	for i, out := range prevOuts {
		if root, ok := p2mr.ParseOutputScript(out.PkScript); ok && height >= e.rules.Spends {
			spend := vm.Spend{Tx: c.tx, Input: i, Program: root, Hasher: hasher, Rules: e.scriptRules(height)}
			if err := spend.Verify(); err != nil {
				return err
			}
			continue
		}
		if hashes == nil {
			hashes = txscript.NewTxSigHashes(c.tx, fetcher)
		}
		machine, err := txscript.NewEngine(out.PkScript, c.tx, i, e.scriptFlags(height), nil, hashes, out.Value, fetcher)
		if err != nil {
			return err
		}
		if err := (&oldScript{Engine: machine}).execute(c.tx.TxIn[i], out); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) scriptRules(height int32) vm.Rules {
	return vm.Rules{
		WeightV1:    height < e.rules.WeightV2,
		NoCheckLock: !e.net.Active("bip65", height),
		NoCheckSeq:  !e.net.Active("csv", height),
	}
}

// scriptFlags are the rules of scripts that are older than P2MR, of which only
// regtests without restriction have any.
func (e *Engine) scriptFlags(height int32) txscript.ScriptFlags {
	flags := txscript.ScriptBip16 | txscript.ScriptVerifyWitness | txscript.ScriptVerifyTaproot
	for rule, flag := range map[string]txscript.ScriptFlags{
		"bip66": txscript.ScriptVerifyDERSignatures, "bip65": txscript.ScriptVerifyCheckLockTimeVerify,
		"csv": txscript.ScriptVerifyCheckSequenceVerify, "segwit": txscript.ScriptStrictMultiSig,
	} {
		if e.net.Active(rule, height) {
			flags |= flag
		}
	}
	return flags
}

// scriptReason is the reference's text for a script error.
func scriptReason(err error) string {
	var own vm.Error
	if errors.As(err, &own) {
		return own.Error()
	}
	return rawtx.ScriptReason(err)
}

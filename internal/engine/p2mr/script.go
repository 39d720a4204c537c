package p2mr

import (
	"context"
	"fmt"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
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
		return reject(fmt.Sprintf("block-script-verify-flag-failed (%v)", err), err.Error())
	}
	return nil
}

// checkScript executes the scripts of one transaction.
func (e *Engine) checkScript(c *scriptCheck, height int32) error {
	prevOuts := make([]*wire.TxOut, len(c.spent))
	for i, coin := range c.spent {
		prevOuts[i] = wire.NewTxOut(coin.Amount, coin.Script)
	}
	hasher, err := p2mr.NewSigHasher(c.tx, prevOuts)
	if err != nil {
		return err
	}
	old := script.NewSpend(c.tx, prevOuts)
	for i, out := range prevOuts {
		if root, ok := p2mr.ParseOutputScript(out.PkScript); ok && height >= e.rules.Spends {
			spend := vm.Spend{Tx: c.tx, Input: i, Program: root, Hasher: hasher, Rules: e.scriptRules(height)}
			err = spend.Verify()
		} else {
			err = old.VerifyInput(i, e.scriptFlags(height))
		}
		if err != nil {
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
func (e *Engine) scriptFlags(height int32) script.Flags {
	flags := script.P2SH | script.Witness | script.Taproot | script.ReservedNOP4
	for rule, flag := range map[string]script.Flags{
		"bip66": script.DERSig, "bip65": script.CheckLockTimeVerify, "csv": script.CheckSequenceVerify,
		"segwit": script.NullDummy,
	} {
		if e.net.Active(rule, height) {
			flags |= flag
		}
	}
	return flags
}

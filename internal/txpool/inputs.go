package txpool

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/messages"
)

// checkStandardInputs refuses to spend forms of outputs whose rules may change, or that
// cost much to check.
func (k *checks) checkStandardInputs(tx *wire.MsgTx, spent []*wire.TxOut) *messages.TxReject {
	why := oddInputs(tx, spent, k.rules.Native)
	switch {
	case why == "":
		return nil
	case !k.rules.TellsInputs:
		why = ""
	}
	return refuse(messages.TxInputsNotStandard, "bad-txns-nonstandard-inputs", why)
}

// oddInputs says which input is not standard and why, in Core's words; empty: all are.
func oddInputs(tx *wire.MsgTx, spent []*wire.TxOut, native func(pkScript []byte) bool) string {
	sigOps := 0 // there is none in what pushes alone
	for i, in := range tx.TxIn {
		if pkScript := spent[i].PkScript; script.IsPayToScriptHash(pkScript) {
			sigOps += script.P2SHSigOps(in.SignatureScript, pkScript)
		} else {
			sigOps += script.SigOps(pkScript, true)
		}
		if sigOps > maxLegacySigOps {
			return "non-witness sigops exceed bip54 limit"
		}
	}
	for i, in := range tx.TxIn {
		switch descriptor.ScriptType(spent[i].PkScript) {
		case formNonStandard:
			return fmt.Sprintf("input %d script unknown", i)
		case formUnknown:
			if native == nil || !native(spent[i].PkScript) {
				return fmt.Sprintf("input %d witness program is undefined", i)
			}
		case formScriptHash:
			if why := oddRedeem(in.SignatureScript, i); why != "" {
				return why
			}
		}
	}
	return ""
}

// oddRedeem says why the redeem script of an input is not standard.
func oddRedeem(sigScript []byte, input int) string {
	redeem, err := lastPush(sigScript)
	switch sigOps := script.SigOps(redeem, true); {
	case errors.Is(err, errNoPush):
		return fmt.Sprintf("input %d P2SH redeemscript missing", input)
	case err != nil:
		return fmt.Sprintf("p2sh scriptsig malformed (input %d: %v)", input, err)
	case sigOps > maxRedeemSigOps:
		return fmt.Sprintf("p2sh redeemscript sigops exceed limit (input %d: %d > %d)", input, sigOps, maxRedeemSigOps)
	}
	return ""
}

// errNoPush reports a script that leaves nothing on the stack.
var errNoPush = errors.New("nothing is pushed")

// lastPush returns what a script of pushes leaves on top of the stack.
//
// Errors: errNoPush, those of the interpreter.
func lastPush(sigScript []byte) ([]byte, error) {
	var last []byte
	pushes := 0
	tokens := txscript.MakeScriptTokenizer(0, sigScript)
	for ; tokens.Next(); pushes++ {
		op := tokens.Opcode()
		switch {
		case pushes == txscript.MaxStackSize:
			return nil, script.ErrStackSize
		case len(tokens.Data()) > txscript.MaxScriptElementSize:
			return nil, script.ErrPushSize
		case op > txscript.OP_16 || op == txscript.OP_RESERVED:
			return nil, script.ErrBadOpcode
		case op == txscript.OP_1NEGATE:
			last = []byte{0x81}
		case op >= txscript.OP_1:
			last = []byte{op - txscript.OP_1 + 1}
		default:
			last = tokens.Data()
		}
	}
	switch {
	case tokens.Err() != nil:
		return nil, script.ErrBadOpcode
	case pushes == 0:
		return nil, errNoPush
	}
	return last, nil
}

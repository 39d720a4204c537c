package txpool

import (
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/messages"
)

// Limits of standard transactions (src/policy/policy.h).
const (
	minStandardVersion, maxStandardVersion = 1, 3

	maxStandardWeight    = 400_000
	maxStandardScriptSig = 1650
	minStandardSize      = 65 // without witnesses
	maxStandardSigOps    = 16_000
	maxLegacySigOps      = 2500 // of all inputs (BIP54)
	maxRedeemSigOps      = 15
	maxMultisigKeys      = 3
	maxDustOutputs       = 1

	maxWitnessItems  = 100 // of a P2WSH input
	maxWitnessItem   = 80
	maxWitnessScript = 3600
	maxTapscriptItem = 80
)

// Forms of scripts, as package descriptor names them.
const (
	formNonStandard = "nonstandard"
	formAnchor      = "anchor"
	formScriptHash  = "scripthash"
	formMultisig    = "multisig"
	formNullData    = "nulldata"
	formUnknown     = "witness_unknown"
)

func refuse(kind messages.TxRejectKind, reason, debug string) *messages.TxReject {
	return &messages.TxReject{Kind: kind, Reason: reason, Debug: debug}
}

func nonStandard(reason string) *messages.TxReject {
	return refuse(messages.TxNotStandard, reason, "")
}

// checkStandard refuses forms of transactions that are not relayed.
func (k *checks) checkStandard(tx *wire.MsgTx, weight int64) *messages.TxReject {
	if v := uint32(tx.Version); v < minStandardVersion || v > maxStandardVersion {
		return nonStandard("version")
	}
	if weight > maxStandardWeight {
		return nonStandard("tx-size")
	}
	for _, in := range tx.TxIn {
		if len(in.SignatureScript) > maxStandardScriptSig {
			return nonStandard("scriptsig-size")
		}
		if !script.IsPushOnly(in.SignatureScript) {
			return nonStandard("scriptsig-not-pushonly")
		}
	}
	carried := 0
	for _, out := range tx.TxOut {
		if k.rules.IsKept != nil && k.rules.IsKept(out.PkScript) {
			return nonStandard("scriptpubkey")
		}
		switch form := descriptor.ScriptType(out.PkScript); form {
		case formNonStandard:
			return nonStandard("scriptpubkey")
		case formNullData:
			if carried += len(out.PkScript); carried > k.policy.DataCarrier {
				return nonStandard("datacarrier")
			}
		case formMultisig:
			if keys := int(out.PkScript[len(out.PkScript)-2]) - txscript.OP_1 + 1; keys < 1 || keys > maxMultisigKeys {
				return nonStandard("scriptpubkey")
			}
			if !k.policy.BareMultisig {
				return nonStandard("bare-multisig")
			}
		}
	}
	if len(k.dust(tx)) > maxDustOutputs {
		return nonStandard("dust")
	}
	return nil
}

// dust returns the outputs that cost more to spend than they are worth.
func (k *checks) dust(tx *wire.MsgTx) []uint32 {
	var found []uint32
	for i, out := range tx.TxOut {
		if out.Value < k.dustLimit(out) {
			found = append(found, uint32(i))
		}
	}
	return found
}

// The size of what spends an output: an input with a signature and a key.
const (
	bareInputSize = 32 + 4 + 1 + 4
	signatureSize = 107
)

func (k *checks) dustLimit(out *wire.TxOut) int64 {
	return DustLimit(k.rules, k.policy.DustFee, out)
}

// DustLimit returns the least value of an output that is worth spending at a fee rate.
func DustLimit(rules Rules, rate FeeRate, out *wire.TxOut) int64 {
	if unspendable(out.PkScript) {
		return 0
	}
	size := out.SerializeSize()
	switch {
	case rules.Native != nil && rules.Native(out.PkScript):
		size += rules.NativeInput
	case txscript.IsWitnessProgram(out.PkScript):
		size += bareInputSize + signatureSize/int(rules.WitnessScale)
	default:
		size += bareInputSize + signatureSize
	}
	return rate.Fee(int64(size))
}

func unspendable(script []byte) bool {
	return len(script) > 0 && script[0] == txscript.OP_RETURN || len(script) > txscript.MaxScriptSize
}

// checkWitness refuses witnesses that are larger than standard scripts need.
func (k *checks) checkWitness(tx *wire.MsgTx, spent []*wire.TxOut) *messages.TxReject {
	for i, in := range tx.TxIn {
		if len(in.Witness) > 0 && !k.standardWitness(in, spent[i].PkScript) {
			return refuse(messages.TxWitnessMutated, "bad-witness-nonstandard", "")
		}
	}
	return nil
}

func (k *checks) standardWitness(in *wire.TxIn, script []byte) bool {
	if k.rules.Native != nil && k.rules.Native(script) {
		return k.rules.NativeWitness(in.Witness)
	}
	if descriptor.ScriptType(script) == formAnchor {
		return false
	}
	nested := txscript.IsPayToScriptHash(script)
	if nested { // with a redeem script, or its form of input had been refused
		script, _ = lastPush(in.SignatureScript)
	}
	switch {
	case !txscript.IsWitnessProgram(script):
		return false
	case txscript.IsPayToWitnessScriptHash(script):
		return standardScriptHash(in.Witness)
	case txscript.IsPayToTaproot(script) && !nested:
		return standardTaproot(in.Witness)
	}
	return true
}

func standardScriptHash(witness wire.TxWitness) bool {
	last := len(witness) - 1
	return len(witness[last]) <= maxWitnessScript && last <= maxWitnessItems && allShort(witness[:last], maxWitnessItem)
}

func standardTaproot(witness wire.TxWitness) bool {
	n := len(witness)
	if n < 2 {
		return true
	}
	if last := witness[n-1]; len(last) > 0 && last[0] == txscript.TaprootAnnexTag {
		return false
	}
	control := witness[n-1]
	if len(control) == 0 {
		return false
	}
	tapscript := control[0]&txscript.TaprootLeafMask == byte(txscript.BaseLeafVersion)
	return !tapscript || allShort(witness[:n-2], maxTapscriptItem)
}

func allShort(items [][]byte, limit int) bool {
	for _, item := range items {
		if len(item) > limit {
			return false
		}
	}
	return true
}

// spendsWitness reports whether some input needs a witness. A transaction
// without any that fails may have lost it on its way.
func spendsWitness(tx *wire.MsgTx, spent []*wire.TxOut) bool {
	for i, in := range tx.TxIn {
		script := spent[i].PkScript
		if txscript.IsWitnessProgram(script) && descriptor.ScriptType(script) != formAnchor {
			return true
		}
		if !txscript.IsPayToScriptHash(script) {
			continue
		}
		if redeem, err := lastPush(in.SignatureScript); err == nil && txscript.IsWitnessProgram(redeem) {
			return true
		}
	}
	return false
}

// sigOpCost returns what the signature operations of a transaction count for in
// a block.
func (k *checks) sigOpCost(tx *wire.MsgTx, spent []*wire.TxOut) int64 {
	outside, inside := script.CountSigOps(tx, spent, script.Standard)
	return int64(outside)*k.rules.WitnessScale + int64(inside)
}

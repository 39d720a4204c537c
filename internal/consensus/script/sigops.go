package script

import "github.com/btcsuite/btcd/wire"

// witnessScale is how much more a signature check outside of a witness counts.
const witnessScale = 4

// SigOps returns how many signature checks are counted for a script, up to where
// it cannot be read. An accurate count knows how many keys a multisig script
// has; else each counts as 20.
func SigOps(script []byte, accurate bool) int {
	n := 0
	last := byte(0xff)
	for at := 0; at < len(script); {
		op, _, end, good := next(script, at)
		if !good {
			break
		}
		switch op {
		case opCheckSig, opCheckSigVerify:
			n++
		case opCheckMultiSig, opCheckMultiSigVerify:
			if accurate && last >= op1 && last <= op16 {
				n += int(last-op1) + 1
			} else {
				n += maxKeys
			}
		}
		last, at = op, end
	}
	return n
}

// P2SHSigOps returns the accurate count of the script that an input puts up for
// an output that pays to a script's hash, and 0 for other outputs.
func P2SHSigOps(sigScript, pkScript []byte) int {
	if !IsPayToScriptHash(pkScript) {
		return 0
	}
	redeem, ok := lastPush(sigScript)
	if !ok {
		return 0
	}
	return SigOps(redeem, true)
}

// lastPush returns what the last opcode of a script pushes as data, if it only
// pushes.
func lastPush(script []byte) (data []byte, ok bool) {
	for at := 0; at < len(script); {
		op, pushed, end, good := next(script, at)
		if !good || op > op16 {
			return nil, false
		}
		data, at = pushed, end
	}
	return data, true
}

// WitnessSigOps returns the count for the witness of an input (BIP141).
func WitnessSigOps(sigScript, pkScript []byte, witness wire.TxWitness) int {
	version, program, ok := WitnessProgram(pkScript)
	if !ok && IsPayToScriptHash(pkScript) {
		if redeem, pushes := lastPush(sigScript); pushes {
			version, program, ok = WitnessProgram(redeem)
		}
	}
	switch {
	case !ok || version != 0:
		return 0
	case len(program) == keyHashLen:
		return 1
	case len(program) == scriptHashLen && len(witness) > 0:
		return SigOps(witness[len(witness)-1], true)
	}
	return 0
}

// LegacySigOps returns the inaccurate count of all scripts in a transaction.
func LegacySigOps(tx *wire.MsgTx) int {
	n := 0
	for _, in := range tx.TxIn {
		n += SigOps(in.SignatureScript, false)
	}
	for _, out := range tx.TxOut {
		n += SigOps(out.PkScript, false)
	}
	return n
}

// CountSigOps returns the signature checks that are counted for a transaction,
// with the outputs that it spends, one for each input: those outside of witnesses,
// and those in them. A coinbase spends none: spent is nil.
func CountSigOps(tx *wire.MsgTx, spent []*wire.TxOut, flags Flags) (outside, inside int) {
	outside = LegacySigOps(tx)
	for i, out := range spent {
		in := tx.TxIn[i]
		if flags&P2SH != 0 {
			outside += P2SHSigOps(in.SignatureScript, out.PkScript)
		}
		if flags&Witness != 0 {
			inside += WitnessSigOps(in.SignatureScript, out.PkScript, in.Witness)
		}
	}
	return outside, inside
}

// SigOpCost is what [CountSigOps] counts towards the limit of a block of Bitcoin.
func SigOpCost(tx *wire.MsgTx, spent []*wire.TxOut, flags Flags) int {
	outside, inside := CountSigOps(tx, spent, flags)
	return outside*witnessScale + inside
}

package rawtx

import "github.com/btcsuite/btcd/txscript"

// extract takes the signatures off an input that may be signed in part. It
// keeps the signatures of a multisig script even if some are missing.
func (s *spending) extract(index int) *signatures {
	in := s.tx.TxIn[index]
	data := &signatures{scriptSig: in.SignatureScript, witness: in.Witness, byKey: map[[20]byte]keySig{}}
	if s.verify(index) == nil {
		data.complete = true
		return data
	}
	script := s.coins[in.PreviousOutPoint].PkScript
	stack := pushed(in.SignatureScript)
	witness := false
	f, _ := formOf(script)
	if last := lastOf(stack); f == payToScriptHash && len(last) > 0 {
		script, data.redeem = last, last
		f, _ = formOf(script)
		stack = stack[:len(stack)-1]
	}
	if last := lastOf(in.Witness); f == payToWitnessScriptHash && len(last) > 0 {
		script, data.witnessScript = last, last
		f, _ = formOf(script)
		stack, witness = in.Witness[:len(in.Witness)-1], true
	}
	if f == bareMultisig {
		s.matchMultisig(index, data, stack, script, witness)
	}
	return data
}

// matchMultisig finds out whose each signature of a multisig script is. They
// come in the order of the keys.
func (s *spending) matchMultisig(index int, data *signatures, sigs [][]byte, script []byte, witness bool) {
	_, keys := MultisigKeys(script)
	for _, sig := range sigs {
		for i, public := range keys {
			_, known := data.byKey[hash160(public)]
			if !known && !s.checkSig(index, sig, public, script, witness) {
				continue
			}
			if !known {
				data.byKey[hash160(public)] = keySig{public, sig}
			}
			keys = keys[i+1:]
			break
		}
	}
}

// merge adds what other knows. A complete one is taken as a whole.
func (d *signatures) merge(other *signatures) {
	switch {
	case d.complete:
		return
	case other.complete:
		*d = *other
		return
	}
	if len(d.redeem) == 0 {
		d.redeem = other.redeem
	}
	if len(d.witnessScript) == 0 {
		d.witnessScript = other.witnessScript
	}
	for key, sig := range other.byKey {
		if _, known := d.byKey[key]; !known {
			d.byKey[key] = sig
		}
	}
}

// pushed returns what the script of an input leaves on the stack, as far as it
// only pushes.
func pushed(script []byte) [][]byte {
	var stack [][]byte
	tokens := txscript.MakeScriptTokenizer(0, script)
	for tokens.Next() {
		op := tokens.Opcode()
		switch {
		case op <= txscript.OP_PUSHDATA4:
			stack = append(stack, tokens.Data())
		case op == txscript.OP_1NEGATE:
			stack = append(stack, []byte{0x81})
		case txscript.IsSmallInt(op):
			stack = append(stack, []byte{byte(txscript.AsSmallInt(op))})
		default:
			return stack
		}
	}
	return stack
}

func lastOf(stack [][]byte) []byte {
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

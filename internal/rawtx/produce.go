package rawtx

import (
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // the hash of scripts

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
)

// producer makes the scripts of one input out of signatures and keys.
type producer struct {
	*spending

	index int
	with  *Signing
	data  *signatures
}

// produce signs the input as far as it can, and writes what it has into it:
// of a multisig script also some signatures, of others all or none.
func (p *producer) produce() {
	in := p.tx.TxIn[p.index]
	if root, ok := p.p2mrRoot(p.index); ok {
		p.produceP2MR(in, root)
		return
	}
	if !p.data.complete {
		solved := p.assemble()
		in.SignatureScript, in.Witness = p.data.scriptSig, p.data.witness
		p.data.complete = solved && p.verify(p.index) == nil
		return
	}
	in.SignatureScript, in.Witness = p.data.scriptSig, p.data.witness
}

// produceP2MR signs an input that spends a P2MR output, or leaves it as it is.
func (p *producer) produceP2MR(in *wire.TxIn, root p2mr.Hash) {
	if p.data.complete {
		in.SignatureScript, in.Witness = p.data.scriptSig, p.data.witness
		return
	}
	if p.with.P2MR == nil {
		return
	}
	if witness := p.signP2MR(p.index, root, p.with); witness != nil {
		in.SignatureScript, in.Witness = nil, witness
		p.data.complete = p.verify(p.index) == nil
	}
}

// assemble fills in the scripts of the input. It reports whether nothing is
// missing.
func (p *producer) assemble() bool {
	script := p.coins[p.tx.TxIn[p.index].PreviousOutPoint].PkScript
	f, stack, solved := p.step(script, false)
	nested := solved && f == payToScriptHash
	var redeem []byte
	if nested {
		redeem = stack[0]
		p.data.redeem = redeem
		f, stack, solved = p.step(redeem, false)
		solved = solved && f != payToScriptHash
	}
	witness := p.data.witness
	p.data.witness = nil
	switch {
	case solved && f == payToWitnessKeyHash:
		_, p.data.witness, solved = p.step(pubKeyHashScript(stack[0]), true)
		stack = nil
	case solved && f == payToWitnessScriptHash:
		p.data.witness, solved = p.stepWitnessScript(stack[0])
		stack = nil
	case f == payToTaproot && !nested:
		p.data.witness = witness
		if solved {
			p.data.witness = stack
		}
		stack = nil
	}
	if nested {
		stack = append(stack, redeem)
	}
	p.data.scriptSig = pushAll(stack)
	return solved
}

func (p *producer) stepWitnessScript(script []byte) ([][]byte, bool) {
	p.data.witnessScript = script
	f, stack, solved := p.step(script, true)
	if f == payToScriptHash || f == payToWitnessScriptHash || f == payToWitnessKeyHash {
		solved = false
	}
	if !solved && len(stack) == 0 {
		stack, solved = descriptor.Satisfy(script, false, witnessSpender{p, script})
	}
	return append(stack, script), solved
}

// step returns the form of a script and the stack that satisfies it. For a
// script that pays to a hash the stack is what has the hash, or the hash itself.
// Without a complete solution the stack holds what there is of one.
func (p *producer) step(script []byte, witness bool) (f form, stack [][]byte, solved bool) {
	f, data := formOf(script)
	switch f {
	case payToPubKey:
		if sig := p.sign(data, script, witness); sig != nil {
			return f, [][]byte{sig}, true
		}
	case payToPubKeyHash:
		if key := p.with.Keys[[20]byte(data)]; key != nil {
			if sig := p.sign(key.public, script, witness); sig != nil {
				return f, [][]byte{sig, key.public}, true
			}
		}
		if sig, public := p.data.byKey[[20]byte(data)], p.with.Public[[20]byte(data)]; sig != nil && public != nil {
			return f, [][]byte{sig, public}, true
		}
	case payToScriptHash:
		if script := p.script([20]byte(data)); script != nil {
			return f, [][]byte{script}, true
		}
	case payToWitnessKeyHash:
		return f, [][]byte{data}, true
	case payToWitnessScriptHash:
		if script := p.script(shortHash(data)); script != nil {
			return f, [][]byte{script}, true
		}
	case bareMultisig:
		stack, solved = p.multisig(script, witness)
		return f, stack, solved
	case payToTaproot:
		stack, solved = p.taproot(data)
		return f, stack, solved
	case payToAnchor:
		return f, nil, true
	case other, unknownWitness:
	}
	return f, nil, false
}

// script returns the script with a hash.
func (p *producer) script(hash [20]byte) []byte {
	if script := p.with.Scripts[hash]; script != nil {
		return script
	}
	for _, script := range [][]byte{p.data.redeem, p.data.witnessScript} {
		if script != nil && hash160(script) == hash {
			return script
		}
	}
	return nil
}

// shortHash turns the hash of a script that takes its witness into the hash that
// one without witness has.
func shortHash(sha256 []byte) [20]byte {
	h := ripemd160.New()
	h.Write(sha256)
	return [20]byte(h.Sum(nil))
}

// multisig returns the stack of a multisig script. Like Core's, a stack that is
// not complete has empty items for only half of the signatures that are missing,
// rounded up.
func (p *producer) multisig(script []byte, witness bool) ([][]byte, bool) {
	required, keys := MultisigKeys(script)
	stack := make([][]byte, 1, required+1) // CHECKMULTISIG takes an item too many
	for _, public := range keys {
		if sig := p.sign(public, script, witness); sig != nil && len(stack) <= required {
			stack = append(stack, sig)
		}
	}
	solved := len(stack) == required+1
	missing := required + 1 - len(stack)
	return append(stack, make([][]byte, (missing+1)/2)...), solved
}

// sign returns the signature by a public key, made before or now, with its hash
// type behind it. It is nil where the private key is missing.
func (p *producer) sign(public, script []byte, witness bool) []byte {
	id := hash160(public)
	if sig := p.data.byKey[id]; sig != nil {
		return sig
	}
	key := p.with.Keys[id]
	if key == nil || witness && !key.compressed {
		return nil
	}
	hashType := p.with.HashType
	if hashType == txscript.SigHashDefault {
		hashType = txscript.SigHashAll
	}
	sig := append(signECDSA(key.private, p.hash(p.index, script, witness, hashType)), byte(hashType))
	p.data.byKey[id] = sig
	return sig
}

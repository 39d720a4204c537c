package rawtx

import (
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // the hash of scripts

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/p2mr"
)

// producer makes the scripts of one input out of signatures and keys.
type producer struct {
	*spending

	index int
	with  *Signing
	data  *signatures
	by    signatureMaker
}

// A signatureMaker says where signatures come from.
type signatureMaker uint8

const (
	byKeys  signatureMaker = iota
	byDummy                // they are dummies of the right size, and anything satisfies
	byNone                 // there are none, and no lock time passes: what is learnt of scripts and keys counts
	byCount                // those of P2MR are counted, and not made
)

// produce signs the input as far as it can, and writes what it has into it:
// of a multisig script also some signatures, of others all or none.
func (p *producer) produce() {
	in := p.tx.TxIn[p.index]
	if root, ok := p.p2mrRoot(p.index); ok {
		p.data.witnessed = true
		p.produceP2MR(in, root)
		return
	}
	if !p.data.complete {
		solved := p.assemble(p.spent[p.index].PkScript)
		in.SignatureScript, in.Witness = p.data.scriptSig, p.data.witness
		p.data.complete = solved && p.check() == nil
		return
	}
	in.SignatureScript, in.Witness = p.data.scriptSig, p.data.witness
}

// check runs the scripts of the input.
func (p *producer) check() error {
	if p.by == byDummy {
		return p.spend.TrustInput(p.index, script.Standard)
	}
	return p.verify(p.index)
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
	if p.with.packet {
		p.packetP2MR(in, root)
		return
	}
	if witness := p.signP2MR(p.index, root, p.with); witness != nil {
		in.SignatureScript, in.Witness = nil, witness
		p.data.complete = p.verify(p.index) == nil
	}
}

// assemble makes the scripts of an input that spends an output with a script. It
// reports whether nothing is missing.
func (p *producer) assemble(pkScript []byte) bool {
	f, stack, solved := p.step(pkScript, false)
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
		p.data.witnessed = true
		_, p.data.witness, solved = p.step(pubKeyHashScript(stack[0]), true)
		stack = nil
	case solved && f == payToWitnessScriptHash:
		p.data.witnessed = true
		p.data.witness, solved = p.stepWitnessScript(stack[0])
		stack = nil
	case f == payToTaproot && !nested:
		p.data.witness, p.data.witnessed = witness, true
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
		public := p.publicKey([20]byte(data))
		if public == nil {
			p.data.missing.Keys = append(p.data.missing.Keys, [20]byte(data))
			break
		}
		if sig := p.sign(public, script, witness); sig != nil {
			return f, [][]byte{sig, public}, true
		}
	case payToScriptHash:
		if script := p.script([20]byte(data)); script != nil {
			return f, [][]byte{script}, true
		}
		p.data.missing.Redeem = data
	case payToWitnessKeyHash:
		return f, [][]byte{data}, true
	case payToWitnessScriptHash:
		if script := p.script(shortHash(data)); script != nil {
			return f, [][]byte{script}, true
		}
		p.data.missing.Witness = data
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
		if hash160(script) == hash { // even that of none, as in Core
			return append([]byte{}, script...)
		}
	}
	return nil
}

// publicKey returns the public key with a hash, nil if it is not known.
func (p *producer) publicKey(hash [20]byte) []byte {
	if made, ok := p.data.byKey[hash]; ok {
		return made.public
	}
	if known, ok := p.data.keys[hash]; ok {
		return known.public
	}
	if x := p.data.tapByHash[hash]; x != nil {
		return append([]byte{secp256k1.PubKeyFormatCompressedEven}, x...)
	}
	if key := p.with.Keys[hash]; key != nil {
		return key.public
	}
	return p.with.Public[hash]
}

// shortHash turns the SHA-256 of a witness script, which P2WSH commits to, into
// the script's HASH160.
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
	if made, ok := p.data.byKey[id]; ok {
		return made.sig
	}
	p.noteKey(id, public)
	sig := p.newSig(id, script, witness)
	if sig == nil {
		p.data.missing.Signatures = append(p.data.missing.Signatures, id)
		return nil
	}
	p.data.byKey[id] = keySig{public, sig}
	return sig
}

// noteKey notes where a public key comes from, if that is known.
func (p *producer) noteKey(id [20]byte, public []byte) {
	origin := p.with.Origins[id]
	if origin == nil || p.data.keys == nil {
		return
	}
	if _, known := p.data.keys[id]; !known {
		p.data.keys[id] = knownKey{public, origin}
	}
}

// newSig makes a signature, nil where it cannot.
func (p *producer) newSig(id [20]byte, script []byte, witness bool) []byte {
	if p.by == byDummy {
		return dummySig
	}
	key := p.with.Keys[id]
	if p.by == byNone || key == nil || witness && !key.compressed {
		return nil
	}
	if amount := p.spent[p.index].Value; witness && (amount < 0 || amount > p.with.UnknownAmount) {
		return nil
	}
	hashType := p.with.HashType
	if hashType == txscript.SigHashDefault {
		hashType = txscript.SigHashAll
	}
	return append(signECDSA(key.private, p.hash(p.index, script, witness, hashType)), byte(hashType))
}

// dummySig stands for a signature by ECDSA where only its size counts.
var dummySig = func() []byte {
	const scalar = 32
	sig := make([]byte, 2*scalar+7)
	copy(sig, []byte{0x30, 2*scalar + 4, 2, scalar, 1})
	copy(sig[scalar+4:], []byte{2, scalar, 1})
	sig[2*scalar+6] = byte(txscript.SigHashAll)
	return sig
}()

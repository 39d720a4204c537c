package rawtx

import (
	"bytes"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/consensus/script"
)

// witnessSpender satisfies a witness script by ECDSA. It implements
// descriptor.Spender.
type witnessSpender struct {
	*producer

	script []byte
}

func (s witnessSpender) Sign(public []byte) []byte { return s.sign(public, s.script, true) }

func (s witnessSpender) PublicKey(hash []byte) []byte {
	public := s.publicKey([20]byte(hash))
	if public == nil {
		s.data.missing.Keys = append(s.data.missing.Keys, [20]byte(hash))
	}
	return public
}

// tapSpender satisfies a tapscript by Schnorr signatures. It implements
// descriptor.Spender.
type tapSpender struct {
	*producer

	leaf [32]byte
}

func (p *producer) newTapSpender(code []byte) tapSpender {
	return tapSpender{p, script.LeafHash(tapscriptVersion, code)}
}

func (s tapSpender) Sign(public []byte) []byte {
	t := &s.data.tap
	if origin := s.tapOrigin(public); origin != nil {
		t.noteOrigin(public, origin, &s.leaf)
	}
	at := tapPlace{[32]byte(public), s.leaf}
	if sig, made := t.sigs[at]; made {
		return sig
	}
	sig := s.newTapSig(public)
	if sig != nil {
		if t.sigs == nil {
			t.sigs = make(map[tapPlace][]byte)
		}
		t.sigs[at] = sig
	}
	return sig
}

// newTapSig makes a signature, nil where it cannot.
func (s tapSpender) newTapSig(public []byte) []byte {
	if s.by == byDummy {
		return dummySchnorr
	}
	key := s.with.Keys.byXOnly(public)
	if s.by == byNone || !s.all || key == nil {
		return s.together(public, &s.leaf, false)
	}
	place := script.TapPlace{Leaf: &s.leaf, Separator: script.NoSeparator}
	hash, ok := s.spend.TaprootSigHash(s.index, byte(s.with.HashType), &place)
	if !ok {
		return nil
	}
	return s.signSchnorr(key.private, hash[:])
}

func (s tapSpender) PublicKey(hash []byte) []byte {
	if public := s.publicKey([20]byte(hash)); public != nil {
		return public[1:33]
	}
	for _, key := range s.with.Keys {
		if xOnly := key.public[1:]; key.compressed && bytes.Equal(hash160Of(xOnly), hash) {
			return xOnly
		}
	}
	for _, public := range s.with.Public {
		if xOnly := public[1:]; bytes.Equal(hash160Of(xOnly), hash) {
			return xOnly
		}
	}
	s.data.missing.Keys = append(s.data.missing.Keys, [20]byte(hash))
	return nil
}

func hash160Of(data []byte) []byte {
	hash := hash160(data)
	return hash[:]
}

// Older reports whether the input passes OP_CHECKSEQUENCEVERIFY (BIP112).
func (p *producer) Older(n uint32) bool {
	if p.by != byKeys {
		return p.by == byDummy
	}
	const mask = wire.SequenceLockTimeIsSeconds | wire.SequenceLockTimeMask
	sequence := p.tx.TxIn[p.index].Sequence
	if uint32(p.tx.Version) < 2 || sequence&wire.SequenceLockTimeDisabled != 0 {
		return false
	}
	sameKind := sequence&wire.SequenceLockTimeIsSeconds == n&wire.SequenceLockTimeIsSeconds
	return sameKind && n&mask <= sequence&mask
}

// After reports whether the input passes OP_CHECKLOCKTIMEVERIFY (BIP65).
func (p *producer) After(n uint32) bool {
	if p.by != byKeys {
		return p.by == byDummy
	}
	const seconds = txscript.LockTimeThreshold
	lock := p.tx.LockTime
	sameKind := lock < seconds == (n < seconds)
	return sameKind && n <= lock && p.tx.TxIn[p.index].Sequence != wire.MaxTxInSequenceNum
}

// Preimage returns the preimage of a digest, nil if it is not known. It implements descriptor.Preimager.
func (p *producer) Preimage(function string, digest []byte) []byte {
	return p.data.preimages[function+string(digest)]
}

// Trees tell how to spend taproot outputs, by the output keys.
type Trees map[[32]byte]*descriptor.TapTree

// Add adds what is known of an output script, which must be taproot.
func (t Trees) Add(pkScript []byte, tree *descriptor.TapTree) {
	if f, output := formOf(pkScript); f == payToTaproot {
		t[[32]byte(output)] = tree
	}
}

// PublicKeys are public keys that are known, by their hashes.
type PublicKeys map[[20]byte][]byte

// Add adds a compressed key.
func (k PublicKeys) Add(public []byte) { k[hash160(public)] = public }

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
	if key := s.with.Keys[[20]byte(hash)]; key != nil && key.compressed {
		return key.public
	}
	return s.with.Public[[20]byte(hash)]
}

// tapSpender satisfies a tapscript by Schnorr signatures. It implements
// descriptor.Spender.
type tapSpender struct {
	*producer

	hash []byte // to be signed
}

func (p *producer) newTapSpender(code []byte) (tapSpender, bool) {
	leaf := script.LeafHash(byte(txscript.BaseLeafVersion), code)
	place := script.TapPlace{Leaf: &leaf, Separator: script.NoSeparator}
	hash, ok := p.spend.TaprootSigHash(p.index, byte(p.with.HashType), &place)
	return tapSpender{p, hash[:]}, ok
}

func (s tapSpender) Sign(public []byte) []byte {
	key := s.with.Keys.byXOnly(public)
	if key == nil {
		return nil
	}
	return s.signSchnorr(key.private, s.hash)
}

func (s tapSpender) PublicKey(hash []byte) []byte {
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
	return nil
}

func hash160Of(data []byte) []byte {
	hash := hash160(data)
	return hash[:]
}

// Older reports whether the input passes OP_CHECKSEQUENCEVERIFY (BIP112).
func (p *producer) Older(n uint32) bool {
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
	const seconds = txscript.LockTimeThreshold
	lock := p.tx.LockTime
	sameKind := lock < seconds == (n < seconds)
	return sameKind && n <= lock && p.tx.TxIn[p.index].Sequence != wire.MaxTxInSequenceNum
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

package rawtx

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/consensus/script"
)

// Several participants sign together for one key (MuSig2, BIP327) in three rounds, with the fields of BIP373. First
// each participant adds a nonce. When all nonces are there, each adds a partial signature. A participant that has all
// partial signatures adds them up. A secret nonce stays in the memory of the wallet that made it, and serves once.

// together returns the signature of all participants for the key with x coordinate x. While parts are missing it
// returns nil and adds its own nonces or partial signatures. The leaf is the script that names the key; nil: it is
// the internal key of the output or, where tweaks is false, the output's own.
func (p *producer) together(x []byte, leaf *[32]byte, tweaks bool) []byte {
	d := &p.data.tap.musig
	inOrder := func(a, b [33]byte) int { return bytes.Compare(a[:], b[:]) }
	for _, key := range slices.SortedFunc(maps.Keys(d.participants), inOrder) {
		s := p.newMusig(key, d.participants[key], x, leaf, tweaks)
		if s == nil {
			continue
		}
		if p.by == byNone || !p.all {
			continue // the hash needs all coins
		}
		if sig := s.combine(); sig != nil {
			return sig
		}
		if !s.partials() {
			s.addNonces()
		}
	}
	return nil
}

// musig is one key that is signed for.
type musig struct {
	*producer

	keys   []*btcec.PublicKey
	raw    [][]byte // the same, compressed
	tweaks []musig2.KeyTweakDesc
	key    *btcec.PublicKey // with all tweaks: the signature is by it
	at     musigPlace
	hash   [32]byte
}

// newMusig returns a key of participants, or nil if x does not derive from the key. As in Core it notes the origins of
// the participants in any case.
func (p *producer) newMusig(aggregate [33]byte, participants [][]byte, x []byte, leaf *[32]byte, tweaks bool) *musig {
	s := &musig{producer: p, raw: participants}
	for _, participant := range participants {
		if origin := p.with.Origins[hash160(participant)]; origin != nil {
			p.data.tap.noteOrigin(participant[1:], origin, leaf)
		}
	}
	for _, participant := range participants {
		key, err := btcec.ParsePubKey(participant)
		if err != nil {
			return nil
		}
		s.keys = append(s.keys, key)
	}
	if len(s.keys) == 0 || !s.follow(aggregate, x) {
		return nil
	}
	place := script.TapPlace{}
	if leaf != nil {
		s.at.leaf, place = *leaf, script.TapPlace{Leaf: leaf, Separator: script.NoSeparator}
	} else if tweaks {
		s.tweaks = append(s.tweaks, musig2.KeyTweakDesc{Tweak: tagged("TapTweak", x, p.data.tap.root), IsXOnly: true})
	}
	const sorted = false
	all, _, _, err := musig2.AggregateKeys(s.keys, sorted, musig2.WithKeyTweaks(s.tweaks...))
	if err != nil {
		return nil
	}
	s.key = all.FinalKey
	s.at.key = [33]byte(s.key.SerializeCompressed())
	if p.by == byNone || !p.all {
		return s
	}
	var ok bool
	s.hash, ok = p.spend.TaprootSigHash(p.index, byte(p.with.HashType), &place)
	if !ok {
		return nil
	}
	return s
}

// follow finds the steps from the aggregate to a key (BIP328), which the key's origin has. It is false where there are
// none.
func (s *musig) follow(aggregate [33]byte, x []byte) bool {
	const sorted = false
	all, _, _, err := musig2.AggregateKeys(s.keys, sorted)
	if err != nil || !bytes.Equal(all.FinalKey.SerializeCompressed(), aggregate[:]) {
		return false
	}
	if bytes.Equal(aggregate[1:], x) {
		return true
	}
	from := s.data.tap.origins[[32]byte(x)].origin
	if from == nil {
		if from = s.tapOrigin(x); from != nil {
			s.data.tap.noteOrigin(x, from, nil) // who adds the signatures up may not know
		}
	}
	const fingerprint = 4
	if id := hash160(aggregate[:]); len(from) <= fingerprint || !bytes.Equal(from[:fingerprint], id[:fingerprint]) {
		return false
	}
	key, code := all.FinalKey, descriptor.MusigChainCode()
	for steps := from[fingerprint:]; len(steps) >= 4; steps = steps[4:] {
		step := binary.LittleEndian.Uint32(steps)
		if step >= 1<<31 {
			return false
		}
		mac := hmac.New(sha512.New, code[:])
		mac.Write(key.SerializeCompressed())
		mac.Write(binary.BigEndian.AppendUint32(nil, step))
		sum := mac.Sum(nil)
		tweak := [32]byte(sum[:32])
		code = [32]byte(sum[32:])
		s.tweaks = append(s.tweaks, musig2.KeyTweakDesc{Tweak: tweak})
		next, _, _, err := musig2.AggregateKeys(s.keys, sorted, musig2.WithKeyTweaks(s.tweaks...))
		if err != nil {
			return false
		}
		key = next.FinalKey
	}
	return bytes.Equal(key.SerializeCompressed()[1:], x)
}

// nonces returns the nonces of all participants together, false while one is missing.
func (s *musig) nonces() (all [musig2.PubNonceSize]byte, ok bool) {
	given := s.data.tap.musig.nonces[s.at]
	if len(given) != len(s.raw) {
		return all, false
	}
	list := make([][musig2.PubNonceSize]byte, len(s.raw))
	for i, participant := range s.raw {
		nonce := given[[33]byte(participant)]
		if len(nonce) != musig2.PubNonceSize {
			return all, false
		}
		list[i] = [musig2.PubNonceSize]byte(nonce)
	}
	all, err := musig2.AggregateNonces(list)
	return all, err == nil
}

// combine adds up the partial signatures, nil where one is missing or wrong.
func (s *musig) combine() []byte {
	given := s.data.tap.musig.partials[s.at]
	nonces, ok := s.nonces()
	if !ok || len(given) != len(s.raw) {
		return nil
	}
	r, _ := s.commitment(nonces)
	if r == nil {
		return nil
	}
	var list []*musig2.PartialSignature
	for _, participant := range s.raw {
		scalar := new(btcec.ModNScalar)
		if value := given[[33]byte(participant)]; len(value) != 32 || scalar.SetByteSlice(value) {
			return nil
		}
		partial := musig2.NewPartialSignature(scalar, r)
		list = append(list, &partial)
	}
	const sorted = false
	sig := musig2.CombineSigs(r, list, musig2.WithTweakedCombine(s.hash, s.keys, s.tweaks, sorted))
	if !sig.Verify(s.hash[:], s.key) {
		return nil
	}
	return s.withHashType(sig.Serialize())
}

// commitment returns the point that the signature commits to, and what second nonces are multiplied by (BIP327,
// GetSessionValues).
func (s *musig) commitment(nonces [musig2.PubNonceSize]byte) (*btcec.PublicKey, *btcec.ModNScalar) {
	b := tagged("MuSig/noncecoef", nonces[:], schnorr.SerializePubKey(s.key), s.hash[:])
	coefficient := new(btcec.ModNScalar)
	coefficient.SetBytes(&b)
	var sum, second btcec.JacobianPoint
	point := func(raw []byte) (to btcec.JacobianPoint, ok bool) {
		if bytes.Equal(raw, make([]byte, keyBytes)) {
			return to, true // infinity
		}
		key, err := btcec.ParsePubKey(raw)
		if err == nil {
			key.AsJacobian(&to)
		}
		return to, err == nil
	}
	first, ok := point(nonces[:keyBytes])
	if !ok {
		return nil, nil
	}
	if second, ok = point(nonces[keyBytes:]); !ok {
		return nil, nil
	}
	btcec.ScalarMultNonConst(coefficient, &second, &second) // both are public
	btcec.AddNonConst(&first, &second, &sum)
	if sum.Z.IsZero() || sum.X.IsZero() && sum.Y.IsZero() {
		return btcec.Generator(), coefficient
	}
	sum.ToAffine()
	return btcec.NewPublicKey(&sum.X, &sum.Y), coefficient
}

// withHashType appends the hash type, which is left away where it is the default.
func (s *musig) withHashType(sig []byte) []byte {
	if s.with.HashType != txscript.SigHashDefault {
		sig = append(sig, byte(s.with.HashType))
	}
	return sig
}

// partials signs for the participants whose private keys and secret nonces are here. It reports whether there is any
// partial signature.
func (s *musig) partials() bool {
	d := &s.data.tap.musig
	if nonces, ok := s.nonces(); ok && s.with.Nonces != nil {
		for _, participant := range s.raw {
			own := s.with.Keys[hash160(participant)]
			if own == nil || d.partials[s.at][[33]byte(participant)] != nil {
				continue
			}
			if sig := s.partial(own, nonces, d.nonces[s.at][[33]byte(participant)]); sig != nil {
				note(d.partials, s.at, [33]byte(participant), sig)
			}
		}
	}
	return len(d.partials[s.at]) > 0
}

// partial makes one partial signature. The secret nonce is used up even if no signature comes about.
func (s *musig) partial(own *key, nonces [musig2.PubNonceSize]byte, nonce []byte) []byte {
	secret, ok := s.with.Nonces.take(s.session(own.public, nonce))
	if !ok {
		return nil
	}
	defer clear(secret[:])
	return s.signPartial(&secret, own, nonces, nonce)
}

// addNonces makes nonces for the participants whose private keys are here.
func (s *musig) addNonces() {
	d := &s.data.tap.musig
	if s.with.Nonces == nil {
		return
	}
	for _, participant := range s.raw {
		own := s.with.Keys[hash160(participant)]
		if own == nil || d.nonces[s.at][[33]byte(participant)] != nil {
			continue
		}
		var random [32]byte
		_, _ = rand.Read(random[:]) // never fails
		secret, public := newNonce(&random, own, s.key, &s.hash)
		s.with.Nonces.put(s.session(own.public, public), &secret)
		note(d.nonces, s.at, [33]byte(participant), public)
	}
}

// session names a secret nonce by all that it may be used for.
func (s *musig) session(public, nonce []byte) [32]byte {
	return sha256.Sum256(slices.Concat(s.at.key[:], s.at.leaf[:], public, s.hash[:], nonce))
}

package wallets

import (
	"encoding/binary"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// fill puts what the wallet knows into a partially signed transaction, and signs it.
func (g *signer) fill(c actor.Context, m *fillPacket) {
	p, err := psbt.Decode(m.Req.PSBT)
	if err != nil {
		m.Answer(messages.FilledPacket{}, codes.Errorf(codes.Decode, "TX decode failed %v", err))
		return
	}
	hashType, known := hashTypes[m.Req.HashType]
	w := g.of.open()
	switch {
	case !known:
		err = codes.Errorf(codes.Parameter, "'%s' is not a valid sighash parameter.", m.Req.HashType)
	case m.Req.Sign && w.Vault().Locked():
		err = errLocked
	}
	if err != nil {
		m.Answer(messages.FilledPacket{}, err)
		return
	}
	w.Describe(p, m.Req.Derivations)
	for i := range p.Inputs {
		noteHashType(p, i, hashType)
	}
	s := g.cfg.Network.NewSigning(p.Extract(), make(map[wire.OutPoint]*wire.TxOut))
	s.HashType = hashType
	s.AddPacket(p)
	if m.Req.Sign {
		g.addPacketKeys(s, p)
	}
	g.of.beside(c, func() func() {
		defer s.Zero()
		failed, err := rawtx.Sign(g.ctx, s)
		got := messages.FilledPacket{}
		if err == nil {
			got.Complete = s.FillPacket(p, failed, m.Req.Finalize)
			got.PSBT = p.Encode()
			if got.Complete && m.Req.Finalize {
				got.Tx = p.Extract()
			}
		}
		return func() { m.Answer(got, err) }
	})
}

// addPacketKeys adds what the wallet knows of what the inputs spend. An input that is not the wallet's
// may name public keys that are.
func (g *signer) addPacketKeys(s *rawtx.Signing, p *psbt.Packet) {
	for i := range p.Inputs {
		coin := p.Coin(i)
		if coin != nil && !p.Final(i) && !p.Proven(i) {
			delete(s.Coins, p.Tx.TxIn[i].PreviousOutPoint)
			continue
		}
		if coin == nil || g.addKeys(s, coin.PkScript) || p.Final(i) {
			continue
		}
		for _, e := range p.Inputs[i].Of(psbt.Derivation) {
			g.addKeyOf(s, e.Data)
		}
		for _, e := range p.Inputs[i].Of(psbt.TapDerivation) {
			for _, sign := range []byte{secp256k1.PubKeyFormatCompressedEven, secp256k1.PubKeyFormatCompressedOdd} {
				g.addKeyOf(s, append([]byte{sign}, e.Data...))
			}
		}
	}
}

// addKeyOf adds the private key of a public key that has an own address by itself, of any kind.
func (g *signer) addKeyOf(s *rawtx.Signing, public []byte) {
	key, err := secp256k1.ParsePubKey(public)
	if err != nil {
		return
	}
	for _, script := range keyScripts(public, key) {
		if g.addKeys(s, script) {
			return
		}
	}
}

// keyScripts are the output scripts of one public key: of its hash, of that in a witness, the same
// nested, taproot, and of the key itself.
func keyScripts(public []byte, key *secp256k1.PublicKey) [][]byte {
	hash := btcutil.Hash160(public)
	witness := rawtx.WitnessKeyHash(hash)
	byHash := append([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, hash...)
	nested := append([]byte{txscript.OP_HASH160, 20}, btcutil.Hash160(witness)...)
	taproot := schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(key))
	return [][]byte{
		append(byHash, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG),
		witness,
		append(nested, txscript.OP_EQUAL),
		append([]byte{txscript.OP_1, 32}, taproot...),
		append(append([]byte{byte(len(public))}, public...), txscript.OP_CHECKSIG),
	}
}

// noteHashType tells of an input how it is signed, where that is not how its kind is signed
// by default.
func noteHashType(p *psbt.Packet, i int, hashType txscript.SigHashType) {
	coin := p.Coin(i)
	if coin == nil || p.Final(i) || hashType == txscript.SigHashDefault ||
		hashType == txscript.SigHashAll && !txscript.IsPayToTaproot(coin.PkScript) {
		return
	}
	p.Inputs[i].Put(psbt.SigHash, nil, binary.LittleEndian.AppendUint32(nil, uint32(hashType)))
}

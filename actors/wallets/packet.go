package wallets

import (
	"bytes"
	"encoding/binary"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

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
	for i, in := range p.Tx.TxIn {
		if out := m.Req.Coins[in.PreviousOutPoint]; out != nil && p.Coin(i) == nil {
			putCoin(&p.Inputs[i], out)
		}
	}
	w.Describe(p, m.Req.Derivations)
	for i := range p.Inputs {
		noteHashType(p, i, hashType)
	}
	s := g.cfg.Network.NewSigning(p.Extract(), make(map[wire.OutPoint]*wire.TxOut))
	s.HashType = hashType
	s.AddPacket(p)
	if m.Req.Sign {
		for _, coin := range s.Coins {
			g.addKeys(s, coin.PkScript)
		}
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

// putCoin notes what an input spends that has a witness.
func putCoin(m *psbt.Map, out *wire.TxOut) {
	var raw bytes.Buffer
	_ = wire.WriteTxOut(&raw, 0, 0, out) // a buffer does not fail
	m.Put(psbt.WitnessUTXO, nil, raw.Bytes())
}

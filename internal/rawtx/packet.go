package rawtx

import (
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// AddPacket adds what a partially signed transaction knows to the signing of it: coins,
// scripts, public keys, and signatures. The transaction of the signing is the packet's,
// as [psbt.Packet.Extract] returns it.
func (s *Signing) AddPacket(p *psbt.Packet) {
	s.Signatures = make([]map[[20]byte][]byte, len(p.Inputs))
	for i, m := range p.Inputs {
		if coin := p.Coin(i); coin != nil {
			s.Coins[p.Tx.TxIn[i].PreviousOutPoint] = coin
		}
		for _, kind := range []uint64{psbt.RedeemScript, psbt.WitnessScript} {
			if script, ok := m.One(kind); ok {
				s.Scripts.Add(script)
			}
		}
		for _, e := range m.Of(psbt.Derivation) {
			s.Public.Add(e.Data)
		}
		s.Signatures[i] = make(map[[20]byte][]byte)
		for _, e := range m.Of(psbt.PartialSig) {
			s.Public.Add(e.Data)
			s.Signatures[i][hash160(e.Data)] = e.Value
		}
		sig, ok := m.One(psbt.TapKeySig)
		if in := s.Tx.TxIn[i]; ok && len(in.Witness) == 0 && !p.Final(i) {
			in.Witness = wire.TxWitness{sig}
		}
	}
}

// FillPacket puts into a packet what was signed: final scripts where nothing is missing and
// finalize is set, else the signatures. It reports whether nothing is missing at all.
func (s *Signing) FillPacket(p *psbt.Packet, failed []InputError, finalize bool) (complete bool) {
	missing := make(map[int]bool, len(failed))
	for _, f := range failed {
		missing[f.Index] = true
	}
	for i := range p.Inputs {
		if p.Final(i) {
			continue
		}
		in := s.Tx.TxIn[i]
		if !missing[i] && finalize {
			p.SetFinal(i, in.SignatureScript, in.Witness)
			continue
		}
		s.fillSignatures(p, i, !missing[i])
	}
	return len(failed) == 0
}

// fillSignatures puts the signatures of an input into a packet.
func (s *Signing) fillSignatures(p *psbt.Packet, i int, complete bool) {
	m, in := &p.Inputs[i], s.Tx.TxIn[i]
	coin := s.Coins[in.PreviousOutPoint]
	if complete && coin != nil && txscript.IsPayToTaproot(coin.PkScript) && len(in.Witness) == 1 {
		m.Put(psbt.TapKeySig, nil, in.Witness[0])
		return
	}
	for id, sig := range s.Signatures[i] {
		public := s.Public[id]
		if key := s.Keys[id]; key != nil {
			public = key.public
		}
		if public != nil {
			m.Put(psbt.PartialSig, public, sig)
		}
	}
}

// Finalize makes the final scripts of all inputs for which a packet has what it takes, and
// reports whether those are all.
func (s *Signing) Finalize(p *psbt.Packet) (complete bool) {
	s.AddPacket(p)
	spending := newSpending(s.Tx, s.Coins, s.P2MR != nil)
	var failed []InputError
	for i := range s.Tx.TxIn {
		if err := s.signInput(spending, i); err != nil {
			failed = append(failed, InputError{i, err})
		}
	}
	return s.FillPacket(p, failed, true)
}

package psbt

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Combine adds the fields of another packet for the same transaction; it reports false for another transaction and
// for another version. As in Core hash types of the other packet are left behind, and before Core 32 proprietary
// fields of version 0. The fields of MuSig2 are added, as in later versions of Core: without them nobody could sign
// together.
func (p *Packet) Combine(other *Packet) bool {
	if p.Version != other.Version || p.NoTx || other.NoTx || p.id() != other.id() {
		return false
	}
	var left []uint64 // types that stay behind in all maps
	if p.Version == 0 && !p.core32 {
		left = []uint64{Proprietary}
	}
	for i := range p.Inputs {
		p.Inputs[i].merge(other.Inputs[i], &inputRules, slices.Concat(left, []uint64{SigHash})...)
	}
	for i := range p.Outputs {
		p.Outputs[i].merge(other.Outputs[i], &outputRules, left...)
	}
	p.Global.mergeXPubs(other.Global)
	p.Global.mergeModifiable(other.Global)
	p.Global.merge(other.Global, &globalRules, slices.Concat(left, []uint64{XPub, TxModifiable})...)
	if p.Version == 2 {
		p.settle()
	}
	return true
}

// id identifies the transaction. In version 2 its sequence numbers may still change (BIP370).
func (p *Packet) id() chainhash.Hash {
	tx := p.Tx
	if p.Version == 2 {
		tx = tx.Copy()
		for _, in := range tx.TxIn {
			in.Sequence = 0
		}
	}
	return tx.TxHash()
}

// merge adds the entries of another map whose keys are not there, but for those of some types. Scripts of
// leaves of taproot are known by themselves, not by their proofs; those of P2MR by both.
func (m *Map) merge(other Map, rules *ruleSet, but ...uint64) {
	identity := func(e Entry) string {
		if rules == &inputRules && e.Type == TapLeaf {
			return "leaf" + string(e.Value)
		}
		if e.Type == P2MRLeaf {
			return "proof" + string(e.Key) + string(e.Value)
		}
		return "key" + string(e.Key)
	}
	own := make(map[string]bool, len(*m))
	for _, e := range *m {
		own[identity(e)] = true
	}
	for _, e := range other {
		left := rules.knows(e.Type) && slices.Contains(but, e.Type)
		if !left && !own[identity(e)] {
			*m = append(*m, e)
		}
	}
}

// mergeXPubs adds the extended keys of another map. A key with several stated origins is kept once for
// each origin.
func (m *Map) mergeXPubs(other Map) {
	identity := func(e Entry) string { return string(xpubIdentity(e.Key)) + string(e.Value) }
	own := make(map[string]bool)
	for _, e := range m.Of(XPub) {
		own[identity(e)] = true
	}
	for _, e := range other.Of(XPub) {
		if !own[identity(e)] {
			*m = append(*m, e)
		}
	}
}

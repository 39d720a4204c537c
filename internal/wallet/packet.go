package wallet

import (
	"bytes"
	"encoding/binary"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// Describe puts into a partially signed transaction what the wallet knows of it: what its
// inputs spend, and of own scripts how they are spent; with derivations where keys come
// from, too.
func (w *Wallet) Describe(p *psbt.Packet, derivations bool) {
	for i := range p.Inputs {
		if p.Final(i) {
			continue
		}
		at := p.Tx.TxIn[i].PreviousOutPoint
		if tx := w.spending.Transaction(at.Hash); tx != nil && !p.Inputs[i].Has(psbt.NonWitnessUTXO) {
			p.Inputs[i].Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(tx, true))
		}
		if coin := p.Coin(i); coin != nil && p.Proven(i) {
			w.describeInput(&p.Inputs[i], coin, derivations)
		}
	}
	for i := range p.Outputs {
		w.describeOutput(&p.Outputs[i], p.Tx.TxOut[i].PkScript, derivations)
	}
	dropTransactions(p)
}

// dropTransactions removes the transactions that inputs spend from where they are all
// taproot: its signatures commit to the values that are spent.
func dropTransactions(p *psbt.Packet) {
	for i := range p.Inputs {
		raw, ok := p.Inputs[i].One(psbt.WitnessUTXO)
		if !ok || !txscript.IsPayToTaproot(psbt.NewValue(raw).Output().PkScript) {
			return
		}
	}
	for i := range p.Inputs {
		p.Inputs[i].Drop(psbt.NonWitnessUTXO)
	}
}

func (w *Wallet) describeInput(m *psbt.Map, coin *wire.TxOut, derivations bool) {
	solution := w.keys.Solve(coin.PkScript)
	if solution == nil {
		return
	}
	nested := solution.Redeem != nil && txscript.IsPayToScriptHash(coin.PkScript) &&
		txscript.IsWitnessProgram(solution.Redeem)
	if txscript.IsWitnessProgram(coin.PkScript) || nested {
		var raw bytes.Buffer
		_ = wire.WriteTxOut(&raw, 0, 0, coin) // a buffer does not fail
		m.Put(psbt.WitnessUTXO, nil, raw.Bytes())
	}
	describe(m, coin.PkScript, solution, fields{psbt.RedeemScript, psbt.WitnessScript})
	if solution.Taproot == nil {
		if derivations {
			putDerivations(m, psbt.Derivation, w.keys.KeysOf(coin.PkScript))
		}
		return
	}
	m.Put(psbt.TapInternalKey, nil, solution.Taproot.Internal[1:])
	if len(solution.Taproot.Root) > 0 {
		m.Put(psbt.TapMerkleRoot, nil, solution.Taproot.Root)
	}
	const leafVersion = 0xc0
	for _, leaf := range solution.Taproot.Leaves {
		m.Put(psbt.TapLeaf, leaf.ControlBlock, append(bytes.Clone(leaf.Script), leafVersion))
	}
	if derivations {
		putTapDerivations(m, psbt.TapDerivation, w.keys.KeysOf(coin.PkScript), solution.Taproot)
	}
}

func (w *Wallet) describeOutput(m *psbt.Map, script []byte, derivations bool) {
	solution := w.keys.Solve(script)
	if solution == nil {
		return
	}
	describe(m, script, solution, fields{psbt.OutRedeemScript, psbt.OutWitnessScript})
	if solution.Taproot == nil {
		if derivations {
			putDerivations(m, psbt.OutDerivation, w.keys.KeysOf(script))
		}
		return
	}
	m.Put(psbt.OutTapInternalKey, nil, solution.Taproot.Internal[1:])
	if derivations {
		putTapDerivations(m, psbt.OutTapDerivation, w.keys.KeysOf(script), solution.Taproot)
	}
}

// fields are the types of scripts in a map.
type fields struct{ redeem, witness uint64 }

// describe puts the scripts behind a script into a map.
func describe(m *psbt.Map, script []byte, s *descriptor.Solution, to fields) {
	switch {
	case txscript.IsPayToScriptHash(script):
		if s.Redeem != nil {
			m.Put(to.redeem, nil, s.Redeem)
		}
		if s.Witness != nil {
			m.Put(to.witness, nil, s.Witness)
		}
	case txscript.IsPayToWitnessScriptHash(script) && s.Redeem != nil:
		m.Put(to.witness, nil, s.Redeem)
	}
}

// origin returns where a key comes from, as packets have it.
func origin(k *descriptor.DerivedKey) []byte {
	value := bytes.Clone(k.Fingerprint[:])
	for _, step := range k.Path {
		value = binary.LittleEndian.AppendUint32(value, step)
	}
	return value
}

func putDerivations(m *psbt.Map, kind uint64, keys []descriptor.DerivedKey) {
	for i := range keys {
		m.Put(kind, keys[i].PublicKey, origin(&keys[i]))
	}
}

func putTapDerivations(m *psbt.Map, kind uint64, keys []descriptor.DerivedKey, tree *descriptor.TapTree) {
	for i := range keys {
		x := keys[i].PublicKey[1:]
		var hashes [][]byte
		for _, leaf := range tree.Leaves {
			if bytes.Contains(leaf.Script, x) {
				hash := txscript.NewBaseTapLeaf(leaf.Script).TapHash()
				hashes = append(hashes, hash[:])
			}
		}
		var value bytes.Buffer
		_ = wire.WriteVarInt(&value, 0, uint64(len(hashes))) // a buffer does not fail
		value.Write(bytes.Join(hashes, nil))
		value.Write(origin(&keys[i]))
		m.Put(kind, x, value.Bytes())
	}
}

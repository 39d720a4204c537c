package psbt

import (
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Join returns a packet with the inputs and outputs of several of version 0, one after the other, and the unknown
// entries of their global maps. Signatures by ECDSA and final scripts are left out. The highest version and
// the lowest lock time count. If two inputs are the same, Join returns the output that they spend.
func Join(packets []*Packet) (joined *Packet, twice *wire.OutPoint) {
	tx := &wire.MsgTx{Version: 1, LockTime: math.MaxUint32}
	joined = new(Packet)
	seen := make(map[inputID]bool)
	for _, p := range packets {
		if uint32(p.Tx.Version) > uint32(tx.Version) {
			tx.Version = p.Tx.Version
		}
		tx.LockTime = min(tx.LockTime, p.Tx.LockTime)
		for i, in := range p.Tx.TxIn {
			id := inputID{in.PreviousOutPoint.Hash, in.PreviousOutPoint.Index, in.Sequence}
			if seen[id] {
				return nil, &in.PreviousOutPoint
			}
			seen[id] = true
			m := p.Inputs[i]
			for _, kind := range []uint64{PartialSig, FinalScriptSig, FinalWitness} {
				m.Drop(kind)
			}
			tx.TxIn, joined.Inputs = append(tx.TxIn, in), append(joined.Inputs, m)
		}
		tx.TxOut, joined.Outputs = append(tx.TxOut, p.Tx.TxOut...), append(joined.Outputs, p.Outputs...)
		joined.Global.merge(p.Global, &globalRules, XPub, Proprietary)
	}
	joined.Tx = tx
	return joined, nil
}

// inputID is an input that is not signed: what it spends, with its sequence number.
type inputID struct {
	hash            chainhash.Hash
	index, sequence uint32
}

// Shuffle brings inputs and outputs into another order, by a function like [rand.Shuffle].
func (p *Packet) Shuffle(shuffle func(n int, swap func(i, j int))) {
	tx := p.Tx.Copy()
	shuffle(len(tx.TxIn), func(i, j int) {
		tx.TxIn[i], tx.TxIn[j] = tx.TxIn[j], tx.TxIn[i]
		p.Inputs[i], p.Inputs[j] = p.Inputs[j], p.Inputs[i]
	})
	shuffle(len(tx.TxOut), func(i, j int) {
		tx.TxOut[i], tx.TxOut[j] = tx.TxOut[j], tx.TxOut[i]
		p.Outputs[i], p.Outputs[j] = p.Outputs[j], p.Outputs[i]
	})
	p.Tx = tx
}

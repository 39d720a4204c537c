package rawtxrpc

import (
	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/txjson"
)

// shownPacket is a partially signed transaction as it is shown.
type shownPacket struct {
	Tx    *txjson.Tx  `json:"tx,omitempty"` // of version 0
	XPubs []xpubEntry `json:"global_xpubs"`

	// Of version 2.
	TxVersion         *uint32 `json:"tx_version,omitempty"`
	FallbackLockTime  *uint32 `json:"fallback_locktime,omitempty"`
	InputCount        *int    `json:"input_count,omitempty"`
	OutputCount       *int    `json:"output_count,omitempty"`
	InputsModifiable  *bool   `json:"inputs_modifiable,omitempty"`
	OutputsModifiable *bool   `json:"outputs_modifiable,omitempty"`
	HasSigHashSingle  *bool   `json:"has_sighash_single,omitempty"`

	Version     uint32             `json:"psbt_version"` // of the format
	Proprietary []proprietaryField `json:"proprietary"`
	Unknown     jsontree.Members   `json:"unknown"`
	Inputs      []inputFields      `json:"inputs"`
	Outputs     []outputFields     `json:"outputs"`
	Fee         *jsontree.Amount   `json:"fee,omitempty"` // if it is known what all inputs spend
}

// showPacket prints a packet as decodepsbt does. maximum is how much money there can be.
func showPacket(p *txjson.Printer, packet *psbt.Packet, maximum btcutil.Amount) shownPacket {
	shown := shownPacket{
		XPubs:       showXPubs(packet.Global),
		Version:     packet.Version,
		Proprietary: showProprietary(packet.Global),
		Unknown:     showUnknown(packet.Global, globalTypes),
		Inputs:      make([]inputFields, len(packet.Inputs)),
		Outputs:     make([]outputFields, len(packet.Outputs)),
	}
	spent, paid := coinSum{maximum: maximum}, coinSum{maximum: maximum}
	for i, input := range packet.Inputs {
		value, known := spentValue(input, packet.Tx.TxIn[i].PreviousOutPoint.Index)
		spent.add(value, known)
		shown.Inputs[i] = showInput(p, input)
	}
	for i, output := range packet.Outputs {
		paid.add(btcutil.Amount(packet.Tx.TxOut[i].Value), true)
		shown.Outputs[i] = showOutput(p, output)
	}
	if !spent.unknown && !paid.unknown {
		shown.Fee = new(jsontree.Amount(spent.sum - paid.sum))
	}
	if packet.Version == 2 {
		shown.addV2(p, packet)
	} else {
		shown.Tx = new(p.Tx(packet.Tx, txjson.Options{}))
	}
	return shown
}

// addV2 shows what version 2 has in its maps, and version 0 in the transaction.
func (s *shownPacket) addV2(p *txjson.Printer, packet *psbt.Packet) {
	s.TxVersion = new(uint32(packet.Tx.Version))
	s.FallbackLockTime = showNumber(packet.Global, psbt.FallbackLockTime)
	s.InputCount, s.OutputCount = new(len(packet.Inputs)), new(len(packet.Outputs))
	if raw, ok := packet.Global.One(psbt.TxModifiable); ok {
		s.InputsModifiable = new(raw[0]&psbt.InputsModifiable != 0)
		s.OutputsModifiable = new(raw[0]&psbt.OutputsModifiable != 0)
		s.HasSigHashSingle = new(raw[0]&psbt.HasSigHashSingle != 0)
	}
	for i, in := range packet.Tx.TxIn {
		to := &s.Inputs[i]
		to.PreviousTxID, to.PreviousVout = in.PreviousOutPoint.Hash.String(), &in.PreviousOutPoint.Index
		to.Sequence = showNumber(packet.Inputs[i], psbt.Sequence)
		to.TimeLock = showNumber(packet.Inputs[i], psbt.TimeLock)
		to.HeightLock = showNumber(packet.Inputs[i], psbt.HeightLock)
	}
	for i, out := range packet.Tx.TxOut {
		s.Outputs[i].Amount, s.Outputs[i].Script = new(jsontree.Amount(out.Value)), new(p.ScriptPubKey(out.PkScript))
	}
}

// showNumber shows a number that may be absent.
func showNumber(m psbt.Map, kind uint64) *uint32 {
	if n, ok := m.Number(kind); ok {
		return &n
	}
	return nil
}

// coinSum adds values. It is unknown when one of them is, or when one of them or
// the sum is more than there can be.
type coinSum struct {
	sum, maximum btcutil.Amount
	unknown      bool
}

func (c *coinSum) add(value btcutil.Amount, known bool) {
	if !known || value < 0 || value > c.maximum || c.sum+value > c.maximum {
		c.unknown = true
		return
	}
	c.sum += value
}

// spentValue returns the value of what an input spends. Of the two fields that
// may tell, the whole transaction counts.
func spentValue(input psbt.Map, index uint32) (btcutil.Amount, bool) {
	if raw, ok := input.One(psbt.NonWitnessUTXO); ok {
		return btcutil.Amount(psbt.NewValue(raw).Tx(true).TxOut[index].Value), true
	}
	if raw, ok := input.One(psbt.WitnessUTXO); ok {
		value := psbt.NewValue(raw).Output().Value
		return btcutil.Amount(value), value != -1
	}
	return 0, false
}

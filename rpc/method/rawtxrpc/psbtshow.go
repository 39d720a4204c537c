package rawtxrpc

import (
	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/txjson"
)

// shownPacket is a partially signed transaction as it is shown.
type shownPacket struct {
	Tx          txjson.Tx          `json:"tx"`
	XPubs       []xpubEntry        `json:"global_xpubs"`
	Version     uint32             `json:"psbt_version"` // of the format; 0 is the only one
	Proprietary []proprietaryField `json:"proprietary"`
	Unknown     jsontree.Members   `json:"unknown"`
	Inputs      []inputFields      `json:"inputs"`
	Outputs     []outputFields     `json:"outputs"`
	Fee         *jsontree.Amount   `json:"fee,omitempty"` // if it is known what all inputs spend
}

// showPacket prints a packet as decodepsbt does. maximum is how much money there can be.
func showPacket(p *txjson.Printer, packet *psbt.Packet, maximum btcutil.Amount) shownPacket {
	shown := shownPacket{
		Tx:          p.Tx(packet.Tx, txjson.Options{}),
		XPubs:       showXPubs(packet.Global),
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
	return shown
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

package txjson

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// An Input is one input of a transaction as shown. It is either that of a
// coinbase, with its script as hex, or it spends an output.
type Input struct {
	Coinbase *jsontree.Hex `json:"coinbase,omitempty"`
	*Spend
	Witness  []jsontree.Hex `json:"txinwitness,omitempty"`
	Prevout  *Prevout       `json:"prevout,omitempty"`
	Sequence uint32         `json:"sequence"`
}

// A Spend says which output an input spends, and by which script.
type Spend struct {
	TxID   chainhash.Hash `json:"txid"`
	Index  uint32         `json:"vout"`
	Script ScriptSig      `json:"scriptSig"`
}

// A Prevout is the output that an input spends, as shown.
type Prevout struct {
	Generated bool            `json:"generated"` // by a coinbase
	Height    int32           `json:"height"`    // of the block that created it
	Value     jsontree.Amount `json:"value"`
	Script    ScriptPubKey    `json:"scriptPubKey"`
}

func newInput(in *wire.TxIn, coinbase bool) Input {
	shown := Input{Sequence: in.Sequence}
	if coinbase {
		shown.Coinbase = new(jsontree.Hex(in.SignatureScript))
	} else {
		previous := &in.PreviousOutPoint
		shown.Spend = &Spend{previous.Hash, previous.Index, NewScriptSig(in.SignatureScript)}
	}
	if len(in.Witness) > 0 {
		shown.Witness = make([]jsontree.Hex, len(in.Witness))
	}
	for i, item := range in.Witness {
		shown.Witness[i] = item
	}
	return shown
}

func (p *Printer) prevout(coin *chainview.Coin) *Prevout {
	return &Prevout{
		Generated: coin.Coinbase,
		Height:    coin.Height,
		Value:     jsontree.Amount(coin.Value),
		Script:    p.ScriptPubKey(coin.Script),
	}
}

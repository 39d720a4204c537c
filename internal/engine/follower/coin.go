package follower

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/messages"
)

// Coin implements engine.Validator by asking Core, of its present tip. An error of
// Core's is a [messages.Refusal].
func (e *Engine) Coin(out wire.OutPoint) (messages.Coin, error) {
	var answer *struct {
		BestBlock     corenode.Hash `json:"bestblock"`
		Confirmations int32         `json:"confirmations"`
		Value         json.Number   `json:"value"`
		Script        struct {
			Hex string `json:"hex"`
		} `json:"scriptPubKey"`
		Coinbase bool `json:"coinbase"`
	}
	err := e.core.Call(e.source.ctx, &answer, "gettxout", out.Hash.String(), out.Index, false)
	if err != nil {
		return messages.Coin{}, refusal{err}
	}
	if answer == nil {
		return messages.Coin{}, messages.ErrNoCoin
	}
	script, err := hex.DecodeString(answer.Script.Hex)
	value, ok := parseAmount(string(answer.Value))
	if err != nil || !ok || answer.Confirmations < 1 {
		return messages.Coin{}, refusal{fmt.Errorf("%w: output", corenode.ErrReply)}
	}
	hash := chainhash.Hash(answer.BestBlock)
	tip := e.tree.Lookup(&hash)
	if tip == nil { // Core has moved
		if err := e.Follow(e.source.ctx); err != nil {
			return messages.Coin{}, err
		}
		if tip = e.tree.Lookup(&hash); tip == nil {
			return messages.Coin{}, messages.ErrTipMoved
		}
	}
	return messages.Coin{
		Output: wire.NewTxOut(int64(value), script), Height: tip.Height - answer.Confirmations + 1,
		Coinbase: answer.Coinbase, Tip: messages.Tip{Hash: tip.Hash, Height: tip.Height},
	}, nil
}

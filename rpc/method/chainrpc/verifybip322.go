package chainrpc

import (
	"bytes"
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/bip322"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func verifyBIP322(d *Deps) command.Command {
	return command.Command{
		Name:     "verifybip322",
		Category: command.Util,
		About:    command.Filters, Effect: command.Reads, Own: true,
		Summary: "Tells whether a message was signed for an address by BIP322, in the form simple, full or proof of " +
			"funds, or by signmessage for a P2PKH address.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "the address, of any script"},
			{Name: "signature", Type: command.String, Help: "the signature with its prefix: smp, ful or pof"},
			{Name: "message", Type: command.String, Help: "the message"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Bool, Key: "valid", Help: "whether the signature is valid"},
			{
				Type: command.String, Key: "state",
				Help: `"valid", "invalid", or "inconclusive": valid unless rules that this node does not know forbid it`,
			},
			{Type: command.String, Key: "reason", Optional: true, Help: "why it is not valid"},
			{Type: command.String, Key: "format", Help: `"simple", "full", "proof_of_funds" or "legacy"`},
			{Type: command.Number, Key: "locktime", Help: "lock time from which on the address's script allows this"},
			{Type: command.Number, Key: "sequence", Help: "sequence number: the age of a coin that the script asks for"},
			{
				Type: command.Array, Key: "funds", Optional: true,
				Help:  "outputs that the signer controls besides, of a proof of funds that is not invalid",
				Inner: []command.Result{{Type: command.Object, Inner: fundResults}},
			},
			{
				Type: command.Hex, Key: "bestblock", Optional: true,
				Help: "hash of the tip at which the outputs were looked up",
			},
		}}},
		Examples: []string{
			`["bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l", "smpAkcwRAIgM2gBAQqvZX15ZiysmKmQpDrG83avLIT492QBzLnQIxYC` +
				`IBaTpOaD20qRlEylyxFSeEA2ba9YOixpX8z46TSDtS40ASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=", ""]`,
		},
		Run: func(ctx context.Context, a *command.Args) (any, error) { return verifySigned(ctx, d, a) },
	}
}

// fundResults are the members of an output of a proof of funds.
var fundResults = []command.Result{
	{Type: command.Hex, Key: "txid", Help: "id of the transaction"},
	{Type: command.Number, Key: "vout", Help: "index of the output"},
	{Type: command.Amount, Key: "amount", Help: "its value, as the proof says"},
	{Type: command.Hex, Key: "scriptPubKey", Help: "its script, as the proof says"},
	{
		Type: command.Bool, Key: "unspent", Optional: true,
		Help: "whether the chain has this output, unspent; left out beside a Bitcoin Core, whose gettxout tells it",
	},
}

// bip322Result is what verifybip322 returns.
type bip322Result struct {
	Valid    bool         `json:"valid"`
	State    bip322.State `json:"state"`
	Reason   string       `json:"reason,omitempty"`
	Format   bip322.Form  `json:"format"`
	LockTime uint32       `json:"locktime"`
	Sequence uint32       `json:"sequence"`
	Funds    []bip322Fund `json:"funds,omitempty"`

	BestBlock *chainhash.Hash `json:"bestblock,omitempty"`
}

type bip322Fund struct {
	TxID    chainhash.Hash  `json:"txid"`
	Vout    uint32          `json:"vout"`
	Amount  jsontree.Amount `json:"amount"`
	Script  jsontree.Hex    `json:"scriptPubKey"`
	Unspent *bool           `json:"unspent,omitempty"`
}

func verifySigned(ctx context.Context, d *Deps, a *command.Args) (any, error) {
	var texts [3]string
	for i := range texts {
		var err error
		if texts[i], err = a.String(i); err != nil {
			return nil, err
		}
	}
	address, signature, message := texts[0], texts[1], texts[2]
	pkScript, err := descriptor.ScriptOfAddress(address, d.Network.Descriptors())
	if err != nil {
		return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Invalid address"}
	}
	r, err := bip322.Verify(ctx, &d.Network.Rules, pkScript, message, signature)
	if err != nil {
		return nil, err
	}
	result := bip322Result{
		Valid: r.State == bip322.Valid, State: r.State, Reason: r.Reason, Format: r.Form, LockTime: r.Time,
		Sequence: r.Age,
	}
	if result.Funds, result.BestBlock, err = lookUpFunds(ctx, d, r.Funds); err != nil {
		return nil, err
	}
	return result, nil
}

// lookUpFunds tells which outputs of a proof the chain has, unspent, at the returned tip. The pool does not count: an
// unconfirmed output proves nothing, and an unconfirmed transaction spends nothing yet.
func lookUpFunds(
	ctx context.Context, d *Deps, proven []bip322.Fund,
) (funds []bip322Fund, tip *chainhash.Hash, err error) {
	outs := make([]wire.OutPoint, len(proven))
	for i, f := range proven {
		outs[i] = f.Out
		funds = append(funds, bip322Fund{
			TxID: f.Out.Hash, Vout: f.Out.Index, Amount: jsontree.Amount(f.Output.Value), Script: f.Output.PkScript,
		})
	}
	if d.Attached || len(outs) == 0 {
		return funds, nil, nil
	}
	found, err := ask.Ask(ctx, d.Actor, messages.GetCoins{Outs: outs})
	if err != nil {
		return nil, nil, err
	}
	for i, f := range proven {
		coin, ok := found.Coins[f.Out]
		ok = ok && coin.Output.Value == f.Output.Value &&
			bytes.Equal(coin.Output.PkScript, f.Output.PkScript)
		funds[i].Unspent = &ok
	}
	return funds, &found.Tip.Hash, nil
}

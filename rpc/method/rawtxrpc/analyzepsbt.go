package rawtxrpc

import (
	"context"
	"encoding/hex"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
)

// analysis is how far a partially signed transaction is.
type analysis struct {
	Inputs  []inputAnalysis  `json:"inputs,omitempty"`
	VSize   *int64           `json:"estimated_vsize,omitempty"`
	FeeRate *jsontree.Amount `json:"estimated_feerate,omitempty"`
	Fee     *jsontree.Amount `json:"fee,omitempty"`
	Next    string           `json:"next"`
	Error   string           `json:"error,omitempty"`
}

type inputAnalysis struct {
	HasUTXO bool         `json:"has_utxo"`
	Final   bool         `json:"is_final"`
	Next    string       `json:"next"`
	Missing *missingData `json:"missing,omitempty"`
}

type missingData struct {
	PubKeys       []string `json:"pubkeys,omitempty"`
	RedeemScript  string   `json:"redeemscript,omitempty"`
	WitnessScript string   `json:"witnessscript,omitempty"`
	Signatures    []string `json:"signatures,omitempty"`
	PQCKeys       []string `json:"p2mr_signatures,omitempty"`
}

func (m *methods) analyzePSBT() command.Command {
	return command.Command{
		Name:     "analyzepsbt",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Says how far a partially signed transaction (BIP174) is, what its inputs lack, and who is next.",
		Params: []command.Param{
			{Name: "psbt", Type: command.String, Help: "the partially signed transaction in base64"},
		},
		Results:  analysisResults,
		Examples: []string{`["psbt"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			p, err := m.readPacket(text)
			if err != nil {
				return nil, err
			}
			return showAnalysis(rawtx.Analyze(p, m.Network.NewSigning, rawtx.AnalysisRules{
				MaxMoney: m.Network.Rules.MaxMoney, WitnessScale: int(m.Network.Rules.WitnessScale),
				BytesPerSigOp: m.BytesPerSigOp,
			})), nil
		},
	}
}

var analysisResults = []command.Result{{Type: command.Object, Inner: []command.Result{
	{Type: command.Array, Key: "inputs", Optional: true, Inner: []command.Result{{
		Type: command.Object, Inner: []command.Result{
			{Type: command.Bool, Key: "has_utxo", Help: "whether it is known what the input spends"},
			{Type: command.Bool, Key: "is_final", Help: "whether it has its final scripts"},
			{
				Type: command.Object, Key: "missing", Optional: true, Help: "what it lacks", Inner: []command.Result{
					{Type: command.Array, Key: "pubkeys", Optional: true, Inner: []command.Result{
						{Type: command.Hex, Key: "keyid", Help: "hash of a public key that is not known"},
					}},
					{Type: command.Array, Key: "signatures", Optional: true, Inner: []command.Result{
						{Type: command.Hex, Key: "keyid", Help: "hash of a public key whose signature is missing"},
					}},
					{Type: command.Array, Key: "p2mr_signatures", Optional: true, Inner: []command.Result{
						{Type: command.Hex, Key: "pubkey", Help: "key of P2MR whose signature is missing"},
					}},
					{
						Type: command.Hex, Key: "redeemscript", Optional: true,
						Help: "hash (RIPEMD160 of SHA256) of a redeem script that is not known",
					},
					{
						Type: command.Hex, Key: "witnessscript", Optional: true,
						Help: "hash (SHA256) of a witness script that is not known",
					},
				},
			},
			{Type: command.String, Key: "next", Optional: true, Help: "the role that has to work on the input next"},
		},
	}}},
	{
		Type: command.Number, Key: "estimated_vsize", Optional: true,
		Help: "virtual bytes of the signed transaction, if that can be estimated",
	},
	{
		Type: command.Amount, Key: "estimated_feerate", Optional: true,
		Help: "fee in coins for 1000 virtual bytes, if it is known what all inputs spend",
	},
	{Type: command.Amount, Key: "fee", Optional: true, Help: "the fee, if it is known what all inputs spend"},
	{Type: command.String, Key: "next", Help: "the role that has to work on the transaction next"},
	{Type: command.String, Key: "error", Optional: true, Help: "what is wrong with it"},
}}}

func showAnalysis(a rawtx.Analysis) analysis {
	shown := analysis{Next: a.Next.String(), Error: a.Error}
	for _, in := range a.Inputs {
		shown.Inputs = append(shown.Inputs, inputAnalysis{
			in.HasCoin, in.Final, in.Next.String(), showMissing(&in.Missing),
		})
	}
	if a.Fee != nil {
		shown.Fee = new(jsontree.Amount(*a.Fee))
	}
	if a.Size != nil {
		shown.VSize, shown.FeeRate = &a.Size.VSize, new(jsontree.Amount(a.Size.FeeRate))
	}
	return shown
}

func showMissing(m *rawtx.Missing) *missingData {
	if len(m.Keys)+len(m.Signatures)+len(m.Redeem)+len(m.Witness)+len(m.PQCKeys) == 0 {
		return nil
	}
	shown := &missingData{RedeemScript: hex.EncodeToString(m.Redeem), WitnessScript: hex.EncodeToString(m.Witness)}
	for _, id := range m.Keys {
		shown.PubKeys = append(shown.PubKeys, hex.EncodeToString(id[:]))
	}
	for _, id := range m.Signatures {
		shown.Signatures = append(shown.Signatures, hex.EncodeToString(id[:]))
	}
	for _, key := range m.PQCKeys {
		shown.PQCKeys = append(shown.PQCKeys, key.String())
	}
	return shown
}

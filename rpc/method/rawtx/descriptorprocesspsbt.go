package rawtx

import (
	"context"

	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/signing"
)

// processedPacket is a partially signed transaction that was signed.
type processedPacket struct {
	PSBT     string `json:"psbt"`
	Complete bool   `json:"complete"`
	Hex      string `json:"hex,omitempty"`
}

func (m *methods) descriptorProcessPSBT() command.Command {
	return command.Command{
		Name:     "descriptorprocesspsbt",
		Category: command.RawTransactions,
		Summary: "Puts into a partially signed transaction (BIP174) what its inputs spend, as utxoupdatepsbt does,\n" +
			"and what descriptors tell of its inputs and outputs, and signs it with their private keys.",
		Params: []command.Param{
			{Name: "psbt", Type: command.String, Help: "the partially signed transaction in base64"},
			descriptorsParam(false),
			signing.HashTypeParam(),
			{
				Name: "bip32derivs", Type: command.Bool, Default: "true",
				Help: "whether it is told where keys come from (BIP32)",
			},
			{
				Name: "finalize", Type: command.Bool, Default: "true",
				Help: "whether inputs that have all signatures get their final scripts",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "psbt", Help: "the partially signed transaction in base64"},
			{Type: command.Bool, Key: "complete", Help: "whether it has all signatures"},
			{Type: command.Hex, Key: "hex", Optional: true, Help: "the transaction, if it is complete"},
		}}},
		Examples: []string{
			`["psbt", ["descriptor1", "descriptor2"]]`,
			`["psbt", [{"desc":"mydescriptor", "range":21}]]`,
		},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			known := m.newKnown()
			defer known.Zero()
			return m.runDescriptorProcess(ctx, a, known)
		},
	}
}

func (m *methods) runDescriptorProcess(ctx context.Context, a *command.Args, known *rawtx.Signing) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	list, err := a.Array(1)
	if err != nil {
		return nil, err
	}
	if err := m.addDescriptors(ctx, list, known, true); err != nil {
		return nil, err
	}
	how := processing{known: known}
	if how.hashType, err = signing.WantedHashType(a.Value(2)); err != nil {
		return nil, err
	}
	derivations, err := a.BoolOr(3, true)
	if err != nil {
		return nil, err
	}
	if !derivations {
		known.Origins = nil
	}
	if how.finalize, err = a.BoolOr(4, true); err != nil {
		return nil, err
	}
	p, err := m.process(ctx, text, how)
	if err != nil {
		return nil, err
	}
	complete := true
	for i := range p.Inputs {
		complete = complete && p.Final(i)
	}
	got := processedPacket{PSBT: p.Encode()}
	// Final scripts that came with the packet may be of an output that nobody knows.
	if complete && rawtx.NewPacketSigning(p, m.Network.NewSigning).Finalize() {
		got.Complete, got.Hex = true, encodeTx(p.Extract())
	}
	return got, nil
}

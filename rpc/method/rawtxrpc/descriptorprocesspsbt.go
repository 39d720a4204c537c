package rawtxrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func (m *methods) descriptorProcessPSBT() command.Command {
	return command.Command{
		Name:     "descriptorprocesspsbt",
		Category: command.RawTransactions,
		About:    command.Pure,
		Summary: "Puts into a partially signed transaction (BIP174) what its inputs spend, as utxoupdatepsbt does,\n" +
			"and what descriptors tell of its inputs and outputs, and signs it with their private keys.",
		Params:  arg.SignPacketParams(descriptorsParam(false)),
		Results: arg.SignedPacketResults(),
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
	options := func() error {
		_, err := arg.ReadSignOptions(a)
		return err
	}
	if err := m.refuseEarly(ctx, list, true, options, text); err != nil {
		return nil, err
	}
	if err := m.addDescriptors(ctx, list, known, true); err != nil {
		return nil, err
	}
	o, err := arg.ReadSignOptions(a)
	if err != nil {
		return nil, err
	}
	if !o.Derivations {
		known.Origins = nil
	}
	p, err := m.process(ctx, text, processing{known: known, hashType: o.HashType, finalize: o.Finalize, sign: true})
	if err != nil {
		return nil, err
	}
	complete := true
	for i := range p.Inputs {
		complete = complete && p.Final(i)
	}
	got := arg.SignedPacket{PSBT: p.Encode()}
	// Final scripts that came with the packet may be of an output that nobody knows.
	if complete && rawtx.NewPacketSigning(p, m.Network.NewSigning).Finalize() {
		got.Complete, got.Hex = true, encodeTx(p.Extract())
	}
	return got, nil
}

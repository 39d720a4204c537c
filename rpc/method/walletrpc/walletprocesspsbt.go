package walletrpc

import (
	"bytes"
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// processed is a partially signed transaction that the wallet has signed, with what its keys of P2MR have
// signed.
type processed struct {
	arg.SignedPacket
	pqcSigned
}

func (m *methods) walletProcessPSBT() command.Command {
	return command.Command{
		Name:     "walletprocesspsbt",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Puts into a partially signed transaction (BIP174, BIP370) what the wallet knows of it, and signs\n" +
			"what it can. The wallet must be unlocked to sign.",
		Params: arg.SignPacketParams(command.Param{
			Name: "sign", Type: command.Bool, Default: "true", Help: "whether it is signed",
		}),
		Results:  arg.SignedPacketResults(pqcSignedResults()...),
		Examples: []string{`["psbt"]`},
		Run:      m.on(m.runProcess),
	}
}

func (m *methods) runProcess(ctx context.Context, w chosen, a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	if _, err := m.Network.DecodePSBT(text); err != nil {
		return nil, command.Errorf(command.DeserializationError, "TX decode failed %v", err)
	}
	o, err := arg.ReadSignOptions(a)
	if err != nil {
		return nil, err
	}
	q := messages.FillPacket{
		PSBT: text, HashType: o.HashTypeName, Derivations: o.Derivations, Finalize: o.Finalize,
	}
	if q.Sign, err = a.BoolOr(1, true); err != nil {
		return nil, err
	}
	if q.Sign {
		s, err := w.state(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.needUnlocked(); err != nil {
			return nil, err
		}
	}
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	return processed{
		arg.SignedPacket{PSBT: got.PSBT, Complete: got.Complete, Hex: txHex(got.Tx)},
		newPQCSigned(got.PQCKeys),
	}, nil
}

// txHex prints a transaction, nil as nothing.
func txHex(tx *wire.MsgTx) string {
	if tx == nil {
		return ""
	}
	var raw bytes.Buffer
	_ = tx.Serialize(&raw) // a buffer does not fail
	return hex.EncodeToString(raw.Bytes())
}

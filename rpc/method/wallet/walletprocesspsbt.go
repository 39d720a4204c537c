package wallet

import (
	"bytes"
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/signing"
)

// processed is a partially signed transaction that the wallet has signed.
type processed struct {
	PSBT     string `json:"psbt"`
	Complete bool   `json:"complete"`
	Hex      string `json:"hex,omitempty"`
}

func (m *methods) walletProcessPSBT() command.Command {
	return command.Command{
		Name:     "walletprocesspsbt",
		Category: command.Wallet,
		Summary: "Puts into a partially signed transaction (BIP174) what the wallet knows of it, and signs what\n" +
			"it can. The wallet must be unlocked to sign.",
		Params: []command.Param{
			{Name: "psbt", Type: command.String, Help: "the partially signed transaction in base64"},
			{Name: "sign", Type: command.Bool, Default: "true", Help: "whether it is signed"},
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
		Examples: []string{`["psbt"]`},
		Run:      m.on(m.runProcess),
	}
}

func (*methods) runProcess(ctx context.Context, w chosen, a *command.Args) (any, error) {
	var q messages.FillPacket
	var err error
	if q.PSBT, err = a.String(0); err != nil {
		return nil, err
	}
	if _, err := psbt.Decode(q.PSBT); err != nil {
		return nil, command.Errorf(command.DeserializationError, "TX decode failed %v", err)
	}
	if _, err := signing.HashType(a.Value(2)); err != nil {
		return nil, err
	}
	q.HashType = a.Value(2).Text()
	if q.Sign, err = a.BoolOr(1, true); err != nil {
		return nil, err
	}
	if q.Derivations, err = a.BoolOr(3, true); err != nil {
		return nil, err
	}
	if q.Finalize, err = a.BoolOr(4, true); err != nil {
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
	return processed{got.PSBT, got.Complete, txHex(got.Tx)}, nil
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

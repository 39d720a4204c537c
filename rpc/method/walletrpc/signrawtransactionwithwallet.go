package walletrpc

import (
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func (m *methods) signRawTransactionWithWallet() command.Command {
	return command.Command{
		Name:     "signrawtransactionwithwallet",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Signs the inputs of a transaction with the wallet's keys. The wallet must be unlocked.",
		Params: []command.Param{
			{Name: "hexstring", Type: command.String, Help: "the serialized transaction"},
			{
				Name: "prevtxs", Type: command.Array, Optional: true,
				Help:  "outputs that are spent, where the chain does not have them yet",
				Inner: []command.Param{{Type: command.Object, Optional: true, Inner: arg.PrevOutParams()}},
			},
			arg.HashTypeParam(),
		},
		Results:  signedResults(),
		Examples: []string{`["myhex"]`},
		Run:      m.on(m.sign),
	}
}

func signedResults() []command.Result {
	results := arg.SignedResults()
	results[0].Inner = append(results[0].Inner, pqcSignedResults()...)
	return results
}

func (m *methods) sign(ctx context.Context, w chosen, a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	tx, raw := decodeTx(text)
	if tx == nil {
		return nil, arg.ErrDecode
	}
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.needUnlocked(); err != nil {
		return nil, err
	}
	if err := s.needCheckedKeys(toSignOrSend); err != nil {
		return nil, err
	}
	q := messages.SignWithWallet{RawTx: raw}
	if q.Prevs, err = m.prevOuts(ctx, tx, a.Value(1)); err != nil {
		return nil, err
	}
	if _, err := arg.HashType(a.Value(2)); err != nil {
		return nil, err
	}
	q.HashType = a.Value(2).Text()
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	return signedResult{newSigned(&got), newPQCUsage(got.PQCKeys), pqcWarnings(got.PQCKeys)}, nil
}

// signedResult is a signed transaction with what its keys of P2MR have signed.
type signedResult struct {
	arg.Signed
	*pqcUsage
	Warnings []string `json:"warnings,omitempty"`
}

// decodeTx reads a transaction, nil if the text is none.
func decodeTx(text string) (*wire.MsgTx, []byte) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, nil
	}
	tx, ok := rawtx.Decode(raw, rawtx.WitnessForm)
	if !ok {
		return nil, nil
	}
	return tx, raw
}

func newSigned(got *messages.Signed) arg.Signed {
	shown := arg.Signed{Hex: hex.EncodeToString(got.RawTx), Complete: got.Complete}
	for _, e := range got.Errors {
		shown.Errors = append(shown.Errors, arg.InputError{
			TxID: e.TxID, Index: e.Index, Witness: arg.HexItems(e.Witness),
			ScriptSig: hex.EncodeToString(e.ScriptSig), Sequence: e.Sequence, Error: e.Text,
		})
	}
	return shown
}

package rawtxrpc

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func (m *methods) signRawTransactionWithKey() command.Command {
	return command.Command{
		Name:     "signrawtransactionwithkey",
		Category: command.RawTransactions,
		About:    command.Pure,
		Summary: "Signs the inputs of a transaction with the given private keys, and no others.\n" +
			"Signatures that are there already are kept.",
		Params: []command.Param{
			{Name: "hexstring", Type: command.String, Help: "the serialized transaction"},
			{Name: "privkeys", Type: command.Array, Help: "private keys", Secret: true, Inner: []command.Param{
				{
					Name: "privatekey", Type: command.Hex, Optional: true,
					Help: "a private key in wallet import format, or pqc(KEY) on networks that pay to P2MR",
				},
			}},
			{
				Name: "prevtxs", Type: command.Array, Optional: true,
				Help:  "outputs that are spent, where the chain does not have them yet",
				Inner: []command.Param{{Type: command.Object, Optional: true, Inner: prevTxParams()}},
			},
			arg.HashTypeParam(),
		},
		Results:  arg.SignedResults(),
		Examples: []string{`["myhex", ["key1","key2"]]`},
		Run:      m.signWithKey,
	}
}

func (m *methods) signWithKey(ctx context.Context, a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	tx, ok := decodeTx(text, rawtx.WitnessForm)
	if !ok {
		return nil, arg.ErrDecode
	}
	s := m.Network.NewSigning(tx, nil)
	defer s.Zero()
	if err := m.readKeys(ctx, a.Value(1), s); err != nil {
		return nil, err
	}
	if s.Coins, err = m.unspent(ctx, tx); err != nil {
		return nil, err
	}
	if err := m.readPrevTxs(a.Value(2), s); err != nil {
		return nil, err
	}
	if s.HashType, err = arg.HashType(a.Value(3)); err != nil {
		return nil, err
	}
	// Keys that come with a request bring no count of signatures that they have made.
	if err := s.Reserve(func([]slhdsa.Use) error { return nil }); err != nil {
		return nil, err
	}
	failed, err := rawtx.Sign(ctx, s)
	if err != nil {
		return nil, err
	}
	return newSignResult(s, failed)
}

// readKeys reads private keys in wallet import format, and those of P2MR where
// the network has them.
func (m *methods) readKeys(ctx context.Context, list *jsontree.Value, s *rawtx.Signing) error {
	if _, err := list.AsArray(); err != nil {
		return err
	}
	for _, v := range list.Elements() {
		text, err := v.AsString()
		if err != nil {
			return err
		}
		if s.HasP2MR() && isPQC(text) {
			if err := m.readPQCKey(ctx, text, s); err != nil {
				return err
			}
			continue
		}
		if m.net.Restricted {
			return errNoWIF
		}
		if !s.Keys.AddWIF(text, m.net) {
			return command.Error{Code: command.InvalidAddressOrKey, Message: "Invalid private key"}
		}
	}
	return nil
}

// newSignResult shows what was signed. A signature that may be worth nothing is
// an error, as in Core.
func newSignResult(s *rawtx.Signing, failed []rawtx.InputError) (any, error) {
	result := arg.Signed{Complete: len(failed) == 0}
	for _, f := range failed {
		in := s.Tx.TxIn[f.Index]
		if errors.Is(f.Err, rawtx.ErrNoAmount) {
			return nil, command.Errorf(
				command.TypeError, "Missing amount for %s", outputText(s.Coins[in.PreviousOutPoint]),
			)
		}
		result.Errors = append(result.Errors, newInputError(in, f.Err))
	}
	result.Hex = encodeTx(s.Tx)
	return result, nil
}

func newInputError(in *wire.TxIn, err error) arg.InputError {
	return arg.InputError{
		TxID:      in.PreviousOutPoint.Hash,
		Index:     in.PreviousOutPoint.Index,
		Witness:   arg.HexItems(in.Witness),
		ScriptSig: hex.EncodeToString(in.SignatureScript),
		Sequence:  in.Sequence,
		Error:     err.Error(),
	}
}

// outputText prints an output as Core's messages do, with the first bytes of
// its script.
func outputText(out *wire.TxOut) string {
	const shown = 15
	script := out.PkScript[:min(shown, len(out.PkScript))]
	return "CTxOut(nValue=" + jsontree.Amount(out.Value).String() + ", scriptPubKey=" + hex.EncodeToString(script) + ")"
}

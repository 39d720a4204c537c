package walletrpc

import (
	"context"
	"encoding/hex"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview/merkleproof"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func (m *methods) importPrunedFunds() command.Command {
	return command.Command{
		Name:     "importprunedfunds",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Adds a transaction of a block to the wallet without a rescan, which a pruned node cannot do.\n" +
			"An address that it pays to must be the wallet's. Transactions that spend from it have to be\n" +
			"imported too, or found by a rescan of later blocks.",
		Params: []command.Param{
			{Name: "rawtransaction", Type: command.Hex, Help: "the serialized transaction"},
			{Name: "txoutproof", Type: command.Hex, Help: "proof that it is in a block, as of gettxoutproof"},
		},
		Results:  noResult,
		Examples: []string{`["rawtransactionhex", "proofhex"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			raw, err := hex.DecodeString(text)
			tx, ok := rawtx.Decode(raw, rawtx.WitnessForm)
			if err != nil || !ok {
				return nil, arg.ErrDecode
			}
			q := messages.ImportTx{Tx: tx}
			if text, err = a.String(1); err != nil {
				return nil, err
			}
			if err := m.readProof(text, &q); err != nil {
				return nil, err
			}
			_, err = ask.Ask(ctx, w.ref, q)
			return nil, err
		}),
	}
}

// readProof reads in which block the transaction is, and at which place.
func (m *methods) readProof(text string, q *messages.ImportTx) error {
	raw, err := arg.HexText(text, "proof")
	if err != nil {
		return err
	}
	header, proof, err := merkleproof.Read(raw, m.Network.HeaderLen(raw))
	if err != nil {
		return command.Error{Code: command.MiscError, Message: m.Network.Answers.ProofError(err)}
	}
	root, found, ok := proof.Verify(merkleproof.MaxTxs(m.Network.Rules.MaxWeight, m.Network.Rules.WitnessScale))
	if !ok || root != header.MerkleRoot {
		return command.Error{Code: command.InvalidAddressOrKey, Message: "Something wrong with merkleblock"}
	}
	q.Block = header.BlockHash()
	id := q.Tx.TxHash()
	for _, match := range found {
		if match.ID == id {
			q.Index = new(match.Index)
			break
		}
	}
	return nil
}

func (m *methods) removePrunedFunds() command.Command {
	return command.Command{
		Name:     "removeprunedfunds",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Removes a transaction from the wallet, as the opposite of importprunedfunds. What the wallet\n" +
			"has changes by it: the transaction's outputs are gone, and what it spends counts as unspent.",
		Params:   []command.Param{{Name: "txid", Type: command.Hex, Help: "id of the transaction"}},
		Results:  noResult,
		Examples: []string{`["` + exampleTxID + `"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			txid, err := arg.Hash(a.Value(0), "txid")
			if err != nil {
				return nil, err
			}
			_, err = ask.Ask(ctx, w.ref, messages.RemoveTx{TxID: txid})
			return nil, err
		}),
	}
}

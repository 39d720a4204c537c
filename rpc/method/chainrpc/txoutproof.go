package chainrpc

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/chainview/merkleproof"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// How many outputs of a transaction are looked up at first, and each time after that.
const (
	firstOuts = 20
	moreOuts  = 2000
)

// minOutSize is how many bytes an output has at least.
const minOutSize = 9

func getTxOutProof(d *Deps) command.Command {
	return command.Command{
		Name:     "gettxoutproof",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Proves that transactions are in a block. Without the block's hash it is found only while\n" +
			"one of them has an output that is not spent.",
		Params: []command.Param{
			{
				Name: "txids", Type: command.Array, Help: "ids of transactions of one block",
				Inner: []command.Param{{Name: "txid", Type: command.Hex, Optional: true, Help: "an id"}},
			},
			{Name: "blockhash", Type: command.Hex, Optional: true, Help: "hash of the block"},
		},
		Results:  []command.Result{{Type: command.String, Help: "the serialized proof"}},
		Examples: []string{`[["mytxid"], "blockhash"]`},
		Run:      d.txOutProof,
	}
}

func (d *Deps) txOutProof(ctx context.Context, a *command.Args) (any, error) {
	list, err := a.Array(0)
	if err != nil {
		return nil, err
	}
	ids, err := readTxIDs(list)
	if err != nil {
		return nil, err
	}
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	b, err := d.proofBlock(ctx, reader, a, ids)
	if err != nil {
		return nil, err
	}
	outline, err := chainview.OutlineOf(reader, b)
	if errors.Is(err, chainview.ErrUnreadable) {
		return nil, command.Error{Code: command.InternalError, Message: "Can't read block from disk"}
	}
	if err != nil {
		return nil, blockTexts.failure(err)
	}
	found := 0
	proof := merkleproof.New(outline.IDs, func(id chainhash.Hash) bool {
		wanted := slices.Contains(ids, id)
		if wanted {
			found++
		}
		return wanted
	})
	if found != len(ids) {
		return nil, command.Error{
			Code:    command.InvalidAddressOrKey,
			Message: "Not all transactions found in specified or retrieved block",
		}
	}
	var raw bytes.Buffer
	header := b.Header()
	if err := header.Serialize(&raw); err != nil {
		return nil, err
	}
	raw.Write(b.Payload())
	return hex.EncodeToString(proof.Append(raw.Bytes())), nil
}

// readTxIDs reads ids, each of which may be there once.
func readTxIDs(list *jsontree.Value) (ids []chainhash.Hash, err error) {
	if list.Len() == 0 {
		return nil, command.Error{Code: command.InvalidParameter, Message: "Parameter 'txids' cannot be empty"}
	}
	known := make(map[chainhash.Hash]bool, list.Len())
	for _, v := range list.Elements() {
		id, err := arg.Hash(v, "txid")
		if err != nil {
			return nil, err
		}
		if known[id] {
			return nil, command.Errorf(command.InvalidParameter,
				"Invalid parameter, duplicated txid: %s", v.Text())
		}
		known[id] = true
		ids = append(ids, id)
	}
	return ids, nil
}

// proofBlock returns the block that a call names, or the one of the first transaction that
// has an output which is not spent.
func (d *Deps) proofBlock(
	ctx context.Context, reader chainview.Reader, a *command.Args, ids []chainhash.Hash,
) (*chainview.Block, error) {
	if a.Has(1) {
		hash, err := arg.Hash(a.Value(1), "blockhash")
		if err != nil {
			return nil, err
		}
		return lookup(reader, &hash)
	}
	for _, id := range ids {
		height, found, err := d.heightOf(ctx, id)
		if err != nil {
			return nil, err
		}
		if b := reader.Active().At(height); found && b != nil {
			return b, nil
		}
	}
	if b := d.indexedBlock(ctx, reader, ids); b != nil {
		return b, nil
	}
	return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Transaction not yet in block"}
}

// indexedBlock returns the block that the index of transactions has for the lowest of some ids, as
// Core takes it; nil where there is none.
func (d *Deps) indexedBlock(ctx context.Context, reader chainview.Reader, ids []chainhash.Hash) *chainview.Block {
	if d.Txs == nil {
		return nil
	}
	id := slices.MinFunc(ids, func(a, b chainhash.Hash) int { return bytes.Compare(a[:], b[:]) })
	hash, at, _, err := d.Txs.Find(ctx, &id)
	if err != nil || at == chainview.Nowhere {
		return nil
	}
	return reader.Lookup(&hash)
}

// heightOf finds a transaction by its outputs that are not spent.
func (d *Deps) heightOf(ctx context.Context, id chainhash.Hash) (height int32, found bool, err error) {
	rules := d.Network.Rules
	limit := uint32(rules.MaxWeight / (minOutSize * rules.WitnessScale))
	for first, next := uint32(0), uint32(firstOuts); first < limit; first, next = next, next+moreOuts {
		q := messages.GetCoins{}
		for i := first; i < min(next, limit); i++ {
			q.Outs = append(q.Outs, wire.OutPoint{Hash: id, Index: i})
		}
		got, err := ask.Ask(ctx, d.Actor, q)
		if err != nil {
			return 0, false, err
		}
		for _, coin := range got.Coins {
			return coin.Height, true, nil
		}
	}
	return 0, false, nil
}

func verifyTxOutProof(d *Deps) command.Command {
	return command.Command{
		Name:     "verifytxoutproof",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the transactions that a proof is about. Its block must be in the active chain.",
		Params:  []command.Param{{Name: "proof", Type: command.Hex, Help: "the proof, as of gettxoutproof"}},
		Results: []command.Result{{
			Type: command.Array, Help: "empty where nothing is proven",
			Inner: []command.Result{{Type: command.Hex, Help: "id of a transaction"}},
		}},
		Examples: []string{`["proof"]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return d.provenTxs(a) },
	}
}

func (d *Deps) provenTxs(a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	raw, err := arg.HexText(text, "proof")
	if err != nil {
		return nil, err
	}
	header, proof, err := merkleproof.Read(raw, d.Network.HeaderLen(raw))
	if err != nil {
		return nil, command.Error{Code: command.MiscError, Message: d.Network.Answers.ProofError(err)}
	}
	ids := []chainhash.Hash{}
	root, found, ok := proof.Verify(merkleproof.MaxTxs(d.Network.Rules.MaxWeight, d.Network.Rules.WitnessScale))
	if !ok || root != header.MerkleRoot {
		return ids, nil
	}
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	hash := header.BlockHash()
	b := reader.Lookup(&hash)
	if b == nil || !reader.Active().Contains(b) {
		return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Block not found in chain"}
	}
	count, err := b.TxCount(reader)
	if err != nil {
		return nil, blockTexts.failure(err)
	}
	if uint32(count) == proof.Txs {
		for _, m := range found {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}

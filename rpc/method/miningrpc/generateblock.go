package miningrpc

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

type generatedBlock struct {
	Hash chainhash.Hash `json:"hash"`
	Hex  string         `json:"hex,omitempty"`
}

func generateBlock(d *Deps) command.Command {
	return command.Command{
		Name:     "generateblock",
		Category: command.Generating,
		About:    command.State, Effect: command.MovesTip,
		Summary: "Makes one block of the given transactions, whose coins go to an address or a descriptor.",
		Params: []command.Param{
			{Name: "output", Type: command.String, Help: "the address or the descriptor", Secret: true},
			{
				Name: "transactions", Type: command.Array,
				Help: "the transactions after the coinbase in the order of the block: serialized, or by the id of " +
					"one in the mempool",
				Inner: []command.Param{
					{Name: "rawtx/txid", Type: command.Hex, Optional: true, Help: "a transaction or its id"},
				},
			},
			{
				Name: "submit", Type: command.Bool, Default: "true",
				Help: "whether it becomes part of the chain, or is only returned",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Hex, Key: "hash", Help: "hash of the block"},
			{Type: command.Hex, Key: "hex", Optional: true, Help: "the serialized block, for submit=false"},
		}}},
		Examples: []string{`["myaddress", ["rawtx", "mempool_txid"]]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.generateBlock(ctx, a) },
	}
}

func (d *Deps) generateBlock(ctx context.Context, a *command.Args) (any, error) {
	output, err := a.String(0)
	if err != nil {
		return nil, err
	}
	script, isAddress, err := d.outputScript(output) //nolint:contextcheck // one index is derived at once
	if err != nil {
		return nil, err
	}
	texts, err := a.Array(1)
	if err != nil {
		return nil, err
	}
	txs, err := d.readTxs(ctx, texts)
	if err != nil {
		return nil, err
	}
	submit, err := a.BoolOr(2, true)
	if err != nil {
		return nil, err
	}
	if err := d.mayEarn(script, isAddress); err != nil {
		return nil, err
	}
	if err := d.checkEmpty(ctx, script); err != nil {
		return nil, err
	}
	block, err := ask.Ask(ctx, d.Actor, messages.GenerateBlock{
		Script: script, Txs: txs, Submit: submit, Tries: defaultTries,
	})
	if err != nil {
		return nil, generateBlockError(err)
	}
	made := generatedBlock{Hash: block.Hash}
	if !submit {
		made.Hex = hex.EncodeToString(block.Raw)
	}
	return made, nil
}

// outputScript returns the script of a descriptor or an address, and which of both it is.
func (d *Deps) outputScript(output string) (script []byte, isAddress bool, err error) {
	desc, err := d.parse(output)
	if _, broken := errors.AsType[*descriptor.ParseError](err); broken {
		script, err = d.addressScript(output, "Error: Invalid address or descriptor")
		return script, true, err
	}
	if err != nil {
		return nil, false, err
	}
	script, err = scriptOf(desc)
	return script, false, err
}

// readTxs reads transactions that are given serialized. An id stands for one in
// the mempool.
func (d *Deps) readTxs(ctx context.Context, texts *jsontree.Value) ([][]byte, error) {
	var txs [][]byte
	for _, v := range texts.Elements() {
		text, err := v.AsString()
		if err != nil {
			return nil, err
		}
		raw, err := hex.DecodeString(text)
		switch {
		case err == nil && len(raw) == chainhash.HashSize:
			if raw, err = d.poolTx(ctx, text); err != nil {
				return nil, err
			}
		case err != nil || !isTx(raw):
			return nil, command.Errorf(command.DeserializationError,
				"Transaction decode failed for %s. Make sure the tx has at least one input.", text)
		}
		txs = append(txs, raw)
	}
	return txs, nil
}

// poolTx returns a transaction of the mempool, serialized.
func (d *Deps) poolTx(ctx context.Context, text string) ([]byte, error) {
	id, err := chainhash.NewHashFromStr(text)
	if err != nil {
		return nil, err
	}
	tx, err := ask.Ask(ctx, d.Pool, messages.GetPoolTx{ID: *id})
	if errors.Is(err, messages.ErrNotInPool) {
		return nil, command.Errorf(command.InvalidAddressOrKey, "Transaction %s not in mempool.", text)
	}
	if err != nil {
		return nil, err
	}
	return serialized(tx.Tx), nil
}

// isTx reports whether raw is one transaction and nothing else.
func isTx(raw []byte) bool {
	rest := bytes.NewReader(raw)
	return new(wire.MsgTx).Deserialize(rest) == nil && rest.Len() == 0
}

// checkEmpty has a block without transactions put together, and the pool remember its size. As in
// Core that comes first: what is wrong with it is not about the transactions that are given.
func (d *Deps) checkEmpty(ctx context.Context, script []byte) error {
	if _, err := ask.Ask(ctx, d.Pool, messages.SelectTxs{Reserved: d.Blocks.Reserved, Nothing: true}); err != nil {
		return err
	}
	for {
		active, err := d.active()
		if err != nil {
			return err
		}
		_, err = ask.Ask(ctx, d.Actor, messages.MakeTemplate{Script: script, On: active.Tip().Hash})
		if errors.Is(err, messages.ErrTipMoved) {
			continue
		}
		if reject, ok := errors.AsType[*messages.RejectError](err); ok {
			return invalidTemplate(reject)
		}
		return err
	}
}

// generateBlockError puts why no block of the given transactions was made into Core's words.
func generateBlockError(err error) error {
	if reject, ok := errors.AsType[*messages.RejectError](err); ok {
		return command.Errorf(command.VerifyError, "TestBlockValidity failed: %v", reject)
	}
	if errors.Is(err, messages.ErrNotMineable) {
		return command.Error{Code: command.MiscError, Message: "Failed to make block."}
	}
	return notAccepted(err)
}

package miningrpc

import (
	"bytes"
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// defaultTries is how many hashes are computed if nobody says otherwise.
const defaultTries = 1_000_000

// minedParams are those of a method that mines to an output.
func minedParams(count string, output command.Param) []command.Param {
	return []command.Param{
		{Name: count, Type: command.Number, Help: "how many blocks to make"},
		output,
		{Name: "maxtries", Type: command.Number, Default: "1000000", Help: "how many hashes to compute at most"},
	}
}

var minedResults = []command.Result{{
	Type: command.Array, Help: "the blocks made, fewer than asked for where the tries were used up",
	Inner: []command.Result{{Type: command.Hex, Help: "hash of a block"}},
}}

func generateToAddress(d *Deps) command.Command {
	return command.Command{
		Name:     "generatetoaddress",
		Category: command.Generating,
		About:    command.State, Effect: command.MovesTip,
		Summary:  "Makes blocks whose coins go to an address.",
		Params:   minedParams("nblocks", command.Param{Name: "address", Type: command.String, Help: "the address"}),
		Results:  minedResults,
		Examples: []string{`[11, "myaddress"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			count, err := a.Int32(0)
			if err != nil {
				return nil, err
			}
			tries, err := a.Int32Or(2, defaultTries)
			if err != nil {
				return nil, err
			}
			address, err := a.String(1)
			if err != nil {
				return nil, err
			}
			script, err := d.addressScript(address, "Error: Invalid address")
			if err != nil {
				return nil, err
			}
			if err := d.mayEarn(script, true); err != nil {
				return nil, err
			}
			// As in Core a negative number of tries is one without end.
			return d.generate(ctx, script, count, uint64(tries))
		},
	}
}

func generateToDescriptor(d *Deps) command.Command {
	return command.Command{
		Name:     "generatetodescriptor",
		Category: command.Generating,
		About:    command.State, Effect: command.MovesTip,
		Summary: "Makes blocks whose coins go to a descriptor.",
		Params: minedParams("num_blocks", command.Param{
			Name: "descriptor", Type: command.String, Help: "the descriptor", Secret: true,
		}),
		Results:  minedResults,
		Examples: []string{`[11, "mydesc"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			count, err := a.Int32(0)
			if err != nil {
				return nil, err
			}
			tries := uint64(defaultTries)
			if a.Has(2) {
				if tries, err = a.Value(2).AsUint64(); err != nil {
					return nil, err
				}
			}
			text, err := a.String(1)
			if err != nil {
				return nil, err
			}
			desc, err := d.parse(text)
			if broken, ok := errors.AsType[*descriptor.ParseError](err); ok {
				return nil, command.Error{Code: command.InvalidAddressOrKey, Message: broken.Text}
			}
			if err != nil {
				return nil, err
			}
			script, err := scriptOf(desc) //nolint:contextcheck // one index is derived at once
			if err != nil {
				return nil, err
			}
			if err := d.mayEarn(script, false); err != nil {
				return nil, err
			}
			return d.generate(ctx, script, count, tries)
		},
	}
}

// generate makes blocks of the transactions in the pool.
func (d *Deps) generate(ctx context.Context, script []byte, count int32, tries uint64) ([]chainhash.Hash, error) {
	hashes := []chainhash.Hash{}
	for {
		order := messages.Generate{Script: script, Count: int(count) - len(hashes), Tries: tries}
		if err := d.fill(ctx, &order); err != nil {
			return nil, err
		}
		made, err := ask.Ask(ctx, d.Actor, order)
		if errors.Is(err, messages.ErrTipMoved) {
			continue
		}
		if reject, ok := errors.AsType[*messages.RejectError](err); ok {
			return nil, invalidTemplate(reject)
		}
		if err != nil {
			return nil, notAccepted(err)
		}
		hashes = append(hashes, made...)
		if len(made) < order.Count || len(hashes) >= int(count) {
			break // the tries are used up, or everything is there
		}
		tries -= min(tries, d.triesOf(made))
	}
	return hashes, nil
}

// notAccepted puts into Core's words that the chain refuses a block that was made.
func notAccepted(err error) error {
	if errors.Is(err, messages.ErrNotAccepted) {
		return command.Error{Code: command.InternalError, Message: "ProcessNewBlock, block not accepted"}
	}
	return err
}

// fill puts the transactions of the pool, if there are any, into an order for one
// block. Without any, the blocks of the order are made at once.
func (d *Deps) fill(ctx context.Context, order *messages.Generate) error {
	best, err := ask.Ask(ctx, d.Pool, d.selection())
	if err != nil || len(best.Txs) == 0 {
		return err
	}
	order.Count, order.On, order.Fees = min(order.Count, 1), &best.Tip.Hash, best.Fees
	order.Txs = allSerialized(best.Txs)
	return nil
}

func allSerialized(txs []messages.BlockTx) [][]byte {
	raw := make([][]byte, len(txs))
	for i := range txs {
		raw[i] = serialized(txs[i].Tx)
	}
	return raw
}

func serialized(tx *wire.MsgTx) []byte {
	var raw bytes.Buffer
	_ = tx.Serialize(&raw) // a buffer does not fail
	return raw.Bytes()
}

// triesOf returns how many hashes were computed in vain for blocks made here:
// their nonces count them.
func (d *Deps) triesOf(made []chainhash.Hash) uint64 {
	reader, n := d.Chain.Open(), uint64(0)
	for i := range made {
		if b := reader.Lookup(&made[i]); b != nil {
			n += uint64(b.Header().Nonce)
		}
	}
	return n
}

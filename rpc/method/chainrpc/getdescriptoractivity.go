package chainrpc

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func getDescriptorActivity(d *Deps) command.Command {
	printer := d.printer()
	return command.Command{
		Name:     "getdescriptoractivity",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Block,
		Summary: "Returns what a set of output scripts received and spent in some blocks, for instance in those that " +
			"scanblocks found.\n" +
			"Over many blocks this takes minutes: let the client wait that long.",
		Params: []command.Param{
			{
				Name: "blockhashes", Type: command.Array, Help: "blocks of the active chain, in any order",
				Inner: []command.Param{{Name: "blockhash", Type: command.Hex, Optional: true, Help: "hash of a block"}},
			},
			{
				Name: "scanobjects", Type: command.Array, Usage: scanParams[1].Usage, Secret: true,
				Help: "what to look for: descriptors, alone or in an object", Inner: scanParams[1].Inner,
			},
			{Name: "include_mempool", Type: command.Bool, Default: "true", Help: "look into the mempool as well"},
		},
		Results: activityResults,
		Examples: []string{
			`[["000000000000000000001347062c12fded7c528943c8ce133987e2e2f5a840ee"], ["addr(bc1qzl6nsgqzu89a66l50cvwapnkw5shh23zarqkw9)"]]`,
		},
		Run: func(ctx context.Context, a *command.Args) (any, error) { return d.activity(ctx, printer, a) },
	}
}

var activityResults = []command.Result{{Type: command.Object, Inner: []command.Result{
	{
		Type: command.Array, Key: "activity", Help: "in the order of the blocks, those of the mempool last",
		Inner: []command.Result{
			{Type: command.Object, Help: "an output was spent", Inner: []command.Result{
				{Type: command.String, Key: "type", Help: "spend"},
				{Type: command.Amount, Key: "amount", Help: "value of the output"},
				{Type: command.Hex, Key: "blockhash", Optional: true, Help: "block of the spend; not in the mempool"},
				{Type: command.Number, Key: "height", Optional: true, Help: "height of that block"},
				{Type: command.Hex, Key: "spend_txid", Help: "transaction that spends it"},
				{Type: command.Number, Key: "spend_vin", Help: "index of the input"},
				{Type: command.Hex, Key: "prevout_txid", Help: "transaction that created it"},
				{Type: command.Number, Key: "prevout_vout", Help: "index of the output"},
				{Type: command.Object, Key: "prevout_spk", Help: "its script", Inner: scriptResults},
			}},
			{Type: command.Object, Help: "an output was received", Inner: []command.Result{
				{Type: command.String, Key: "type", Help: "receive"},
				{Type: command.Amount, Key: "amount", Help: "value of the output"},
				{Type: command.Hex, Key: "blockhash", Optional: true, Help: "its block; not in the mempool"},
				{Type: command.Number, Key: "height", Optional: true, Help: "height of that block"},
				{Type: command.Hex, Key: "txid", Help: "its transaction"},
				{Type: command.Number, Key: "vout", Help: "index of the output"},
				{Type: command.Object, Key: "output_spk", Help: "its script", Inner: scriptResults},
			}},
		},
	},
	widenedResult,
}}}

// spendEvent is an output that was spent.
type spendEvent struct {
	Type      string              `json:"type"`
	Amount    jsontree.Amount     `json:"amount"`
	BlockHash *chainhash.Hash     `json:"blockhash,omitempty"`
	Height    *int32              `json:"height,omitempty"`
	TxID      chainhash.Hash      `json:"spend_txid"`
	Input     int                 `json:"spend_vin"`
	FromTxID  chainhash.Hash      `json:"prevout_txid"`
	FromIndex uint32              `json:"prevout_vout"`
	Script    txjson.ScriptPubKey `json:"prevout_spk"`
}

// receiveEvent is an output that was created.
type receiveEvent struct {
	Type      string              `json:"type"`
	Amount    jsontree.Amount     `json:"amount"`
	BlockHash *chainhash.Hash     `json:"blockhash,omitempty"`
	Height    *int32              `json:"height,omitempty"`
	TxID      chainhash.Hash      `json:"txid"`
	Index     int                 `json:"vout"`
	Script    txjson.ScriptPubKey `json:"output_spk"`
}

// activities gathers what happened to some scripts.
type activities struct {
	printer *txjson.Printer
	sought  *filters.Query
	events  []any // of spendEvent and receiveEvent; nil: they are only summed up
	sum     receipt.Activity
}

// printer prints transactions and scripts of the node's network.
func (d *Deps) printer() *txjson.Printer {
	return &txjson.Printer{Net: d.Network.Descriptors(), WitnessScale: int(d.Network.Rules.WitnessScale)}
}

func (d *Deps) activity(ctx context.Context, p *txjson.Printer, a *command.Args) (any, error) {
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	blocks, err := activityBlocks(reader, a)
	if err != nil {
		return nil, err
	}
	objects, err := a.Array(1)
	if err != nil {
		return nil, err
	}
	w, err := newWidening(ctx, d, new(holder), p.Net, objects, nil)
	if err != nil {
		return nil, err
	}
	found := activities{printer: p, events: []any{}}
	if !w.widens() {
		found.sought = w.rounds.Query()
		for _, b := range blocks {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := found.addBlock(reader, b); err != nil {
				return nil, err
			}
		}
	}
	unconfirmed, err := a.BoolOr(2, true)
	if err != nil {
		return nil, err
	}
	var pool []poolTx
	if unconfirmed && !d.Attached && !d.Pool.IsAbsent() {
		if pool, err = poolTxs(ctx, d.Pool); err != nil {
			return nil, err
		}
	}
	if w.widens() {
		if err := found.widen(ctx, w, reader, blocks, pool); err != nil {
			return nil, err
		}
	}
	for i := range pool {
		found.addUnconfirmed(&pool[i])
	}
	return struct {
		Activity []any          `json:"activity"`
		Ranges   []widenedRange `json:"descriptors,omitempty"`
	}{found.events, w.ranges(true)}, nil
}

// widen widens ranges until the blocks and the memory pool have nothing more, and adds what happened in the blocks.
func (s *activities) widen(
	ctx context.Context, w *widening, reader chainview.Reader, blocks []*chainview.Block, pool []poolTx,
) error {
	_, err := w.all(ctx, func(q *filters.Query) (found passed, err error) {
		found.completed = true
		for _, b := range blocks {
			if err := ctx.Err(); err != nil {
				return found, err
			}
			scripts, err := scriptsOf(reader, b)
			if err != nil {
				return found, err
			}
			found.add(b.Hash, q, scripts)
		}
		for i := range pool {
			found.add(chainhash.Hash{}, q, pool[i].scripts())
		}
		return found, nil
	}, func() {})
	if err != nil {
		return err
	}
	s.sought = w.sought()
	for _, hash := range w.blocks(reader, math.MaxInt32) {
		if err := s.addBlock(reader, reader.Lookup(&hash)); err != nil {
			return err
		}
	}
	return nil
}

// add notes which scripts of a query are among some.
func (p *passed) add(block chainhash.Hash, q *filters.Query, scripts [][]byte) {
	var places []uint32
	for _, script := range scripts {
		if place, has := q.Place(script); has {
			places = append(places, uint32(place))
		}
	}
	if len(places) > 0 {
		slices.Sort(places)
		p.blocks, p.uses = append(p.blocks, block), append(p.uses, slices.Compact(places))
	}
}

// scriptsOf returns the scripts that a block creates and spends.
func scriptsOf(reader chainview.Reader, b *chainview.Block) (scripts [][]byte, err error) {
	block, err := reader.Block(&b.Hash)
	if err != nil {
		return nil, blockTexts.failure(err)
	}
	if scripts, err = reader.SpentScripts(&b.Hash); err != nil {
		return nil, blockTexts.failure(err)
	}
	scripts = slices.Clip(scripts)
	for _, tx := range block.Transactions {
		for _, out := range tx.TxOut {
			scripts = append(scripts, out.PkScript)
		}
	}
	return scripts, nil
}

// activityBlocks returns the blocks of argument 0 by height, each once.
func activityBlocks(reader chainview.Reader, a *command.Args) ([]*chainview.Block, error) {
	list, err := a.Array(0)
	if err != nil {
		return nil, err
	}
	active := reader.Active()
	blocks := map[chainhash.Hash]*chainview.Block{}
	for _, v := range list.Elements() {
		hash, err := arg.Hash(v, "blockhash")
		if err != nil {
			return nil, err
		}
		b, err := lookup(reader, &hash)
		if err != nil {
			return nil, err
		}
		if !active.Contains(b) {
			return nil, command.Error{Code: command.InvalidParameter, Message: "Block is not in main chain"}
		}
		blocks[b.Hash] = b
	}
	byHeight := func(a, b *chainview.Block) int { return cmp.Compare(a.Height, b.Height) }
	return slices.SortedFunc(maps.Values(blocks), byHeight), nil
}

// addBlock adds what happened in a block.
func (s *activities) addBlock(reader chainview.Reader, b *chainview.Block) error {
	block, err := reader.Block(&b.Hash)
	if err != nil {
		return blockTexts.failure(err)
	}
	spent, err := reader.Spent(&b.Hash)
	if err != nil {
		return blockTexts.failure(err)
	}
	for i, tx := range block.Transactions {
		if i > 0 && i <= len(spent) {
			s.addSpends(tx, len(spent[i-1]), b, func(n int) ([]byte, int64) {
				return spent[i-1][n].Script, int64(spent[i-1][n].Value)
			})
		}
		s.addReceipts(tx, b)
	}
	return nil
}

// A poolTx is an unconfirmed transaction with the outputs that it spends.
type poolTx struct {
	*wire.MsgTx

	spent []*messages.Coin
}

// poolTxs returns the transactions of the mempool.
func poolTxs(ctx context.Context, pool *ask.Ref) (list []poolTx, err error) {
	content, err := ask.Ask(ctx, pool, messages.GetPoolTxs{})
	if err != nil {
		return nil, err
	}
	for _, t := range content.Txs {
		q := messages.GetPoolCoins{View: messages.PoolOutputs}
		for _, in := range t.Tx.TxIn {
			q.Outs = append(q.Outs, in.PreviousOutPoint)
		}
		spent, err := ask.Ask(ctx, pool, q)
		if err != nil {
			return nil, err
		}
		if slices.Contains(spent, nil) {
			continue // it has left the pool
		}
		list = append(list, poolTx{t.Tx, spent})
	}
	return list, nil
}

// scripts returns the scripts that the transaction creates and spends.
func (t *poolTx) scripts() (scripts [][]byte) {
	for _, coin := range t.spent {
		scripts = append(scripts, coin.Output.PkScript)
	}
	for _, out := range t.TxOut {
		scripts = append(scripts, out.PkScript)
	}
	return scripts
}

// addUnconfirmed adds what happens in a transaction of the mempool.
func (s *activities) addUnconfirmed(t *poolTx) {
	s.addSpends(t.MsgTx, len(t.spent), nil, func(n int) ([]byte, int64) {
		return t.spent[n].Output.PkScript, t.spent[n].Output.Value
	})
	s.addReceipts(t.MsgTx, nil)
}

// addSpends looks at what a transaction spends: known outputs, of which spent
// returns script and value. b is nil in the mempool.
func (s *activities) addSpends(tx *wire.MsgTx, known int, b *chainview.Block, spent func(int) ([]byte, int64)) {
	for n, in := range tx.TxIn[:min(known, len(tx.TxIn))] {
		script, value := spent(n)
		if !s.sought.HasScript(script) {
			continue
		}
		s.sum.Entries++
		s.sum.Spent += uint64(value)
		if s.events == nil {
			continue
		}
		event := spendEvent{
			Type: "spend", Amount: jsontree.Amount(value), TxID: tx.TxHash(), Input: n,
			FromTxID: in.PreviousOutPoint.Hash, FromIndex: in.PreviousOutPoint.Index,
			Script: s.printer.ScriptPubKey(script),
		}
		if b != nil {
			event.BlockHash, event.Height = &b.Hash, &b.Height
		}
		s.events = append(s.events, event)
	}
}

// addReceipts looks at what a transaction creates.
func (s *activities) addReceipts(tx *wire.MsgTx, b *chainview.Block) {
	for n, out := range tx.TxOut {
		if !s.sought.HasScript(out.PkScript) {
			continue
		}
		s.sum.Entries++
		s.sum.Received += uint64(out.Value)
		if s.events == nil {
			continue
		}
		event := receiveEvent{
			Type: "receive", Amount: jsontree.Amount(out.Value), TxID: tx.TxHash(), Index: n,
			Script: s.printer.ScriptPubKey(out.PkScript),
		}
		if b != nil {
			event.BlockHash, event.Height = &b.Hash, &b.Height
		}
		s.events = append(s.events, event)
	}
}

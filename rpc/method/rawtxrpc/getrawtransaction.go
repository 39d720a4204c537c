package rawtxrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// The verbosities of getrawtransaction. Lower ones mean hexOnly, higher ones
// withPrevouts.
const (
	hexOnly = iota
	withTx
	withPrevouts
)

var (
	errGenesisCoinbase = command.Error{
		Code: command.InvalidAddressOrKey,
		Message: "The genesis block coinbase is not considered an ordinary transaction " +
			"and cannot be retrieved",
	}
	errNoSuchBlock      = command.Error{Code: command.InvalidAddressOrKey, Message: "Block hash not found"}
	errBlockUnavailable = command.Error{Code: command.MiscError, Message: "Block not available"}
	errStripped         = command.Error{Code: command.MiscError, Message: "Raw transaction unavailable: witness data " +
		"for this historical block was pruned; use an archive node with full witness history."}
	errNotInBlock = command.Error{
		Code: command.InvalidAddressOrKey,
		Message: "No such transaction found in the provided block. " +
			"Use gettransaction for wallet transactions.",
	}
	errStillIndexing = command.Error{
		Code: command.InvalidAddressOrKey,
		Message: "No such mempool transaction. Blockchain transactions are still in the process of being indexed. " +
			"Use gettransaction for wallet transactions.",
	}
	errNowhere = command.Error{
		Code:    command.InvalidAddressOrKey,
		Message: "No such mempool or blockchain transaction. Use gettransaction for wallet transactions.",
	}
	errNotInMempool = command.Error{
		Code: command.InvalidAddressOrKey,
		Message: "No such mempool transaction. Use -txindex or provide a block hash to enable " +
			"blockchain transaction queries. Use gettransaction for wallet transactions.",
	}
	errUndoUnreadable = command.Error{
		Code: command.InternalError,
		Message: "Undo data expected but can't be read. " +
			"This could be due to disk corruption or a conflict with a pruning event.",
	}
)

func (m *methods) getRawTransaction() command.Command {
	return command.Command{
		Name:     "getrawtransaction",
		Category: command.RawTransactions,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns a transaction of the memory pool, or of a given block, serialized or as an object.\n" +
			"With verbosity 2 the object also tells the fee and what the inputs spend.",
		Params: []command.Param{
			{Name: "txid", Type: command.Hex, Help: "id of the transaction"},
			{
				Name: "verbosity|verbose", Type: command.Number, Default: "0", AnyType: true,
				Help: "0 for the serialized transaction, 1 or 2 for an object; false is 0 and true is 1",
			},
			{Name: "blockhash", Type: command.Hex, Optional: true, Help: "hash of the block with the transaction"},
		},
		Results:  getRawTransactionResults(),
		Examples: []string{`["mytxid"]`, `["mytxid", 1, "myblockhash"]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return m.rawTransaction(ctx, a) },
	}
}

func getRawTransactionResults() []command.Result {
	members := append([]command.Result{
		{Type: command.Bool, Key: "in_active_chain", Optional: true, Help: "whether the block is in the active " +
			"chain; only with blockhash"},
	}, txResults()...)
	members = append(members,
		command.Result{Type: command.Hex, Key: "hex", Help: "the serialized transaction"},
		command.Result{Type: command.Hex, Key: "blockhash", Optional: true, Help: "hash of the block"},
		command.Result{Type: command.Number, Key: "confirmations", Optional: true, Help: "blocks from it to the tip; " +
			"0 outside the active chain"},
		command.Result{Type: command.Timestamp, Key: "time", Optional: true, Help: "as blocktime"},
		command.Result{Type: command.Timestamp, Key: "blocktime", Optional: true, Help: "time of the block"},
	)
	return []command.Result{
		{Type: command.Hex, When: "for verbosity = 0", Help: "the serialized transaction"},
		{Type: command.Object, When: "for verbosity = 1", Inner: members},
		{Type: command.Object, When: "for verbosity = 2", Inner: []command.Result{
			{Type: command.Elision, Help: "as for verbosity = 1"},
			{
				Type: command.Amount, Key: "fee", Optional: true,
				Help: "fee, where undo data is there; not for a coinbase",
			},
			{Type: command.Array, Key: "vin", Inner: []command.Result{{Type: command.Object, Inner: []command.Result{
				{Type: command.Elision, Help: "as for verbosity = 1"},
				{
					Type: command.Object, Key: "prevout", Optional: true,
					Help: "the output spent, where undo data is there", Inner: []command.Result{
						{Type: command.Bool, Key: "generated", Help: "whether a coinbase created it"},
						{Type: command.Number, Key: "height", Help: "height of the block that created it"},
						{Type: command.Amount, Key: "value", Help: "its value"},
						{Type: command.Object, Key: "scriptPubKey", Help: "its script", Inner: []command.Result{
							{Type: command.Elision, Help: "as in outputs"},
						}},
					},
				},
			}}}},
		}},
	}
}

// blockTx is the object that getrawtransaction returns.
type blockTx struct {
	InActiveChain *bool `json:"in_active_chain,omitempty"`
	txjson.Tx
	BlockHash     chainhash.Hash `json:"blockhash"`
	Confirmations int32          `json:"confirmations"`
	Time          *int64         `json:"time,omitempty"`
	BlockTime     *int64         `json:"blocktime,omitempty"`
}

func (m *methods) rawTransaction(ctx context.Context, a *command.Args) (any, error) {
	txid, err := arg.Hash(a.Value(0), "parameter 1")
	if err != nil {
		return nil, err
	}
	if txid == m.Network.Params.GenesisBlock.Header.MerkleRoot {
		return nil, errGenesisCoinbase
	}
	verbosity, err := arg.Verbosity(a.Value(1), hexOnly)
	if err != nil {
		return nil, err
	}
	if !a.Has(2) {
		if reader, block, at := m.connected(&txid); block != nil {
			return m.transactionOf(reader, block, &txid, at, verbosity, false)
		}
		return m.poolTransaction(ctx, txid, verbosity)
	}
	hash, err := arg.Hash(a.Value(2), "parameter 3")
	if err != nil {
		return nil, err
	}
	reader := m.Chain.Open()
	if reader == nil {
		return nil, chainview.ErrNotReady
	}
	block := reader.Lookup(&hash)
	if block == nil {
		return nil, errNoSuchBlock
	}
	return m.transactionOf(reader, block, &txid, chainview.Nowhere, verbosity, true)
}

// transactionOf returns a transaction of a block, where likely is its probable place. The
// flag named says that the caller named the block, and so wants to know whether the block
// is part of the active chain.
func (m *methods) transactionOf(
	reader chainview.Reader, block *chainview.Block, txid *chainhash.Hash, likely chainview.TxPlace,
	verbosity int32, named bool,
) (any, error) {
	if chainview.IsStripped(block) {
		return nil, errStripped
	}
	tx, index, err := findTx(reader, &block.Hash, txid, likely)
	if chainview.IsStripped(block) { // since it was looked at
		err = errStripped
	}
	if err != nil {
		return nil, err
	}
	if verbosity <= hexOnly {
		return encodeTx(tx), nil
	}
	opts := txjson.Options{Hex: true}
	if verbosity >= withPrevouts && index > 0 {
		if opts.Spent, err = spentBy(reader, &block.Hash, index); err != nil {
			return nil, err
		}
		opts.ShowSpent = true
	}
	shown := newBlockTx(m.printer.Tx(tx, opts), reader.Active(), block)
	if !named {
		shown.InActiveChain = nil
	}
	return shown, nil
}

// connected returns the block of the active chain that has a transaction by the index, and
// the transaction's place there; nil where there is none. A transaction in a block is not
// in the pool, so that no actor has to be asked.
func (m *methods) connected(txid *chainhash.Hash) (chainview.Reader, *chainview.Block, chainview.TxPlace) {
	if m.Txs == nil {
		return nil, nil, chainview.Nowhere
	}
	hash, at, ok := m.Txs.Present(txid)
	if !ok {
		return nil, nil, chainview.Nowhere
	}
	reader := m.Chain.Open()
	if reader == nil {
		return nil, nil, chainview.Nowhere
	}
	block := reader.Lookup(&hash)
	if block == nil || !reader.Active().Contains(block) {
		return nil, nil, chainview.Nowhere
	}
	return reader, block, at
}

// poolTransaction returns a transaction of the pool.
func (m *methods) poolTransaction(ctx context.Context, txid chainhash.Hash, verbosity int32) (any, error) {
	tx, err := ask.Ask(ctx, m.Pool, messages.GetPoolTx{ID: txid})
	switch {
	case errors.Is(err, messages.ErrNotInPool):
		return m.indexedTransaction(ctx, txid, verbosity)
	case err != nil:
		return nil, err
	case verbosity <= hexOnly:
		return encodeTx(tx.Tx), nil
	}
	return m.printer.Tx(tx.Tx, txjson.Options{Hex: true}), nil
}

// indexedTransaction returns a transaction of the chain by its id alone.
func (m *methods) indexedTransaction(ctx context.Context, txid chainhash.Hash, verbosity int32) (any, error) {
	if m.Txs == nil {
		return nil, errNotInMempool
	}
	hash, at, synced, err := m.Txs.Find(ctx, &txid)
	switch {
	case err != nil:
		return nil, err
	case at.Index < 0 && !synced:
		return nil, errStillIndexing
	case at.Index < 0:
		return nil, errNowhere
	}
	reader := m.Chain.Open()
	if reader == nil {
		return nil, chainview.ErrNotReady
	}
	block := reader.Lookup(&hash)
	if block == nil {
		return nil, errNowhere
	}
	return m.transactionOf(reader, block, &txid, at, verbosity, false)
}

// findTx returns a transaction of a block, which is likely to be at a place, and its index.
func findTx(
	reader chainview.Reader, hash, txid *chainhash.Hash, likely chainview.TxPlace,
) (*wire.MsgTx, int, error) {
	tx, index, err := chainview.Tx(reader, hash, txid, likely)
	switch {
	case errors.Is(err, chainview.ErrUnreadable), err == nil && tx == nil:
		return nil, 0, errNotInBlock // as Core says it
	case errors.Is(err, chainview.ErrNotFound), errors.Is(err, chainview.ErrPruned),
		errors.Is(err, chainview.ErrNotYet):
		return nil, 0, errBlockUnavailable
	}
	return tx, index, err
}

// spentBy returns what the transaction at index spends. As in Core it is an error
// if that is not there because the block was never connected.
func spentBy(reader chainview.Reader, hash *chainhash.Hash, index int) ([]chainview.Coin, error) {
	spent, err := reader.Spent(hash)
	switch {
	case errors.Is(err, chainview.ErrClosed):
		return nil, err
	case err != nil, index > len(spent):
		return nil, errUndoUnreadable
	}
	return spent[index-1], nil
}

func newBlockTx(tx txjson.Tx, active *chainview.Chain, block *chainview.Block) blockTx {
	isActive := active.Contains(block)
	shown := blockTx{InActiveChain: &isActive, Tx: tx, BlockHash: block.Hash}
	if isActive {
		time := block.Time().Unix()
		shown.Confirmations = active.Tip().Height - block.Height + 1
		shown.Time, shown.BlockTime = &time, &time
	}
	return shown
}

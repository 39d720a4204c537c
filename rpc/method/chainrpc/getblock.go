package chainrpc

import (
	"context"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// The verbosities of getblock. Lower ones mean hexOnly, higher ones
// withPrevouts.
const (
	hexOnly = iota
	withTxIDs
	withTxs
	withPrevouts
)

func getBlock(d *Deps) command.Command {
	printer := d.printer()
	return command.Command{
		Name:     "getblock",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Block | command.BlockOrCore,
		Summary: "Returns a block of any branch, serialized or as an object.\n" +
			"With verbosity 1 the object lists the ids of the transactions, with 2 the transactions,\n" +
			"and with 3 also what their inputs spend, for blocks that were once connected.",
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex, Help: "hash of the block"},
			{
				Name: "verbosity|verbose", Type: command.Number, Default: "1", AnyType: true,
				Help: "0 for the serialized block, 1 to 3 for an object; false is 0 and true is 1",
			},
		},
		Results:  getBlockResults(),
		Examples: []string{`["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return d.block(printer, a) },
	}
}

func getBlockResults() []command.Result {
	members := append(append([]command.Result{}, headerResults...),
		command.Result{Type: command.Number, Key: "strippedsize", Help: "bytes of the block without witness"},
		command.Result{Type: command.Number, Key: "size", Help: "bytes of the block"},
		command.Result{Type: command.Number, Key: "weight", Help: "weight of the block (BIP141)"},
		command.Result{
			Type: command.Object, Key: "coinbase_tx", Since: 32, Help: "what the coinbase has besides its outputs",
			Inner: []command.Result{
				{Type: command.Number, Key: "version", Help: "its version"},
				{Type: command.Number, Key: "locktime", Help: "its lock time"},
				{Type: command.Number, Key: "sequence", Help: "sequence number of its input"},
				{Type: command.Hex, Key: "coinbase", Help: "script of its input"},
				{Type: command.Hex, Key: "witness", Optional: true, Help: "witness of its input, of one element"},
			},
		},
		command.Result{Type: command.Array, Key: "tx", Help: "the transactions", Inner: []command.Result{
			{Type: command.Hex, Help: "id of a transaction"},
		}},
	)
	txs := func(inner ...command.Result) []command.Result {
		return []command.Result{
			{Type: command.Elision, Help: "as for verbosity = 1"},
			{Type: command.Array, Key: "tx", Inner: []command.Result{{Type: command.Object, Inner: inner}}},
		}
	}
	return []command.Result{
		{Type: command.Hex, When: "for verbosity = 0", Help: "the serialized block"},
		{Type: command.Object, When: "for verbosity = 1", Inner: members},
		{Type: command.Object, When: "for verbosity = 2", Inner: txs(
			command.Result{Type: command.Elision, Help: "the transaction as decoderawtransaction shows it"},
			command.Result{Type: command.Amount, Key: "fee", Optional: true, Help: "fee, where undo data is there; " +
				"not for the coinbase"},
			command.Result{Type: command.Hex, Key: "hex", Help: "the serialized transaction"},
		)},
		{Type: command.Object, When: "for verbosity = 3", Inner: txs(
			command.Result{Type: command.Elision, Help: "as for verbosity = 2"},
			command.Result{Type: command.Array, Key: "vin", Inner: []command.Result{{
				Type: command.Object,
				Inner: []command.Result{
					{Type: command.Elision, Help: "as for verbosity = 2"},
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
				},
			}}},
		)},
	}
}

// blockResult is the object that getblock returns.
type blockResult struct {
	header
	StrippedSize int        `json:"strippedsize"`
	Size         int        `json:"size"`
	Weight       int        `json:"weight"`
	Coinbase     coinbaseTx `json:"coinbase_tx"`
	Txs          any        `json:"tx"` // txIDs or blockTxs
}

// coinbaseTx is the coinbase of a block without its outputs.
type coinbaseTx struct {
	Version  uint32        `json:"version"`
	LockTime uint32        `json:"locktime"`
	Sequence uint32        `json:"sequence"`
	Script   jsontree.Hex  `json:"coinbase"`
	Witness  *jsontree.Hex `json:"witness,omitempty"`
}

func newCoinbaseTx(tx *wire.MsgTx) coinbaseTx {
	in := tx.TxIn[0]
	shown := coinbaseTx{
		Version: uint32(tx.Version), LockTime: tx.LockTime, Sequence: in.Sequence, Script: in.SignatureScript,
	}
	if len(in.Witness) > 0 {
		shown.Witness = new(jsontree.Hex(in.Witness[0]))
	}
	return shown
}

func (d *Deps) block(printer *txjson.Printer, a *command.Args) (any, error) {
	hash, err := arg.Hash(a.Value(0), "blockhash")
	if err != nil {
		return nil, err
	}
	verbosity, err := arg.Verbosity(a.Value(1), withTxIDs)
	if err != nil {
		return nil, err
	}
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	b, err := lookup(reader, &hash)
	if err != nil {
		return nil, err
	}
	if verbosity <= hexOnly {
		raw, err := reader.Raw(&hash)
		if err != nil {
			return nil, blockTexts.failure(err)
		}
		return jsontree.Hex(raw), nil
	}
	if chainview.IsStripped(b) {
		return nil, errStripped
	}
	result, err := d.verboseBlock(printer, reader, b, verbosity)
	if chainview.IsStripped(b) { // since it was looked at
		return nil, errStripped
	}
	return result, err
}

// errStripped refuses to show a block as a whole which lacks its witnesses.
var errStripped = command.Error{Code: command.MiscError, Message: command.BlockStripped}

// verboseBlock returns the object of a block.
func (d *Deps) verboseBlock(
	printer *txjson.Printer, reader chainview.Reader, b *chainview.Block, verbosity int32,
) (any, error) {
	if verbosity == withTxIDs {
		outline, err := chainview.OutlineOf(reader, b)
		if err != nil {
			return nil, blockTexts.failure(err)
		}
		result := newBlock(d.Network, reader, b, len(outline.IDs), outline.Size, outline.Stripped)
		result.Coinbase, result.Txs = newCoinbaseTx(outline.Coinbase), txIDs(outline.IDs)
		return result, nil
	}
	block, err := reader.Block(&b.Hash)
	if err != nil {
		return nil, blockTexts.failure(err)
	}
	extra := len(b.Payload())
	result := newBlock(d.Network, reader, b, len(block.Transactions),
		block.SerializeSize()+extra, block.SerializeSizeStripped()+extra)
	result.Coinbase = newCoinbaseTx(block.Transactions[0])
	result.Txs, err = txObjects(printer, reader, &b.Hash, block, verbosity >= withPrevouts)
	return result, err
}

// newBlock returns what there is of a block beside its transactions. Sizes are in bytes, stripped is
// without witnesses.
func newBlock(
	net *dialect.Network, reader chainview.Reader, b *chainview.Block, txs, size, stripped int,
) blockResult {
	return blockResult{
		header:       newHeader(reader.Active(), b, txs),
		StrippedSize: stripped,
		Size:         size,
		Weight:       stripped*(int(net.Rules.WitnessScale)-1) + size,
	}
}

// txIDs are ids of transactions.
type txIDs []chainhash.Hash

// AppendJSON implements [jsontree.Appender].
func (ids txIDs) AppendJSON(dst []byte) []byte {
	const quoted = 2*chainhash.HashSize + len(`"",`)
	return appendList(slices.Grow(dst, len(ids)*quoted+quoted), ids, func(dst []byte, id chainhash.Hash) []byte {
		return append(txjson.AppendHash(append(dst, '"'), &id), '"')
	})
}

// txObjects prints the transactions of a block, with the outputs that they spend as far as these are
// known.
func txObjects(
	p *txjson.Printer, reader chainview.Reader, hash *chainhash.Hash, block *wire.MsgBlock, showSpent bool,
) (blockTxs, error) {
	spent, err := reader.Spent(hash)
	switch {
	case errors.Is(err, chainview.ErrNotFound), errors.Is(err, chainview.ErrPruned),
		errors.Is(err, chainview.ErrNotYet) && chainview.AssumedOf(reader) != nil: // it is to be validated
		spent = nil
	case errors.Is(err, chainview.ErrClosed):
		return nil, err
	case err != nil:
		return nil, command.Error{
			Code: command.InternalError,
			Message: "Undo data expected but can't be read. " +
				"This could be due to disk corruption or a conflict with a pruning event.",
		}
	}
	txs := make(blockTxs, len(block.Transactions))
	for i, tx := range block.Transactions {
		txs[i] = blockTx{printer: p, tx: tx, opts: txjson.Options{Hex: true, ShowSpent: showSpent}}
		if i > 0 && i <= len(spent) {
			txs[i].opts.Spent = spent[i-1]
		}
	}
	return txs, nil
}

// blockTxs are the transactions of a block. They are printed when they are written, one
// after the other, so that no more than one of them is there in pieces.
type blockTxs []blockTx

type blockTx struct {
	printer *txjson.Printer
	tx      *wire.MsgTx
	opts    txjson.Options
}

// mostOften is how many times as long as a transaction its text is at most, as a rule.
const mostOften = 16

// AppendJSON implements [jsontree.Appender]. The length of the first texts, beside that of
// their transactions, tells how much room all will take.
func (txs blockTxs) AppendJSON(dst []byte) []byte {
	const first = 32
	dst = append(dst, '[')
	from, read, all := len(dst), 0, 0
	for i := range txs {
		all += txs[i].tx.SerializeSize()
	}
	for i := range txs {
		if i == first {
			need := float64(len(dst)-from) / float64(read) * float64(all-read)
			dst = slices.Grow(dst, int(min(need*1.05, mostOften*float64(all))))
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = txs[i].append(dst)
		read += txs[i].tx.SerializeSize()
	}
	return append(dst, ']')
}

func (t *blockTx) append(dst []byte) []byte {
	dst, err := jsontree.Append(dst, t.printer.Tx(t.tx, t.opts))
	if err != nil {
		panic(err) // what a printer makes has a form
	}
	return dst
}

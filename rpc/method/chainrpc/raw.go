package chainrpc

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
)

// raw reads for [command.Table.Reader].
type raw struct {
	d       *Deps
	printer *txjson.Printer
}

// Reader returns what reads headers, filters and outputs without calls.
func Reader(d Deps) command.ChainReader { return raw{&d, d.printer()} }

// Headers implements [command.Reader].
func (r raw) Headers(from *chainhash.Hash, count int) ([]byte, error) {
	reader, err := r.d.open()
	if err != nil {
		return nil, err
	}
	var serialized []byte
	for b := range activeFrom(reader, reader.Active(), from, count) {
		serialized = appendHeader(serialized, b)
	}
	return serialized, nil
}

// HeadersText implements [command.Reader].
func (r raw) HeadersText(from *chainhash.Hash, count int) ([]byte, error) {
	reader, err := r.d.open()
	if err != nil {
		return nil, err
	}
	active := reader.Active()
	all := []header{}
	for b := range activeFrom(reader, active, from, count) {
		txs, err := txsOf(reader, b)
		if err != nil {
			return nil, err
		}
		all = append(all, newHeader(active, b, txs))
	}
	return jsontree.Append(make([]byte, 0, usualHeaderText*len(all)), all)
}

// usualHeaderText is how many bytes a header takes as JSON, as a rule.
const usualHeaderText = 700

// activeFrom yields the blocks of an active chain from one on, at most count of them; none where that
// block is not in the chain.
func activeFrom(
	reader chainview.Reader, active *chainview.Chain, from *chainhash.Hash, count int,
) iter.Seq[*chainview.Block] {
	b := reader.Lookup(from)
	return func(yield func(*chainview.Block) bool) {
		if b == nil || !active.Contains(b) {
			return
		}
		last := min(active.Height(), b.Height+int32(count)-1)
		for height := b.Height; height <= last && yield(active.At(height)); height++ {
		}
	}
}

// BlockText implements [command.Reader].
func (r raw) BlockText(block *chainhash.Hash, details bool) ([]byte, error) {
	reader, err := r.d.open()
	if err != nil {
		return nil, err
	}
	b, err := lookup(reader, block)
	if err != nil {
		return nil, err
	}
	verbosity := int32(withTxIDs)
	if details {
		verbosity = withPrevouts
	}
	shown, err := r.d.verboseBlock(r.printer, reader, b, verbosity)
	if err != nil {
		return nil, err
	}
	return jsontree.Append(nil, shown)
}

// Filter implements [command.Reader].
func (r raw) Filter(ctx context.Context, block *chainhash.Hash) ([]byte, error) {
	found, err := r.d.filterOf(ctx, block)
	return found.Filter, err
}

// FilterHeaders implements [command.Reader].
func (r raw) FilterHeaders(ctx context.Context, from *chainhash.Hash, count int) ([]chainhash.Hash, error) {
	reader, err := openFilters(r.d)
	if err != nil {
		return nil, err
	}
	if err := knownHeaders(reader); err != nil {
		return nil, err
	}
	return r.d.Index.headers(ctx, slices.Collect(activeFrom(reader, reader.Active(), from, count)))
}

// Spent implements [command.Reader].
func (r raw) Spent(block *chainhash.Hash) ([]byte, error) {
	lists, err := r.spent(block)
	if err != nil {
		return nil, err
	}
	size := maxCount
	for _, coins := range lists {
		size += maxCount
		for i := range coins {
			size += 8 + maxCount + len(coins[i].Script)
		}
	}
	data := command.AppendCount(make([]byte, 0, size), len(lists))
	for _, coins := range lists {
		data = command.AppendCount(data, len(coins))
		for i := range coins {
			data = appendOutput(data, &coins[i])
		}
	}
	return data, nil
}

// appendOutput appends an output as nodes send it.
func appendOutput(dst []byte, coin *chainview.Coin) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(coin.Value))
	return append(command.AppendCount(dst, len(coin.Script)), coin.Script...)
}

// maxCount is how many bytes a number before elements takes at most, of lists that fit into a block.
const maxCount = 5

// SpentText implements [command.Reader].
func (r raw) SpentText(block *chainhash.Hash) ([]byte, error) {
	lists, err := r.spent(block)
	if err != nil {
		return nil, err
	}
	return appendList(nil, lists, func(dst []byte, coins []chainview.Coin) []byte {
		return appendList(dst, coins, func(dst []byte, coin chainview.Coin) []byte {
			return r.printer.AppendSpent(dst, &coin)
		})
	}), nil
}

// appendList appends a list as JSON.
func appendList[T any](dst []byte, list []T, write func(dst []byte, element T) []byte) []byte {
	dst = append(dst, '[')
	for i, element := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = write(dst, element)
	}
	return append(dst, ']')
}

// spent returns what the transactions of a block spend, nothing for the first.
func (r raw) spent(block *chainhash.Hash) ([][]chainview.Coin, error) {
	reader, err := r.d.open()
	if err != nil {
		return nil, err
	}
	if _, err := lookup(reader, block); err != nil {
		return nil, err
	}
	spent, err := reader.Spent(block)
	if err != nil {
		return nil, undoTexts.failure(err)
	}
	return append(make([][]chainview.Coin, 1, 1+len(spent)), spent...), nil
}

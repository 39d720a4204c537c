package chainrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// Filters reads the filters of the index. It must be safe for concurrent use.
type Filters interface {
	// Filter returns the BIP158 basic filter of a block of any branch, and its filter header
	// (BIP157). The error is [index.ErrNoFilter] where there is no filter; any other error means
	// that the filter cannot be read.
	Filter(ctx context.Context, hash *chainhash.Hash) (filter []byte, header chainhash.Hash, err error)

	// Headers is Filter of the filter headers of many blocks, which are read without the filters.
	Headers(blocks []chainhash.Hash) ([]chainhash.Hash, error)
}

// basicFilter names the one kind of filter there is (BIP158).
const basicFilter = "basic"

func getBlockFilter(d *Deps) command.Command {
	return command.Command{
		Name:     "getblockfilter",
		Category: command.Blockchain,
		About:    command.Filters, Effect: command.Reads, At: command.Block,
		Summary: "Returns the compact filter of a block of any branch (BIP157, BIP158).",
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex, Help: "hash of the block"},
			{Name: "filtertype", Type: command.String, Default: `"basic"`, Help: "kind of filter"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Hex, Key: "filter", Help: "the filter"},
			{Type: command.Hex, Key: "header", Help: "its filter header"},
		}}},
		Examples: []string{`["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f", "basic"]`},
		Run:      d.blockFilter,
	}
}

// filterResult is what getblockfilter returns.
type filterResult struct {
	Filter jsontree.Hex   `json:"filter"`
	Header chainhash.Hash `json:"header"`
}

func (d *Deps) blockFilter(ctx context.Context, a *command.Args) (any, error) {
	hash, err := arg.Hash(a.Value(0), "blockhash")
	if err != nil {
		return nil, err
	}
	if err := checkFilterType(a, 1); err != nil {
		return nil, err
	}
	return d.filterOf(ctx, &hash)
}

// filterOf returns the filter of a block.
func (d *Deps) filterOf(ctx context.Context, hash *chainhash.Hash) (found filterResult, err error) {
	reader, err := openFilters(d)
	if err != nil {
		return found, err
	}
	b, err := lookup(reader, hash)
	if err != nil {
		return found, err
	}
	if err := knownHeaders(reader); err != nil {
		return found, err
	}
	found.Filter, found.Header, err = d.Index.filter(ctx, b)
	return found, err
}

// openFilters returns the reader of the chain, where there is an index of filters.
func openFilters(d *Deps) (chainview.Reader, error) {
	if d.Index == nil {
		return nil, errIndexOff
	}
	return d.open()
}

// knownHeaders refuses where the index does not begin with the first block.
func knownHeaders(reader chainview.Reader) error {
	if first := chainview.FirstFilter(reader); first > 0 {
		return command.Errorf(command.MiscError, "Filter headers are not known: the filter index begins with "+
			"the block at height %d (-attachfrom)", first)
	}
	return nil
}

// errIndexOff answers calls that need the index on a node without one.
var errIndexOff = command.Error{
	Code: command.MiscError, Message: "Index is not enabled for filtertype " + basicFilter,
}

// checkFilterType checks the kind of filter that is asked for by argument i.
func checkFilterType(a *command.Args, i int) error {
	name, err := a.StringOr(i, basicFilter)
	if err == nil && name != basicFilter {
		err = command.Error{Code: command.InvalidAddressOrKey, Message: "Unknown filtertype"}
	}
	return err
}

// filter returns the filter of a block. Where it is not there, the index is
// given the time to follow the chain; where it is damaged, to re-make it.
func (x *Index) filter(ctx context.Context, b *chainview.Block) ([]byte, chainhash.Hash, error) {
	filter, header, err := x.Filters.Filter(ctx, &b.Hash)
	if err == nil {
		return filter, header, nil
	}
	ready := true
	if errors.Is(err, index.ErrNoFilter) {
		ready, err = x.catchUp(ctx)
	} else {
		_, err = ask.Ask(ctx, x.Indexer, messages.RepairFilter{Block: b.Hash})
	}
	if errors.Is(err, ask.ErrStopped) || ctx.Err() != nil {
		return nil, header, err
	}
	if filter, header, err = x.Filters.Filter(ctx, &b.Hash); err != nil {
		err = noFilter(b, ready)
	}
	return filter, header, err
}

// headers is [Index.filter] of the filter headers of many blocks.
func (x *Index) headers(ctx context.Context, blocks []*chainview.Block) ([]chainhash.Hash, error) {
	hashes := make([]chainhash.Hash, len(blocks))
	for i, b := range blocks {
		hashes[i] = b.Hash
	}
	headers, err := x.Filters.Headers(hashes)
	if err == nil {
		return headers, nil
	}
	for i, b := range blocks { // hashes become headers
		if _, hashes[i], err = x.filter(ctx, b); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// catchUp waits until the index has followed every change of the chain so far.
// It does not wait, and returns false, while the index is built from old blocks.
func (x *Index) catchUp(ctx context.Context) (bool, error) {
	status, err := ask.Ask(ctx, x.Indexer, messages.GetIndexStatus{})
	if err != nil || !status.Synced {
		return false, err
	}
	_, err = ask.Ask(ctx, x.Indexer, messages.WaitIndexIdle{})
	if errors.Is(err, chainview.ErrNotYet) {
		return false, nil
	}
	return true, err
}

// noFilter says why a block has no filter, with the index in step or not.
func noFilter(b *chainview.Block, inStep bool) error {
	switch {
	case b.Status()&chainview.Valid == 0:
		return command.Error{
			Code:    command.InvalidAddressOrKey,
			Message: "Filter not found. Block was not connected to active chain.",
		}
	case !inStep:
		return command.Error{
			Code:    command.MiscError,
			Message: "Filter not found. Block filters are still in the process of being indexed.",
		}
	default:
		return command.Error{
			Code:    command.InternalError,
			Message: "Filter not found. This error is unexpected and indicates index corruption.",
		}
	}
}

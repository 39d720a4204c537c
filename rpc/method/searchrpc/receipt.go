package searchrpc

import (
	"context"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errNotDone = command.Error{
		Code:    command.InvalidParameter,
		Message: "There is no receipt before the search has looked at all of its blocks",
	}
	errExtended = command.Error{
		Code: command.InvalidParameter, Message: "The search was extended meanwhile",
	}
)

// foundBlock is what a search has found in a block.
type foundBlock struct {
	hash chainhash.Hash
	sum  receipt.Activity
}

// receipt makes the receipt of a search from its list of entries.
func (d *Deps) receipt(ctx context.Context, id string, blocksOnly bool) (*receipt.Receipt, error) {
	scope, err := ask.Ask(ctx, d.Searches, messages.GetSearchScope{ID: id})
	if err != nil {
		return nil, failure(err)
	}
	found := map[int32]*foundBlock{}
	q := messages.GetSearchEntries{ID: id, Limit: maxLimit, PoolLimit: -1}
	page := messages.SearchPage{More: true}
	for page.More {
		if page, err = ask.Ask(ctx, d.Searches, q); err != nil {
			return nil, failure(err)
		}
		for i := range page.Entries {
			add(found, &page.Entries[i])
		}
		q.Cursor = page.Cursor
	}
	if page.State != messages.SearchDone && page.State != messages.SearchFollowing || page.Height < scope.From {
		return nil, errNotDone
	}
	now, err := ask.Ask(ctx, d.Searches, messages.GetSearchScope{ID: id})
	if err != nil {
		return nil, failure(err)
	}
	if now.From != scope.From || now.Scripts.Len() != scope.Scripts.Len() {
		return nil, errExtended
	}
	r := receiptOf(&scope, found, blocksOnly)
	return r, d.Chain.Complete(ctx, r, &page.Block)
}

// add counts an entry of a list. The entry of a block that has left the chain takes back what the block had counted.
func add(found map[int32]*foundBlock, e *messages.SearchEntry) {
	if e.Type == messages.SearchDisconnect {
		delete(found, e.Height)
		return
	}
	b := found[e.Height]
	if b == nil {
		b = &foundBlock{hash: e.Block}
		found[e.Height] = b
	}
	switch e.Type {
	case messages.SearchReceive:
		b.sum.Received += uint64(e.Amount)
	case messages.SearchSpend:
		b.sum.Spent += uint64(e.Amount)
	case messages.SearchBlock, messages.SearchDisconnect:
	}
	b.sum.Entries++
}

// receiptOf makes a receipt of the found blocks, from the first height on at which all scripts were looked for.
func receiptOf(scope *messages.SearchScope, found map[int32]*foundBlock, blocksOnly bool) *receipt.Receipt {
	r := &receipt.Receipt{From: scope.From}
	var descriptors []receipt.Descriptor
	for _, o := range scope.Objects {
		one := receipt.Descriptor{Text: o.Desc}
		if o.First >= 0 {
			one.Ranged, one.First, one.Last = true, uint32(o.First), uint32(o.Last)
		}
		descriptors = append(descriptors, one)
	}
	r.SetDescriptors(descriptors)
	r.SetScripts(scope.Scripts.Scripts())
	var blocks []chainhash.Hash
	sum := receipt.Activity{}
	for _, height := range slices.Sorted(maps.Keys(found)) {
		if height < scope.From {
			continue
		}
		b := found[height]
		blocks = append(blocks, b.hash)
		sum.Entries += b.sum.Entries
		sum.Received += b.sum.Received
		sum.Spent += b.sum.Spent
	}
	r.SetFound(blocks)
	if !blocksOnly {
		r.Activity = &sum
	}
	return r
}

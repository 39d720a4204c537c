package mempoolrpc

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// The help about sizes.
const (
	sizeHelp     = "virtual size, whatever its signature operations"
	adjustedHelp = "virtual size; signature operations may raise it"
)

func (d *Deps) entryResults() []command.Result {
	ids := []command.Result{{Type: command.Hex, Help: "id of a transaction"}}
	list := []command.Result{
		{Type: command.Number, Key: "vsize", Help: adjustedHelp},
		{Type: command.Number, Key: "vsize_bip141", Since: 32, Help: sizeHelp},
		{Type: command.Number, Key: "vsize_adjusted", Since: 32, Help: adjustedHelp},
		{Type: command.Number, Key: "weight", Help: "weight"},
		{Type: command.Timestamp, Key: "time", Help: "when it came"},
		{Type: command.Number, Key: "height", Help: "height of the tip when it came"},
		{Type: command.Number, Key: "descendantcount", Help: "how many depend on it, itself included"},
		{Type: command.Number, Key: "descendantsize", Help: "virtual size of those"},
		{Type: command.Number, Key: "ancestorcount", Help: "how many it depends on, itself included"},
		{Type: command.Number, Key: "ancestorsize", Help: "virtual size of those"},
		{Type: command.Hex, Key: "wtxid", Help: "its id with witnesses"},
		{Type: command.Object, Key: "fees", Help: "what it pays", Inner: []command.Result{
			{Type: command.Amount, Key: "base", Help: "its fee"},
			{Type: command.Amount, Key: "modified", Help: "the fee with what prioritisetransaction added"},
			{Type: command.Amount, Key: "ancestor", Help: "modified fees of those it depends on, itself included"},
			{
				Type: command.Amount, Key: "descendant",
				Help: "modified fees of those that depend on it, itself included",
			},
		}},
		{Type: command.Array, Key: "depends", Help: "those that it spends from", Inner: ids},
		{Type: command.Array, Key: "spentby", Help: "those that spend from it", Inner: ids},
		{
			Type: command.Bool, Key: "bip125-replaceable", Until: 32, Switch: "bip125",
			Help: "whether it, or one that it depends on, asks to be replaceable",
		},
		{Type: command.Bool, Key: "unbroadcast", Help: "whether it is of our own and no peer has asked for it yet"},
	}
	if !d.Network.Clusters() {
		return list
	}
	fees := slices.IndexFunc(list, func(r command.Result) bool { return r.Key == "fees" })
	list[fees].Inner = append(list[fees].Inner, command.Result{
		Type: command.Amount, Key: "chunk", Help: "modified fees of the chunk that it is mined in",
	})
	return slices.Insert(list, fees, command.Result{
		Type: command.Number, Key: "chunkweight", Help: "weight of that chunk; signature operations may raise it",
	})
}

// entry is what is told of a transaction of the pool, but for its last members.
type entry struct {
	VSize           int64          `json:"vsize"`
	VSizeBIP141     int64          `json:"vsize_bip141"`
	VSizeAdjusted   int64          `json:"vsize_adjusted"`
	Weight          int64          `json:"weight"`
	Time            int64          `json:"time"`
	Height          int32          `json:"height"`
	DescendantCount int            `json:"descendantcount"`
	DescendantSize  int64          `json:"descendantsize"`
	AncestorCount   int            `json:"ancestorcount"`
	AncestorSize    int64          `json:"ancestorsize"`
	WTxID           chainhash.Hash `json:"wtxid"`
	ChunkWeight     int64          `json:"chunkweight,omitempty"`
	Fees            entryFees      `json:"fees"`
	Depends         []string       `json:"depends"`
	SpentBy         []string       `json:"spentby"`
}

// entryFirst and entryLast are an entry with bip125-replaceable where it was, and at the end.
type (
	entryFirst struct {
		entry
		Replaceable bool `json:"bip125-replaceable"`
		Unbroadcast bool `json:"unbroadcast"`
	}
	entryLast struct {
		entry
		Unbroadcast bool `json:"unbroadcast"`
		Replaceable bool `json:"bip125-replaceable"`
	}
)

type entryFees struct {
	Base       jsontree.Amount `json:"base"`
	Modified   jsontree.Amount `json:"modified"`
	Ancestor   jsontree.Amount `json:"ancestor"`
	Descendant jsontree.Amount `json:"descendant"`

	Chunk *jsontree.Amount `json:"chunk,omitempty"`
}

// entry returns what is shown of a transaction.
func (d *Deps) entry(tx *messages.PoolTx) any {
	if d.Network.DeprecatedLast {
		return entryLast{d.newEntry(tx), tx.Unbroadcast, tx.Replaceable}
	}
	return entryFirst{d.newEntry(tx), tx.Replaceable, tx.Unbroadcast}
}

func (d *Deps) newEntry(tx *messages.PoolTx) entry {
	e := entry{
		VSize: tx.VSize, VSizeBIP141: virtual(tx.Weight, d.Network), VSizeAdjusted: tx.VSize, Weight: tx.Weight,
		Time: tx.Time, Height: tx.Height,
		DescendantCount: tx.Descendants, DescendantSize: tx.DescendantVSize,
		AncestorCount: tx.Ancestors, AncestorSize: tx.AncestorVSize, WTxID: tx.WID,
		Fees: entryFees{
			jsontree.Amount(tx.Fee), jsontree.Amount(tx.ModifiedFee),
			jsontree.Amount(tx.AncestorFees), jsontree.Amount(tx.DescendantFees), nil,
		},
		Depends: texts(tx.Depends), SpentBy: texts(tx.SpentBy),
	}
	if tx.ChunkWeight > 0 {
		e.ChunkWeight, e.Fees.Chunk = tx.ChunkWeight, (*jsontree.Amount)(&tx.ChunkFee)
	}
	slices.SortFunc(e.Depends, cmp.Compare)
	return e
}

func texts(ids []chainhash.Hash) []string {
	list := make([]string, len(ids))
	for i := range ids {
		list[i] = ids[i].String()
	}
	return list
}

func getMempoolEntry(d *Deps) command.Command {
	return command.Command{
		Name:     "getmempoolentry",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary:  "Returns what is known of a transaction of the memory pool.",
		Params:   []command.Param{{Name: "txid", Type: command.Hex, Help: "its id"}},
		Results:  []command.Result{{Type: command.Object, Inner: d.entryResults()}},
		Examples: []string{`["mytxid"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			id, err := arg.Hash(a.Value(0), "txid")
			if err != nil {
				return nil, err
			}
			tx, err := ask.Ask(ctx, d.Pool, messages.GetPoolTx{ID: id})
			if errors.Is(err, messages.ErrNotInPool) {
				return nil, errNotInPool
			}
			return d.entry(&tx), err
		},
	}
}

// getMempoolRelatives is getmempoolancestors and getmempooldescendants.
func getMempoolRelatives(d *Deps, name, what string, descendants bool) command.Command {
	return command.Command{
		Name:     name,
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns " + what + ".",
		Params: []command.Param{
			{Name: "txid", Type: command.Hex, Help: "its id"},
			{
				Name: "verbose", Type: command.Bool, Default: "false",
				Help: "true for an object with details, false for a list of ids",
			},
		},
		Results: []command.Result{
			{Type: command.Array, When: "for verbose = false", Inner: []command.Result{
				{Type: command.Hex, Help: "id of a transaction"},
			}},
			{Type: command.UserKeys, When: "for verbose = true", Inner: []command.Result{
				{Type: command.Object, Key: "txid", Help: "details of a transaction", Inner: d.entryResults()},
			}},
		},
		Examples: []string{`["mytxid"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			verbose, err := a.BoolOr(1, false)
			if err != nil {
				return nil, err
			}
			id, err := arg.Hash(a.Value(0), "txid")
			if err != nil {
				return nil, err
			}
			list, err := ask.Ask(ctx, d.Pool, messages.GetPoolRelatives{ID: id, Descendants: descendants})
			switch {
			case errors.Is(err, messages.ErrNotInPool):
				return nil, errNotInPool
			case err != nil:
				return nil, err
			case verbose:
				return d.members(list), nil
			}
			ids := make([]string, len(list))
			for i := range list {
				ids[i] = list[i].ID.String()
			}
			return ids, nil
		},
	}
}

package chainrpc

import (
	"context"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func getBlockStats(d *Deps) command.Command {
	return command.Command{
		Name:     "getblockstats",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Block | command.BlockOrCore,
		Summary: "Returns figures about one block. Amounts are in units of 10^-8 coins.\n" +
			"It needs the block and its undo data.",
		Params: []command.Param{
			{
				Name: "hash_or_height", Type: command.Number, AnyType: true, TypeText: "string or numeric",
				Help: "hash of the block, or its height on the active chain",
			},
			{
				Name: "stats", Type: command.Array, Default: "all values", Usage: "stats",
				Help:  "the figures to return",
				Inner: []command.Param{{Name: "name", Type: command.String, Optional: true, Help: "name of a figure"}},
			},
		},
		Results:  []command.Result{{Type: command.Object, Inner: statsResults}},
		Examples: []string{`[1000, ["txs", "total_size"]]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return d.blockStats(a) },
	}
}

// statsResults documents the figures.
var statsResults = []command.Result{
	stat("avgfee", "average fee"),
	stat("avgfeerate", "average fee of a virtual byte"),
	stat("avgtxsize", "average size of a transaction"),
	{Type: command.Hex, Key: "blockhash", Optional: true, Help: "hash of the block"},
	{
		Type: command.Array, Key: "feerate_percentiles", Optional: true,
		Help:  "fees of a virtual byte that 10, 25, 50, 75 and 90 percent of the weight do not exceed",
		Inner: []command.Result{{Type: command.Number, Help: "a fee of a virtual byte"}},
	},
	stat("height", "height of the block"),
	stat("ins", "number of inputs, without the coinbase's"),
	stat("maxfee", "largest fee"),
	stat("maxfeerate", "largest fee of a virtual byte"),
	stat("maxtxsize", "size of the largest transaction"),
	stat("medianfee", "median fee, rounded down"),
	stat("mediantime", "median time of the block and the ten before it"),
	stat("mediantxsize", "median size of a transaction, rounded down"),
	stat("minfee", "smallest fee"),
	stat("minfeerate", "smallest fee of a virtual byte"),
	stat("mintxsize", "size of the smallest transaction"),
	stat("outs", "number of outputs"),
	stat("subsidy", "what the block may create"),
	stat("swtotal_size", "size of the transactions with witness"),
	stat("swtotal_weight", "weight of the transactions with witness"),
	stat("swtxs", "number of transactions with witness"),
	stat("time", "time of the block"),
	stat("total_out", "value of all outputs, without the coinbase's"),
	stat("total_size", "size of all transactions but the coinbase"),
	stat("total_weight", "weight of all transactions but the coinbase"),
	stat("totalfee", "all fees"),
	stat("txs", "number of transactions, with the coinbase"),
	stat("utxo_increase", "outputs created less outputs spent"),
	stat("utxo_size_inc", "the same in bytes of the set of unspent outputs"),
	stat("utxo_increase_actual", "outputs created, without unspendable ones, less outputs spent"),
	stat("utxo_size_inc_actual", "the same in bytes of the set of unspent outputs"),
}

func stat(name, help string) command.Result {
	return command.Result{Type: command.Number, Key: name, Optional: true, Help: help}
}

func (d *Deps) blockStats(a *command.Args) (any, error) {
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	b, err := hashOrHeight(reader, a.Value(0))
	if err != nil {
		return nil, err
	}
	selected, err := selectedStats(a)
	if err != nil {
		return nil, err
	}
	block, err := reader.Block(&b.Hash)
	if err != nil {
		return nil, blockTexts.failure(err)
	}
	spent, err := reader.Spent(&b.Hash)
	if err != nil {
		return nil, undoTexts.failure(err)
	}
	all := countBlock(d.Network, b, block, spent).members()
	if len(selected) == 0 {
		return all, nil
	}
	return selectMembers(all, selected)
}

// hashOrHeight returns the block named by a number, its height, or by a
// string, its hash.
func hashOrHeight(reader chainview.Reader, v *jsontree.Value) (*chainview.Block, error) {
	if v.Kind() != jsontree.Number {
		hash, err := arg.Hash(v, "hash_or_height")
		if err != nil {
			return nil, err
		}
		return lookup(reader, &hash)
	}
	height, err := v.AsInt32()
	if err != nil {
		return nil, err
	}
	active := reader.Active()
	switch {
	case height < 0:
		return nil, command.Errorf(command.InvalidParameter, "Target block height %d is negative", height)
	case height > active.Height():
		return nil, command.Errorf(command.InvalidParameter,
			"Target block height %d after current tip %d", height, active.Height())
	}
	return active.At(height), nil
}

// selectedStats returns the names asked for, each once, in the order of their
// bytes. None stand for all.
func selectedStats(a *command.Args) ([]string, error) {
	names := map[string]struct{}{}
	for _, v := range a.Value(1).Elements() {
		name, err := v.AsString()
		if err != nil {
			return nil, err
		}
		names[name] = struct{}{}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func selectMembers(all jsontree.Members, names []string) (jsontree.Members, error) {
	var selected jsontree.Members
	for _, name := range names {
		i := slices.IndexFunc(all, func(m jsontree.Member) bool { return m.Key == name })
		if i < 0 {
			return nil, command.Errorf(command.InvalidParameter, "Invalid selected statistic '%s'", name)
		}
		selected = append(selected, all[i])
	}
	return selected, nil
}

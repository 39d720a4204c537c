package chainrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// chainStates is what getchainstates returns.
type chainStates struct {
	Headers int32        `json:"headers"`
	States  []chainState `json:"chainstates"`
}

type chainState struct {
	Blocks     int32           `json:"blocks"`
	Best       chainhash.Hash  `json:"bestblockhash"`
	Bits       string          `json:"bits"`
	Target     string          `json:"target"`
	Difficulty float64         `json:"difficulty"`
	Progress   float64         `json:"verificationprogress"`
	DBCache    int64           `json:"coins_db_cache_bytes"`
	TipCache   int64           `json:"coins_tip_cache_bytes"`
	Snapshot   *chainhash.Hash `json:"snapshot_blockhash,omitempty"`
	Validated  bool            `json:"validated"`
}

func getChainStates(d *Deps) command.Command {
	progress := &progress{deps: d}
	return command.Command{
		Name:     "getchainstates",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the chains whose unspent outputs are kept: the active one, and before it, while that\n" +
			"lasts, the one that validates what a snapshot of unspent outputs was believed to be.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "headers", Help: "height of the best known header"},
			{
				Type: command.Array, Key: "chainstates", Help: "by their work, the active one last",
				Inner: []command.Result{{Type: command.Object, Inner: []command.Result{
					{Type: command.Number, Key: "blocks", Help: "height of the tip"},
					{Type: command.Hex, Key: "bestblockhash", Help: "hash of the tip"},
					{Type: command.Hex, Key: "bits", Help: "target of the tip in compact form"},
					{Type: command.Hex, Key: "target", Help: "target of the tip"},
					{Type: command.Number, Key: "difficulty", Help: "difficulty of the tip"},
					{
						Type: command.Number, Key: "verificationprogress",
						Help: "estimate of the share of all transactions up to the tip, 0 to 1",
					},
					{
						Type: command.Hex, Key: "snapshot_blockhash", Optional: true,
						Help: "block that the snapshot is of which the chain began with",
					},
					{
						Type: command.Number, Key: "coins_db_cache_bytes",
						Help: "memory that the database of the unspent outputs may take",
					},
					{
						Type: command.Number, Key: "coins_tip_cache_bytes",
						Help: "memory that unspent outputs may take before they are written",
					},
					{Type: command.Bool, Key: "validated", Help: "whether every block of the chain was validated here"},
				}}},
			},
		}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			reader, err := d.open()
			if err != nil {
				return nil, err
			}
			list, err := ask.Ask(ctx, d.Actor, messages.GetChainStates{})
			if err != nil {
				return nil, err
			}
			active := reader.Active()
			best := chainview.BestHeader(reader, active)
			states := chainStates{Headers: best.Height}
			for _, s := range list {
				b := reader.Lookup(&s.Tip.Hash)
				if b == nil {
					return nil, chainview.ErrClosed // it is being opened again
				}
				states.States = append(states.States, chainState{
					Blocks: b.Height, Best: b.Hash, Bits: txjson.Bits(b.Bits()), Target: txjson.Target(b.Bits()),
					Difficulty: txjson.Difficulty(b.Bits()), Progress: progress.upTo(reader, active, b, best),
					DBCache: s.DBCache, TipCache: s.TipCache, Snapshot: s.Snapshot, Validated: s.Validated,
				})
			}
			return states, nil
		},
	}
}

package chainrpc

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/rpc/command"
)

func getChainTips(d *Deps) command.Command {
	return command.Command{
		Name:     "getchaintips",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the last block of every known branch, the active chain's among them.",
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.Number, Key: "height", Help: "height of the tip"},
				{Type: command.Hex, Key: "hash", Help: "hash of the tip"},
				{
					Type: command.Number, Key: "branchlen",
					Help: "blocks from the active chain to the tip, 0 for its own",
				},
				{
					Type: command.String, Key: "status",
					Help: "\"active\": the active chain\n" +
						"\"valid-fork\": validated, and no longer or not yet active\n" +
						"\"valid-headers\": all blocks are there but were never validated\n" +
						"\"headers-only\": not all blocks are there\n" +
						"\"invalid\": holds an invalid block",
				},
			}},
		}}},
		Examples: []string{`[]`},
		Run:      func(context.Context, *command.Args) (any, error) { return d.chainTips() },
	}
}

// chainTip is one entry of getchaintips.
type chainTip struct {
	Height    int32          `json:"height"`
	Hash      chainhash.Hash `json:"hash"`
	BranchLen int32          `json:"branchlen"`
	Status    string         `json:"status"`
}

func (d *Deps) chainTips() (any, error) {
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	active := reader.Active()
	tips := slices.DeleteFunc(reader.Tips(), active.Contains)
	tips = append(tips, active.Tip()) // in no list of tips when invalid blocks build on it
	slices.SortFunc(tips, func(a, b *chainview.Block) int {
		return cmp.Or(cmp.Compare(b.Height, a.Height), bytes.Compare(a.Hash[:], b.Hash[:]))
	})
	list := make([]chainTip, len(tips))
	for i, b := range tips {
		list[i] = chainTip{b.Height, b.Hash, b.Height - active.ForkHeight(b), branchStatus(active, b)}
	}
	return list, nil
}

// branchStatus names what is known of the branch that ends in tip.
func branchStatus(active *chainview.Chain, tip *chainview.Block) string {
	switch {
	case active.Contains(tip):
		return "active"
	case tip.Status().Invalid():
		return "invalid"
	case !complete(active, tip):
		return "headers-only"
	case tip.Status()&chainview.Valid != 0:
		return "valid-fork"
	default:
		return "valid-headers"
	}
}

// complete reports whether the data of every block of the branch is there.
func complete(active *chainview.Chain, tip *chainview.Block) bool {
	for b := tip; !active.Contains(b); b = b.Parent {
		if b.Status()&chainview.HasData == 0 {
			return false
		}
	}
	return true
}

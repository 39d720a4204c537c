package mining

import (
	"context"
	"math/big"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/rpc/command"
)

// hashBlocks is over how many blocks the rate is measured unless asked
// otherwise.
const hashBlocks = 120

func getNetworkHashPS(d *Deps) command.Command {
	return command.Command{
		Name:     "getnetworkhashps",
		Category: command.Mining,
		About:    command.State, Effect: command.Reads,
		Summary: "Estimates how many hashes the network computes in a second, from the blocks before the tip.",
		Params: []command.Param{
			{
				Name: "nblocks", Type: command.Number, Default: "120",
				Help: "number of blocks to measure; -1: those since the last change of difficulty",
			},
			{Name: "height", Type: command.Number, Default: "-1", Help: "last block to measure; -1: the tip"},
		},
		Results:  []command.Result{{Type: command.Number, Help: "hashes per second"}},
		Examples: []string{`[]`, `[-1, 1000]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			blocks, err := a.Int32Or(0, hashBlocks)
			if err != nil {
				return nil, err
			}
			height, err := a.Int32Or(1, -1)
			if err != nil {
				return nil, err
			}
			active, err := d.active()
			if err != nil {
				return nil, err
			}
			if blocks < -1 || blocks == 0 {
				return nil, command.Error{
					Code: command.InvalidParameter, Message: "Invalid nblocks. Must be a positive number or -1.",
				}
			}
			if height < -1 || height > active.Height() {
				return nil, command.Error{
					Code: command.InvalidParameter, Message: "Block does not exist at specified height",
				}
			}
			last := active.Tip()
			if height >= 0 {
				last = active.At(height)
			}
			return hashRate(last, blocks, d.Network.RetargetPeriod()), nil
		},
	}
}

// hashRate returns the work of the given number of blocks up to last over the
// time between the earliest and the latest of them and the block before; -1
// stands for the blocks of the present difficulty, of which there are period. It is 0 where no time passed.
func hashRate(last *chainview.Block, blocks, period int32) float64 {
	if blocks == -1 {
		blocks = last.Height%period + 1
	}
	first := last
	earliest := last.Time().Unix()
	latest := earliest
	for range min(blocks, last.Height) {
		first = first.Parent
		seconds := first.Time().Unix()
		earliest, latest = min(earliest, seconds), max(latest, seconds)
	}
	if earliest == latest {
		return 0
	}
	return workFloat(new(big.Int).Sub(last.Work(), first.Work())) / float64(latest-earliest)
}

// workFloat adds up the number from its 32-bit digits, the lowest first, as
// Core does: with more than 53 bits each addition rounds.
func workFloat(work *big.Int) float64 {
	const digit = 1 << 32
	sum, factor := 0.0, 1.0
	rest, base, low := new(big.Int).Set(work), big.NewInt(digit), new(big.Int)
	for rest.Sign() > 0 {
		rest.QuoRem(rest, base, low)
		sum += factor * float64(low.Uint64())
		factor *= digit
	}
	return sum
}

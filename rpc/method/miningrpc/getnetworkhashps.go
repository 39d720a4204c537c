package miningrpc

import (
	"context"
	"math/big"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
)

// hashBlocks is over how many blocks the rate is measured unless asked
// otherwise.
const hashBlocks = 120

func getNetworkHashPS(d *Deps) command.Command {
	c := command.Command{
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
		Run:      func(_ context.Context, a *command.Args) (any, error) { return d.networkHashPS(a) },
	}
	if d.Network.MergedMining != nil {
		c.Params = append(c.Params, command.Param{
			Name: "lane", Type: command.String, Default: "all",
			Help: `whose work counts: "all" blocks, "permissionless" ones, or "auxpow": those mined together with ` +
				"another chain's. The time is that of all of them.",
		})
		c.Examples = append(c.Examples, `[120, -1, "auxpow"]`)
	}
	return c
}

func (d *Deps) networkHashPS(a *command.Args) (any, error) {
	blocks, err := a.Int32Or(0, hashBlocks)
	if err != nil {
		return nil, err
	}
	height, err := a.Int32Or(1, -1)
	if err != nil {
		return nil, err
	}
	of, err := d.laneOf(a)
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
	return d.hashRate(last, blocks, of), nil
}

// A lane tells which blocks count; nil: all.
type lane func(*chainview.Block) bool

// laneOf reads the lane, where the network has any.
func (d *Deps) laneOf(a *command.Args) (lane, error) {
	if d.Network.MergedMining == nil {
		return nil, nil
	}
	name, err := a.StringOr(2, "all")
	if err != nil {
		return nil, err
	}
	switch name {
	case "all":
		return nil, nil
	case "permissionless":
		return d.permissionless, nil
	case "auxpow":
		return d.merged, nil
	}
	return nil, command.Error{
		Code: command.InvalidParameter, Message: "Invalid lane, expected one of: all, permissionless, auxpow",
	}
}

// merged is the lane of blocks that are mined together with those of another chain.
func (d *Deps) merged(b *chainview.Block) bool { return d.Network.MergedMining.Marked(b.Version()) }

// permissionless is the lane of blocks that are mined by themselves.
func (d *Deps) permissionless(b *chainview.Block) bool { return !d.merged(b) }

// hashRate returns the hash rate of a lane in the given number of blocks up to last; -1 stands for the
// blocks of the present difficulty. The rate is the work of the lane's blocks, over the time between the
// earliest and the latest of all the blocks and the block before. It is 0 where no time passed.
func (d *Deps) hashRate(last *chainview.Block, blocks int32, of lane) float64 {
	if blocks == -1 {
		blocks = d.Network.SinceRetarget(last.Height)
	}
	first := last
	earliest := last.Time().Unix()
	latest := earliest
	others := new(big.Int) // the work of the other lane
	for range min(blocks, last.Height) {
		if of != nil && !of(first) {
			others.Add(others, txjson.Work(first.Bits()))
		}
		first = first.Parent
		seconds := first.Time().Unix()
		earliest, latest = min(earliest, seconds), max(latest, seconds)
	}
	if earliest == latest {
		return 0
	}
	work := new(big.Int).Sub(last.Work(), first.Work())
	return workFloat(work.Sub(work, others)) / float64(latest-earliest)
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

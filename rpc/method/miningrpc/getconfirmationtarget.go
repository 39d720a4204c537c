package miningrpc

import (
	"context"
	"math"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/rpc/command"
)

// confirmationTarget is how many confirmations to wait for.
type confirmationTarget struct {
	Required       int               `json:"required_confirmations"`
	Minutes        float64           `json:"required_minutes"`
	Worth          float64           `json:"equivalent_btc_confirmations"`
	Permissionless float64           `json:"permissionless_hashrate"`
	Merged         float64           `json:"auxpow_hashrate"`
	Total          float64           `json:"total_observed_hashrate"`
	StaleRate      float64           `json:"orphan_rate"`
	Level          string            `json:"security_level"`
	Value          float64           `json:"value_qbt"`
	Model          confirmationModel `json:"model"`
}

type confirmationModel struct {
	Target         int     `json:"btc_target_confirmations"`
	Spacing        int64   `json:"block_time_seconds"`
	Source         string  `json:"hashrate_source"`
	Window         int32   `json:"hashrate_window_blocks"`
	Permissionless int32   `json:"permissionless_blocks_in_window"`
	Merged         int32   `json:"auxpow_blocks_in_window"`
	MergedHashes   float64 `json:"merge_mining_pct"`
	Bitcoin        float64 `json:"btc_hashrate"`
	Penalty        float64 `json:"orphan_rate_penalty"`
	PerBlock       float64 `json:"security_per_confirmation"`
	Share          float64 `json:"cadence_merged_fraction"`
}

func getConfirmationTarget(d *Deps) command.Command {
	return command.Command{
		Name:     "getconfirmationtarget",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns how many confirmations make a payment about as safe as some on Bitcoin's chain, by the\n" +
			"work of the latest 120 blocks and the share of stale blocks among the latest 1000 events.",
		Params: []command.Param{
			{
				Name: "value_satoshis", Type: command.Number,
				Help: "the payment in satoshis, which the result repeats; it has no influence",
			},
			{
				Name: "security_level", Type: command.String, Default: "medium",
				Help: `"low", "medium", "high" or "maximum": 1, 3, 6 or 60 confirmations on Bitcoin's chain`,
			},
			{
				Name: "merge_mining_pct", Type: command.Number, Default: "by the work of the blocks, or 0",
				Help: "share of Bitcoin's hashes that mine this chain too, 0 to 1, in place of what the blocks show",
			},
			{
				Name: "btc_hashrate", Type: command.Number, Default: "7e+20",
				Help: "hashes per second of Bitcoin's network",
			},
		},
		Results:  []command.Result{{Type: command.Object, Inner: confirmationResults()}},
		Examples: []string{`[100000000, "high"]`, `[1000000000, "maximum", 0.01]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			order, err := confirmationOrder(a)
			if err != nil {
				return nil, err
			}
			return d.confirmationTarget(ctx, order)
		},
	}
}

func confirmationResults() []command.Result {
	number := func(key, help string) command.Result {
		return command.Result{Type: command.Number, Key: key, Help: help}
	}
	return []command.Result{
		number("required_confirmations", "confirmations to wait for, 1 to 100000"),
		number("required_minutes", "how long they take"),
		number("equivalent_btc_confirmations", "confirmations on Bitcoin's chain that they are worth"),
		number("permissionless_hashrate", "hashes per second of blocks that are mined by themselves"),
		number("auxpow_hashrate", "hashes per second of blocks that are mined together with another chain's"),
		number("total_observed_hashrate", "both together"),
		number("orphan_rate", "share of stale blocks, see getorphanmetrics; at most 0.99"),
		{Type: command.String, Key: "security_level", Help: "the level"},
		number("value_qbt", "the payment in coins"),
		{Type: command.Object, Key: "model", Help: "how the number was found", Inner: []command.Result{
			number("btc_target_confirmations", "confirmations on Bitcoin's chain that the level stands for"),
			number("block_time_seconds", "time between two blocks"),
			{
				Type: command.String, Key: "hashrate_source", Help: "observed_chainwork: the work of the blocks; " +
					"override_merge_mining_pct: merge_mining_pct; fallback_merge_mining_pct: a share of 0, as no " +
					"merge-mined block was seen",
			},
			number("hashrate_window_blocks", "blocks that were looked at"),
			number("permissionless_blocks_in_window", "those that were mined by themselves"),
			number("auxpow_blocks_in_window", "those that were mined together with another chain's"),
			number("merge_mining_pct", "the share of Bitcoin's hashes, without effect for observed_chainwork"),
			number("btc_hashrate", "hashes per second of Bitcoin's network"),
			number("orphan_rate_penalty", "by which factor stale blocks make confirmations more"),
			number("security_per_confirmation", "what a confirmation is worth in such on Bitcoin's chain"),
			number("cadence_merged_fraction", "share of merge-mined blocks that the rules aim at"),
		}},
	}
}

// A targetOrder is what a caller asks for.
type targetOrder struct {
	value        int64 // satoshis
	level        string
	mergedHashes *float64 // nil: not given
	bitcoin      float64
}

// confirmationOrder reads the arguments, one after the other.
func confirmationOrder(a *command.Args) (o targetOrder, err error) {
	refused := func(text string) (targetOrder, error) {
		return o, command.Error{Code: command.InvalidParameter, Message: text}
	}
	if o.value, err = a.Int64(0); err != nil {
		return o, err
	}
	if o.value < 0 {
		return refused("value_satoshis must be non-negative")
	}
	if o.level, err = a.StringOr(1, "medium"); err != nil {
		return o, err
	}
	if _, ok := levels[o.level]; !ok {
		return refused(`security_level must be "low", "medium", "high", or "maximum"`)
	}
	if a.Has(2) {
		share, err := a.Value(2).AsFloat64()
		if err != nil {
			return o, err
		}
		if share < 0 || share > 1 {
			return refused("merge_mining_pct must be between 0.0 and 1.0")
		}
		o.mergedHashes = &share
	}
	o.bitcoin = bitcoinHashRate
	if a.Has(3) {
		if o.bitcoin, err = a.Value(3).AsFloat64(); err != nil {
			return o, err
		}
		if o.bitcoin <= 0 {
			return refused("btc_hashrate must be positive")
		}
	}
	return o, nil
}

func (d *Deps) confirmationTarget(ctx context.Context, o targetOrder) (any, error) {
	stale, err := ask.Ask(ctx, d.Stale, nodemsg.GetStaleStats{})
	if err != nil {
		return nil, err
	}
	active, err := d.active()
	if err != nil {
		return nil, err
	}
	tip := active.Tip()
	model := confirmationModel{
		Target: levels[o.level], Spacing: int64(d.Network.Params.TargetTimePerBlock.Seconds()),
		Source: "fallback_merge_mining_pct", Window: min(hashBlocks, tip.Height), Bitcoin: o.bitcoin,
		Share: d.Network.MergedMining.Share,
	}
	model.Merged = d.mergedAmong(tip, model.Window)
	model.Permissionless = model.Window - model.Merged
	s := security{
		spacing: float64(model.Spacing), share: model.Share, bitcoin: o.bitcoin,
		permissionless: d.hashRate(tip, hashBlocks, d.permissionless), merged: d.hashRate(tip, hashBlocks, d.merged),
		stale: min(stale.Rate(), maxStaleShare),
	}
	total := s.permissionless + s.merged
	if o.mergedHashes != nil {
		s.mergedHashes, model.Source = *o.mergedHashes, "override_merge_mining_pct"
	} else if model.Merged > 0 && total > 0 {
		s.observed, model.Source = true, "observed_chainwork"
	}
	blocks, worth := s.confirmations(model.Target)
	model.MergedHashes, model.Penalty, model.PerBlock = s.mergedHashes, s.penalty(), s.perBlock()
	if math.IsInf(model.PerBlock, 0) || math.IsInf(worth, 0) {
		return nil, command.Errorf(command.MiscError, "The string 'inf' is not a valid JSON number")
	}
	return &confirmationTarget{
		Required: blocks, Minutes: float64(blocks) * s.spacing / 60, Worth: worth,
		Permissionless: s.permissionless, Merged: s.merged, Total: total, StaleRate: s.stale,
		Level: o.level, Value: float64(o.value) / 1e8, Model: model,
	}, nil
}

// mergedAmong counts the merge-mined blocks among so many up to last.
func (d *Deps) mergedAmong(last *chainview.Block, blocks int32) (count int32) {
	for range blocks {
		if d.merged(last) {
			count++
		}
		last = last.Parent
	}
	return count
}

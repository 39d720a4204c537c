package chain

import (
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// weightRule tells of the second version of the rule on signatures in a spend.
type weightRule struct {
	Legacy          int   `json:"legacy_per_sigop"`
	V2              int   `json:"v2_per_sigop"`
	Height          int32 `json:"activation_height"`
	ActiveForTip    bool  `json:"active_for_tip"`
	ActiveForNext   bool  `json:"active_for_next_block"`
	BlocksRemaining int32 `json:"blocks_remaining"`
}

func weightRuleAt(rules *dialect.P2MR, tip *chainview.Block) *weightRule {
	next := tip.Height + 1
	return &weightRule{
		Legacy: dialect.SigWeightV1, V2: dialect.SigWeightV2, Height: rules.WeightV2,
		ActiveForTip: tip.Height >= rules.WeightV2, ActiveForNext: next >= rules.WeightV2,
		BlocksRemaining: max(0, rules.WeightV2-next),
	}
}

// futureRule tells of the second version of the rule on blocks ahead of the clock.
type futureRule struct {
	Legacy          int64 `json:"legacy_limit_seconds"`
	V2              int64 `json:"v2_limit_seconds"`
	Height          int32 `json:"activation_height"`
	ActiveForTip    bool  `json:"active_for_tip"`
	ActiveForNext   bool  `json:"active_for_next_block"`
	TipLimit        int64 `json:"tip_limit_seconds"`
	NextLimit       int64 `json:"next_block_limit_seconds"`
	BlocksRemaining int32 `json:"blocks_remaining"`
	NextMinTime     int64 `json:"next_block_min_time"`
	NextMaxTime     int64 `json:"next_block_max_time"`
	NextHeadroom    int64 `json:"next_block_time_headroom_seconds"`
}

func futureRuleAt(rules *dialect.P2MR, tip *chainview.Block, now int64) *futureRule {
	next := tip.Height + 1
	least, most := tip.MedianTimePast()+1, now+rules.MaxFuture(next)
	return &futureRule{
		Legacy: dialect.MaxFutureV1, V2: dialect.MaxFutureV2, Height: rules.FutureTimeV2,
		ActiveForTip: tip.Height >= rules.FutureTimeV2, ActiveForNext: next >= rules.FutureTimeV2,
		TipLimit: rules.MaxFuture(tip.Height), NextLimit: rules.MaxFuture(next),
		BlocksRemaining: max(0, rules.FutureTimeV2-next),
		NextMinTime:     least, NextMaxTime: most, NextHeadroom: most - least,
	}
}

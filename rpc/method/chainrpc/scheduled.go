package chainrpc

import (
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// showScheduled tells of the rules that change at a height.
func (i *blockchainInfo) showScheduled(net *dialect.Network, tip *chainview.Block, now int64) {
	for n := range net.Scheduled {
		switch r := &net.Scheduled[n]; r.Kind {
		case dialect.SigOpWeight:
			i.Weight = weightRuleAt(r, tip)
		case dialect.FutureTime:
			i.Future = futureRuleAt(r, tip, net.MinTime(tip), now)
		}
	}
}

// weightRule tells of the second version of the rule on signatures in a spend.
type weightRule struct {
	Legacy          int64 `json:"legacy_per_sigop"`
	V2              int64 `json:"v2_per_sigop"`
	Height          int32 `json:"activation_height"`
	ActiveForTip    bool  `json:"active_for_tip"`
	ActiveForNext   bool  `json:"active_for_next_block"`
	BlocksRemaining int32 `json:"blocks_remaining"`
}

func weightRuleAt(r *dialect.ScheduledRule, tip *chainview.Block) *weightRule {
	next := tip.Height + 1
	return &weightRule{
		Legacy: r.Before, V2: r.Since, Height: r.Height,
		ActiveForTip: r.Active(tip.Height), ActiveForNext: r.Active(next), BlocksRemaining: max(0, r.Height-next),
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

func futureRuleAt(r *dialect.ScheduledRule, tip *chainview.Block, least, now int64) *futureRule {
	next := tip.Height + 1
	most := now + r.At(next)
	return &futureRule{
		Legacy: r.Before, V2: r.Since, Height: r.Height,
		ActiveForTip: r.Active(tip.Height), ActiveForNext: r.Active(next),
		TipLimit: r.At(tip.Height), NextLimit: r.At(next), BlocksRemaining: max(0, r.Height-next),
		NextMinTime: least, NextMaxTime: most, NextHeadroom: most - least,
	}
}

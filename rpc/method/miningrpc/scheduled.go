package miningrpc

import (
	"fmt"
	"log/slog"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/rpc/command"
)

// weightRule is what a signature takes of the validation budget of a spend.
type weightRule struct {
	PerSigOp int64 `json:"per_sigop"`
	Active   bool  `json:"v2_active"`
	Height   int32 `json:"v2_activation_height"`
}

// futureRule is how far a block may be ahead of the clock.
type futureRule struct {
	Limit  int64 `json:"limit_seconds"`
	Active bool  `json:"v2_active"`
	Height int32 `json:"v2_activation_height"`
}

// scheduledRules tell of the rules that change at a height, as they are for a block; nil: the network has none.
type scheduledRules struct {
	Weight *weightRule `json:"p2mr_validation_weight,omitempty"`
	Future *futureRule `json:"future_block_time,omitempty"`
}

func scheduledFor(rules []dialect.ScheduledRule, height int32) (s scheduledRules) {
	for i := range rules {
		switch rule := &rules[i]; rule.Kind {
		case dialect.SigOpWeight:
			s.Weight = &weightRule{PerSigOp: rule.At(height), Active: rule.Active(height), Height: rule.Height}
		case dialect.FutureTime:
			s.Future = &futureRule{Limit: rule.At(height), Active: rule.Active(height), Height: rule.Height}
		}
	}
	return s
}

// scheduledResults tell what these are; optional: on some networks.
func scheduledResults(optional bool) []command.Result {
	where := ""
	if optional {
		where = "on chains that pay to P2MR outputs: "
	}
	second := []command.Result{
		{Type: command.Bool, Key: "v2_active", Help: "whether the second version of the rule holds"},
		{Type: command.Number, Key: "v2_activation_height", Help: "first block that it holds for"},
	}
	return []command.Result{
		{
			Type: command.Object, Key: "p2mr_validation_weight", Optional: optional,
			Help: where + "what a signature takes of a spend's budget",
			Inner: append([]command.Result{
				{Type: command.Number, Key: "per_sigop", Help: "for a signature in this block"},
			}, second...),
		},
		{
			Type: command.Object, Key: "future_block_time", Optional: optional,
			Help: where + "how far the block may be ahead of the clock",
			Inner: append([]command.Result{
				{Type: command.Number, Key: "limit_seconds", Help: "for this block"},
			}, second...),
		},
	}
}

// checkTime refuses a template whose time no node takes yet, on networks that say how far a block may be
// ahead of the clock.
func (d *Deps) checkTime(header *wire.BlockHeader, height int32) error {
	for i := range d.Network.Scheduled {
		rule := &d.Network.Scheduled[i]
		if rule.Kind != dialect.FutureTime {
			continue
		}
		made, most := header.Timestamp.Unix(), d.Now().Unix()+rule.At(height)
		if made <= most {
			continue
		}
		corelog.Printf(d.Log, slog.LevelWarn,
			"Unable to create a block template at height %d: minimum timestamp %d exceeds maximum timestamp %d",
			height, made, most)
		return command.Errorf(command.MiscError,
			"time-too-new: no valid block timestamp is currently available at height %d; "+
				"median time past requires %d but the future-time limit permits at most %d", height, made, most)
	}
	return nil
}

// addRolling adds the bits of the version that a miner may count with, on networks that define such bits.
func (r *templateReply) addRolling(roll func(version int32) (rolled int32, mask uint32)) {
	if roll == nil {
		return
	}
	var mask uint32
	r.Version, mask = roll(r.Version)
	r.Rolling = fmt.Sprintf("%08x", mask)
}

package mining

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/dialect"
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

// addScheduled tells of the rules that change at a height, as they are for the block.
func (r *templateReply) addScheduled(rules []dialect.ScheduledRule, height int32) {
	for i := range rules {
		switch rule := &rules[i]; rule.Kind {
		case dialect.SigOpWeight:
			r.WeightRule = &weightRule{PerSigOp: rule.At(height), Active: rule.Active(height), Height: rule.Height}
		case dialect.FutureTime:
			r.FutureRule = &futureRule{Limit: rule.At(height), Active: rule.Active(height), Height: rule.Height}
		}
	}
}

// addRolling says which bits of the version a miner may count with, on networks that
// say so.
func (r *templateReply) addRolling(roll func(version int32) (rolled int32, mask uint32)) {
	if roll == nil {
		return
	}
	var mask uint32
	r.Version, mask = roll(r.Version)
	r.Rolling = fmt.Sprintf("%08x", mask)
}

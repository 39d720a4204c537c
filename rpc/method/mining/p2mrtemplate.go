package mining

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/dialect"
)

// Parts of the version of a block on chains that pay to P2MR outputs.
const (
	versionTop     = 0x20000000
	versionTopMask = 0xe0000000
	versionAuxPoW  = 1 << 8
	versionVotes   = 0xff       // what can be voted for
	versionRolling = 0x1fffe000 // what miners may count with
)

// weightRule is what a signature takes of the validation budget of a spend.
type weightRule struct {
	PerSigOp int   `json:"per_sigop"`
	Active   bool  `json:"v2_active"`
	Height   int32 `json:"v2_activation_height"`
}

// futureRule is how far a block may be ahead of the clock.
type futureRule struct {
	Limit  int64 `json:"limit_seconds"`
	Active bool  `json:"v2_active"`
	Height int32 `json:"v2_activation_height"`
}

// addP2MR says what chains that pay to P2MR outputs have beside Bitcoin's.
func (r *templateReply) addP2MR(rules *dialect.P2MR, height int32) {
	r.WeightRule = &weightRule{PerSigOp: dialect.SigWeightV1, Active: height >= rules.WeightV2, Height: rules.WeightV2}
	if r.WeightRule.Active {
		r.WeightRule.PerSigOp = dialect.SigWeightV2
	}
	r.FutureRule = &futureRule{
		Limit: rules.MaxFuture(height), Active: height >= rules.FutureTimeV2, Height: rules.FutureTimeV2,
	}
	mask := 0
	if version := uint32(r.Version); version&versionTopMask == versionTop {
		r.Version = int32(versionTop | version&versionVotes) // no block of this kind is merge-mined
		mask = versionRolling
	}
	r.Rolling = fmt.Sprintf("%08x", mask)
}

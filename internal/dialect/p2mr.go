package dialect

import (
	"bytes"
	"math"

	"github.com/seed61375155/trawl/internal/p2mr/pow"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
)

// P2MR are the consensus rules of chains that pay to P2MR outputs and can be
// mined together with another chain. A height is that of the first block that a
// rule holds for; from that of Cadence on there are lanes, and the version has a layout.
type P2MR struct {
	pow.Params

	AnyOutput   bool  // outputs need not be P2MR, or one of the few other forms
	SubsidyStep int32 // blocks between reductions

	Spends       int32 // P2MR scripts are executed
	WeightV2     int32 // a signature takes 3683 of the validation budget, before 3730
	FutureTimeV2 int32 // blocks may be 600 s ahead of the clock, before 7200 s
	OuterWitness int32 // outputs of witness versions 3 to 16 may be made
	BIP30        int32 // no transaction may repeat one with unspent outputs
	DisplayOrder int32 // merge-mined blocks are named in display order, before in byte order

	// Signatures caches the signatures that were verified for the memory pool.
	Signatures *vm.Signatures
}

// How far a block may be ahead of the clock, in seconds, and what a signature takes
// of a spend's validation budget; before and after the rules' second versions.
const (
	MaxFutureV1 = 7200
	MaxFutureV2 = 600
	SigWeightV1 = 3730
	SigWeightV2 = 3683
)

// MaxFuture returns how many seconds a block at height may be ahead of the clock.
func (p *P2MR) MaxFuture(height int32) int64 {
	if height >= p.FutureTimeV2 {
		return MaxFutureV2
	}
	return MaxFutureV1
}

// Never is the height of a rule that does not come.
const Never int32 = math.MaxInt32

// Choices are what the operator of a node may choose.
type Choices struct {
	// Reference is the version of Bitcoin Core that nodes of Bitcoin's networks speak as: one of [References], or 0 for
	// [DefaultReference].
	Reference int

	// The rest is for regtests and signets.
	SignetChallenge []byte // output script that blocks of a signet are signed for; nil: the public one's

	Activation  map[string]int32       // of regtests: heights of rules by the names of -testactivationheight
	VersionBits map[string]VersionBits // of regtests: signalling by the names of -vbparams

	BIP94        bool   // of regtests: the rules against time warps hold (-test=bip94)
	BlockVersion *int32 // of regtests: that of blocks made here (-blockversion)

	// The rest is for regtests of P2MR chains.
	AnyOutput bool // outputs need not be P2MR (-p2mronly=0)
	ASERT     bool // targets as on the other networks (-asert)
	Periodic  bool // targets change after a number of blocks, as Bitcoin's (-legacyretarget); not with ASERT
}

// mayPayTo reports whether a restricted chain allows an output of a block at height to
// have a script. It allows P2MR, pay-to-anchor, scripts that nobody can spend, and
// later rules' witness programs from their height on.
func (p *P2MR) mayPayTo(script []byte, height int32) bool {
	const (
		opReturn, p2mrLen = 0x6a, 2 + 32
		op2, push32       = 0x52, 32
	)
	switch {
	case bytes.Equal(script, anchor):
		return true
	case len(script) == 0:
		return false
	case script[0] == opReturn:
		return true
	case script[0] == op2:
		return len(script) == p2mrLen && script[1] == push32
	}
	return height >= p.OuterWitness && isReserved(script)
}

// isReserved reports whether an output script is a witness program of a version that is
// kept for later rules: 3 to 16.
func isReserved(script []byte) bool {
	const op3, op16 = 0x53, 0x60
	return len(script) >= 4 && len(script) <= 42 && script[0] >= op3 && script[0] <= op16 &&
		int(script[1]) == len(script)-2
}

// anchor is the output script of pay-to-anchor.
var anchor = []byte{0x51, 0x02, 0x4e, 0x73}

package messages

// MaxFeeTarget is the largest number of blocks that a fee is estimated for.
const MaxFeeTarget = 1008

// ErrNoFeeEstimates answers a node that estimates no fees, since it takes no transactions of peers.
var ErrNoFeeEstimates = refusal("fees are not estimated")

// FeeQuery is what a fee rate is wanted for.
type FeeQuery struct {
	Target       int  // blocks, 1 to MaxFeeTarget
	Conservative bool // falls slower when fees do
}

// EstimateFee asks which fee rate has a transaction confirmed in so many blocks.
//
// Errors: [ErrNoFeeEstimates].
type EstimateFee struct {
	Asks[FeeEstimate]
	FeeQuery

	By FeeEstimator
}

// A FeeEstimator says what a fee rate is estimated by.
type FeeEstimator uint8

// By how long transactions took to be confirmed, by what the pool has for the next block, and the lower rate of both.
const (
	ByConfirmations FeeEstimator = iota
	ByNextBlock
	ByBoth
)

// MinedPart is how much of a block was in the pool before: weights without the coinbase.
type MinedPart struct {
	Height        int32
	Weight, Known int64
}

// FeeEstimate is the answer to [EstimateFee]. Rates are in the smallest unit for 1000 virtual bytes.
type FeeEstimate struct {
	Rate   int64  // 0: too little data
	Blocks int    // the target in blocks that the estimate is for
	Reason string // its basis, in Core's words
	MinFee int64  // the least that the pool takes

	By      FeeEstimator // which of both the rate is by
	Problem string       // why the next block says nothing, in Core's words
	Mined   []MinedPart  // the last blocks, the latest first, if that is asked for
}

// EstimateRawFee asks for the fee rate whose transactions were confirmed in time to such a share, by
// each span of time that is remembered.
//
// Errors: [ErrNoFeeEstimates].
type EstimateRawFee struct {
	Asks[RawFeeEstimates]

	Target int     // blocks, 1 to MaxFeeTarget
	Share  float64 // 0 to 1
}

// RawFeeEstimates is the answer to [EstimateRawFee]: of the spans that reach the target, the
// shortest first.
type RawFeeEstimates []RawFeeEstimate

// A RawFeeEstimate is what one span of time says.
type RawFeeEstimate struct {
	Horizon    string // "short", "medium" or "long"
	Rate       int64  // for 1000 virtual bytes; 0: too little is known
	Decay      float64
	Scale      int      // blocks
	Pass, Fail FeeRange // the lowest rates with the share, the highest without
}

// A FeeRange is a range of fee rates, and what became of transactions that paid them.
type FeeRange struct {
	Start, End float64 // -1: there is no such range
	Within     float64 // were confirmed within the target
	Confirmed  float64 // were confirmed at any time
	Waiting    float64 // are in the pool, unconfirmed for longer than the target
	Left       float64 // left the pool unconfirmed after the target
}

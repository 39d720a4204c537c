package web

import (
	"context"
	"strconv"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

// A feeFor is the fee rate that has a transaction confirmed in some time.
type feeFor struct {
	When string
	Rate string // in the smallest unit per virtual byte
	Step int    // of the scale of fees
}

// feeTargets are the times that pages tell the fees of, in blocks.
var feeTargets = []struct {
	when   string
	blocks int
}{{"Next block", 1}, {"Half an hour", 3}, {"A day", 144}}

// fees returns the estimates that there are. There are none until enough blocks were seen.
func fees(ctx context.Context, v viewer) (all []feeFor) {
	for _, target := range feeTargets {
		got := get[struct{ FeeRate amount }](ctx, v, nil, "estimatesmartfee", target.blocks)
		if got == nil || got.FeeRate <= 0 {
			continue
		}
		rate := float64(got.FeeRate) / 1000
		all = append(all, feeFor{target.when, rateText(rate), chart.FeeStep(rate)})
	}
	return all
}

// rateText writes a fee rate.
func rateText(rate float64) string {
	if rate >= 100 {
		return grouped(strconv.FormatFloat(rate, 'f', 0, 64))
	}
	return strconv.FormatFloat(rate, 'f', 1, 64)
}

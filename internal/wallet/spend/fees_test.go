package spend

import (
	"errors"
	"testing"

	"github.com/seed61375155/trawl/messages"
)

// The rate is what was estimated, within what pool and wallet ask for.
func TestRate(t *testing.T) {
	given, economical := int64(3000), false
	for name, test := range map[string]struct {
		request   messages.Spend
		estimates []messages.FeeEstimate
		minFee    int64
		relay     int64
		fallback  FeeRate
		pay       FeeRate
		query     messages.FeeQuery
		rate      FeeRate
		reason    string
		err       error
	}{
		"an estimate": {
			estimates: []messages.FeeEstimate{{Rate: 7000, Reason: "why"}}, query: messages.FeeQuery{Target: 6},
			rate: 7000, reason: "why",
		},
		"one that the request describes": {
			request:   messages.Spend{ConfTarget: 9, Replaceable: new(false)},
			estimates: []messages.FeeEstimate{{Rate: 7000, Reason: "why"}},
			query:     messages.FeeQuery{Target: 9, Conservative: true}, rate: 7000, reason: "why",
		},
		"one of a mode": {
			request:   messages.Spend{Replaceable: new(false), Conservative: &economical},
			estimates: []messages.FeeEstimate{{Rate: 500}}, query: messages.FeeQuery{Target: 6},
			rate: 1000, reason: reasonRequired,
		},
		"a full pool": {
			estimates: []messages.FeeEstimate{{Rate: 7000}}, minFee: 8000, query: messages.FeeQuery{Target: 6},
			rate: 8000, reason: reasonPool,
		},
		"none": {
			estimates: []messages.FeeEstimate{{}}, query: messages.FeeQuery{Target: 6}, err: errNoEstimate,
		},
		"none but a fallback": {
			fallback: 4000, query: messages.FeeQuery{Target: 6}, rate: 4000, reason: reasonFallback,
		},
		"a rate": {
			request: messages.Spend{FeeRate: &given}, estimates: []messages.FeeEstimate{{Rate: 7000}},
			query: messages.FeeQuery{Target: 6}, rate: 3000, reason: reasonPay,
		},
		"the least rate": {
			request: messages.Spend{FeeRate: new(int64(1000))}, query: messages.FeeQuery{Target: 6},
			rate: 1000, reason: reasonPay,
		},
		"less than that": {
			request: messages.Spend{FeeRate: new(int64(999))}, query: messages.FeeQuery{Target: 6},
			err: refusal("Fee rate (0.999 sat/vB) is lower than the minimum fee rate setting (1.000 sat/vB)"),
		},
		"any rate": {
			request: messages.Spend{FeeRate: new(int64(1)), AnyFeeRate: true}, query: messages.FeeQuery{Target: 6},
			rate: 1, reason: reasonPay,
		},
		"a rate below what nodes relay": {
			request: messages.Spend{FeeRate: &given}, relay: 12_345, query: messages.FeeQuery{Target: 6},
			err: refusal("Fee rate (3.000 sat/vB) is lower than the minimum fee rate setting (12.345 sat/vB)"),
		},
		"a rate in place of estimates": {
			pay: 5000, estimates: []messages.FeeEstimate{{Rate: 7000}}, minFee: 8000,
			query: messages.FeeQuery{Target: 6}, rate: 5000, reason: reasonPay,
		},
		"a rate in place of estimates that is too low": {
			pay: 500, query: messages.FeeQuery{Target: 6}, rate: 1000, reason: reasonRequired,
		},
		"a target in place of that rate": {
			request: messages.Spend{ConfTarget: 2}, pay: 5000, query: messages.FeeQuery{Target: 2},
			estimates: []messages.FeeEstimate{{Rate: 7000, Reason: "why"}}, rate: 7000, reason: "why",
		},
		"a fallback in a full pool": {
			fallback: 4000, minFee: 8000, query: messages.FeeQuery{Target: 6}, rate: 8000, reason: reasonPool,
		},
		"as much as a full pool asks": {
			estimates: []messages.FeeEstimate{{Rate: 8000, Reason: "why"}}, minFee: 8000,
			query: messages.FeeQuery{Target: 6}, rate: 8000, reason: "why",
		},
	} {
		o := DefaultOptions()
		o.Pay = test.pay
		o.Fallback = test.fallback
		p := &Plan{Request: &test.request, Options: o, Atom: "sat", Answers: core30, Pool: messages.PoolClusters{
			MinFee: test.minFee, MinRelayFee: max(test.relay, 100), Estimates: test.estimates,
		}}
		queries := FeeQueries(&test.request, &o)
		if len(queries) != 2 || queries[0] != test.query || queries[1] != (messages.FeeQuery{Target: 1008}) {
			t.Errorf("%s: asks for %+v", name, queries)
		}
		if rate, reason, err := p.rate(); rate != test.rate || reason != test.reason || !errors.Is(err, test.err) {
			t.Errorf("%s: %d, %q, %v", name, rate, reason, err)
		}
	}
}

// Core 32 has few reasons.
func TestLaterReasons(t *testing.T) {
	estimate := []messages.FeeEstimate{{Rate: 7000, Reason: "why"}}
	for want, p := range map[string]Plan{
		reasonGiven:     {Request: &messages.Spend{FeeRate: new(int64(3000))}},
		reasonEstimated: {Request: &messages.Spend{}, Pool: messages.PoolClusters{Estimates: estimate}},
		reasonPool:      {Request: &messages.Spend{}, Pool: messages.PoolClusters{Estimates: estimate, MinFee: 8000}},
		reasonFallback:  {Request: &messages.Spend{}, Options: Options{Fallback: 1000}},
		reasonRequired: {
			Request: &messages.Spend{}, Options: Options{Fallback: 10, Min: 1000},
		},
	} {
		if _, reason, err := p.rate(); reason != want || err != nil {
			t.Errorf("got %q (%v), want %q", reason, err, want)
		}
	}
}

// Core 31 names the options that set the least rate.
func TestFeeLimitsAreNamed(t *testing.T) {
	o := DefaultOptions()
	p := Plan{
		Request: &messages.Spend{FeeRate: new(int64(50))}, Options: o, Atom: "sat",
		Pool: messages.PoolClusters{MinRelayFee: 100},
	}
	const want = "Fee rate (0.050 sat/vB) is lower than the minimum fee rate setting (1.000 sat/vB).\n" +
		"Consider modifying -mintxfee (1.000 sat/vB) or -minrelaytxfee (0.100 sat/vB)."
	if _, _, err := p.rate(); !errors.Is(err, refusal(want)) {
		t.Errorf("%v", err)
	}
}

// Change is kept where it is worth spending at the estimate for a long time, if that is lower than
// what the wallet would throw away.
func TestDiscard(t *testing.T) {
	for _, test := range []struct {
		estimates []messages.FeeEstimate
		want      FeeRate
	}{
		{nil, 10_000},
		{[]messages.FeeEstimate{{Rate: 1}, {}}, 10_000},
		{[]messages.FeeEstimate{{Rate: 1}, {Rate: 5000}}, 5000},
		{[]messages.FeeEstimate{{Rate: 1}, {Rate: 50_000}}, 10_000},
		{[]messages.FeeEstimate{{Rate: 1}, {Rate: 10}}, 3000},
	} {
		p := &Plan{Options: DefaultOptions(), Pool: messages.PoolClusters{DustFee: 3000, Estimates: test.estimates}}
		if got := p.discard(); got != test.want {
			t.Errorf("%+v: %d, want %d", test.estimates, got, test.want)
		}
	}
}

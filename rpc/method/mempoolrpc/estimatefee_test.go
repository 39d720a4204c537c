package mempoolrpc_test

import (
	"testing"

	"github.com/seed61375155/trawl/messages"
)

// The replies for an estimate, and for the lack of an estimate.
func TestEstimates(t *testing.T) {
	r := newRig(t)
	raw := messages.RawFeeEstimate{
		Horizon: "medium", Rate: 12345, Decay: .9952, Scale: 2,
		Pass: messages.FeeRange{Start: 1999.96, End: 1e99, Within: 10.004, Confirmed: 11.005, Waiting: 3, Left: .996},
		Fail: messages.FeeRange{Start: -1, End: -1},
	}
	none := raw
	none.Horizon, none.Rate, none.Fail = "long", 0, messages.FeeRange{End: 1000.4}
	for _, test := range []struct {
		method, params string
		fee            messages.FeeEstimate
		raw            messages.RawFeeEstimates
		err            error
		want           string
	}{
		{"estimatesmartfee", `[6]`, messages.FeeEstimate{Rate: 5000, Blocks: 7, MinFee: 100}, nil, nil, `{"feerate":0.00005000,"blocks":7}`},
		{"estimatesmartfee", `[6]`, messages.FeeEstimate{Rate: 5000, Blocks: 7, MinFee: 6000}, nil, nil, `{"feerate":0.00006000,"blocks":7}`},
		{
			"estimatesmartfee", `[6]`,
			messages.FeeEstimate{Blocks: 2, MinFee: 100},
			nil, nil,
			`{"errors":["Insufficient data or no feerate found"],"blocks":2}`,
		},
		{
			"estimatesmartfee", `[6]`,
			messages.FeeEstimate{},
			nil, messages.ErrNoFeeEstimates,
			`{"code":-32603,"message":"Fee estimation disabled"}`,
		},
		{"estimatesmartfee", `[0]`, messages.FeeEstimate{}, nil, nil, `{"code":-8,"message":"Invalid conf_target, must be between 1 and 1008"}`},
		{
			"estimatesmartfee", `[1009]`,
			messages.FeeEstimate{},
			nil, nil,
			`{"code":-8,"message":"Invalid conf_target, must be between 1 and 1008"}`,
		},
		{
			"estimatesmartfee", `[6, "quick"]`,
			messages.FeeEstimate{},
			nil, nil,
			`{"code":-8,"message":"Invalid estimate_mode parameter, must be one of: ` +
				`\"unset\", \"economical\", \"conservative\""}`,
		},
		{"estimaterawfee", `[6, 1.01]`, messages.FeeEstimate{}, nil, nil, `{"code":-8,"message":"Invalid threshold"}`},
		{"estimaterawfee", `[6]`, messages.FeeEstimate{}, nil, messages.ErrNoFeeEstimates, `{"code":-32603,"message":"Fee estimation disabled"}`},
		{
			"estimaterawfee", `[6]`,
			messages.FeeEstimate{},
			messages.RawFeeEstimates{raw, none},
			nil,
			`{"medium":{"feerate":0.00012345,"decay":0.9952,"scale":2,"pass":{"startrange":2000,"endrange":1e+99,"withintarget":10,` +
				`"totalconfirmed":11.01,"inmempool":3,"leftmempool":1}},` +
				`"long":{"decay":0.9952,"scale":2,"fail":{"startrange":0,"endrange":1000,"withintarget":0,"totalconfirmed":0,` +
				`"inmempool":0,"leftmempool":0},"errors":["Insufficient data or no feerate found which meets threshold"]}}`,
		},
	} {
		r.fee, r.raw, r.feeErr = test.fee, test.raw, test.err
		if got := r.call(test.method, test.params); got != test.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", test.method, test.params, got, test.want)
		}
	}
}

package mempoolrpc_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
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

// Core 32 can be asked for the estimator, and for how much of the last blocks was in the pool.
func TestFeeOptions(t *testing.T) {
	for _, test := range []struct {
		options string
		fee     messages.FeeEstimate
		by      messages.FeeEstimator
		want    string
	}{
		{
			`{}`, messages.FeeEstimate{Rate: 5000, Blocks: 7}, messages.ByConfirmations,
			`{"feerate":0.00005000,"blocks":7}`,
		},
		{
			`{"fee_rate_estimator":"block_policy","verbosity":2}`, messages.FeeEstimate{Rate: 5000, Blocks: 7},
			messages.ByConfirmations, `{"feerate":0.00005000,"blocks":7,"mempool_health_statistics":[]}`,
		},
		{
			`{"fee_rate_estimator":"Mempool_Policy","verbosity":2}`,
			messages.FeeEstimate{
				Blocks: 2, Problem: "why", Mined: []messages.MinedPart{{Height: 9, Weight: 8, Known: 7}},
			},
			messages.ByNextBlock, `{"errors":["why"],"blocks":2,"mempool_health_statistics":` +
				`[{"block_height":9,"block_weight":8,"mempool_txs_weight":7}]}`,
		},
		{
			`{"fee_rate_estimator":"auto"}`, messages.FeeEstimate{Rate: 5000, Blocks: 2, By: messages.ByNextBlock},
			messages.ByBoth, `{"feerate":0.00005000,"estimator":"mempool_policy","blocks":2}`,
		},
		{
			`{"fee_rate_estimator":"auto","verbosity":1}`, messages.FeeEstimate{Rate: 5000, Blocks: 6}, messages.ByBoth,
			`{"feerate":0.00005000,"estimator":"block_policy","blocks":6}`,
		},
		{
			`{"fee_rate_estimator":"none"}`, messages.FeeEstimate{}, messages.ByConfirmations,
			`{"code":-8,"message":"Invalid fee_rate_estimator parameter, must be one of: \"auto\", \"block_policy\", ` +
				`\"mempool_policy\""}`,
		},
		{
			`{"fee_rate_estimator":1}`, messages.FeeEstimate{}, messages.ByConfirmations, `{"code":-3,"message":` +
				`"JSON value of type number for field fee_rate_estimator is not of expected type string"}`,
		},
		{
			`{"block_policy_only":true}`, messages.FeeEstimate{}, messages.ByConfirmations,
			`{"code":-3,"message":"Unexpected key block_policy_only"}`,
		},
	} {
		r := newRigAs(t, dialect.Core32)
		r.fee = test.fee
		got := r.call("estimatesmartfee", `[6, "economical", `+test.options+`]`)
		if got != test.want || r.feeBy != test.by {
			t.Errorf("%s by %d\ngot  %s\nwant %s", test.options, r.feeBy, got, test.want)
		}
	}
}

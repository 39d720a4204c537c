package mempoolrpc

import (
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// Names of what estimates fee rates.
const (
	blockPolicy   = "block_policy"
	mempoolPolicy = "mempool_policy"
	autoPolicy    = "auto"
)

// smartFeeParams adds the options of estimatesmartfee where the next block says something about fee rates.
func (d *Deps) smartFeeParams(list []command.Param) []command.Param {
	if !d.Network.Fees.NextBlock {
		return list
	}
	return append(list, command.Param{
		Name: "options", Type: command.NamedOptions, Optional: true, Since: 32, Help: "what is estimated by, and told",
		Inner: []command.Param{
			{
				Name: "fee_rate_estimator", Type: command.String, Default: `"` + blockPolicy + `"`, Since: 32,
				Help: `"block_policy": by how long transactions took; "mempool_policy": by what the pool has for ` +
					`the next block;` + "\n" + `"auto": the lower rate of both, where both have one`,
			},
			{
				Name: "verbosity", Type: command.Number, Default: "1", Since: 32,
				Help: "2: tell how much of the last blocks was in the pool",
			},
		},
	})
}

var minedResults = []command.Result{{Type: command.Object, Inner: []command.Result{
	{Type: command.Number, Key: "block_height", Help: "height of a block"},
	{Type: command.Number, Key: "block_weight", Help: "its weight without the coinbase"},
	{Type: command.Number, Key: "mempool_txs_weight", Help: "how much of that was in the pool"},
}}}

type minedPart struct {
	Height int32 `json:"block_height"`
	Weight int64 `json:"block_weight"`
	Known  int64 `json:"mempool_txs_weight"`
}

// feeOptions are the options of estimatesmartfee.
type feeOptions struct {
	by        messages.FeeEstimator
	verbosity int32
}

func (d *Deps) smartFeeOptions(a *command.Args) (o feeOptions, err error) {
	const at = 2
	if !d.Network.Fees.NextBlock || a.Value(at).IsNull() {
		return o, nil
	}
	options := a.Value(at)
	err = checkFields(options, true, field{"fee_rate_estimator", jsontree.String}, field{"verbosity", jsontree.Number})
	if err != nil {
		return o, err
	}
	if v := options.Get("fee_rate_estimator"); !v.IsNull() {
		name, err := v.AsString()
		if err != nil {
			return o, err
		}
		switch strings.ToLower(name) {
		case blockPolicy:
		case mempoolPolicy:
			o.by = messages.ByNextBlock
		case autoPolicy:
			o.by = messages.ByBoth
		default:
			return o, command.Error{
				Code: command.InvalidParameter,
				Message: `Invalid fee_rate_estimator parameter, must be one of: "auto", "block_policy", ` +
					`"mempool_policy"`,
			}
		}
	}
	if v := options.Get("verbosity"); !v.IsNull() {
		o.verbosity, err = v.AsInt32()
	}
	return o, err
}

// tell adds what the options ask for.
func (o feeOptions) tell(shown *smartFee, got *messages.FeeEstimate) {
	if o.by == messages.ByBoth && got.Rate > 0 {
		shown.Estimator = blockPolicy
		if got.By == messages.ByNextBlock {
			shown.Estimator = mempoolPolicy
		}
	}
	if o.verbosity < 2 {
		return
	}
	list := make([]minedPart, len(got.Mined))
	for i, m := range got.Mined {
		list[i] = minedPart(m)
	}
	shown.Mined = &list
}

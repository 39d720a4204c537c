package mempoolrpc

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var confTargetParam = command.Param{
	Name: "conf_target", Type: command.Number,
	Help: "within how many blocks a transaction should be confirmed, 1 to 1008",
}

// confTarget reads the number of blocks that a fee is wanted for.
func confTarget(a *command.Args) (int, error) {
	target, err := a.Int32(0)
	if err != nil {
		return 0, err
	}
	if target < 1 || target > messages.MaxFeeTarget {
		return 0, command.Errorf(command.InvalidParameter,
			"Invalid conf_target, must be between %d and %d", 1, messages.MaxFeeTarget)
	}
	return int(target), nil
}

// noEstimate says in Core's words why there is no estimate.
func noEstimate(err error) error {
	if errors.Is(err, messages.ErrNoFeeEstimates) {
		return command.Error{Code: command.InternalError, Message: "Fee estimation disabled"}
	}
	return err
}

func estimateSmartFee(d *Deps) command.Command {
	return command.Command{
		Name:     "estimatesmartfee",
		Category: command.Util,
		About:    command.State, Effect: command.Reads,
		Summary: "Estimates the fee rate that has a transaction confirmed within so many blocks, from how long those " +
			"took that were seen in the memory pool.",
		Params: d.smartFeeParams([]command.Param{
			confTargetParam,
			{
				Name: "estimate_mode", Type: command.String, Default: `"economical"`,
				Help: `"economical" follows falling fees faster; "conservative" looks at a longer time; "unset" is ` +
					"economical;\nin any case of letters",
			},
		}),
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{
				Type: command.Amount, Key: "feerate", Optional: true,
				Help: "the rate for 1000 virtual bytes, if enough is known",
			},
			{
				Type: command.String, Key: "estimator", Optional: true, Since: 32,
				Help: `which estimator the rate is of, with "auto"`,
			},
			{Type: command.Array, Key: "errors", Optional: true, Help: "why there is none", Inner: []command.Result{
				{Type: command.String, Help: "the reason"},
			}},
			{
				Type: command.Number, Key: "blocks",
				Help: "for how many blocks the rate is: at least 2, and no more than there is experience of",
			},
			{
				Type: command.Array, Key: "mempool_health_statistics", Optional: true, Since: 32,
				Help: "how much of the last blocks was in the pool, with a verbosity of 2", Inner: minedResults,
			},
		}}},
		Examples: []string{`[6]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.smartFee(ctx, a) },
	}
}

func (d *Deps) smartFee(ctx context.Context, a *command.Args) (any, error) {
	target, err := confTarget(a)
	if err != nil {
		return nil, err
	}
	mode, err := a.StringOr(1, "unset")
	if err != nil {
		return nil, err
	}
	q := messages.EstimateFee{FeeQuery: messages.FeeQuery{Target: target}}
	switch strings.ToUpper(mode) {
	case "UNSET", "ECONOMICAL":
	case "CONSERVATIVE":
		q.Conservative = true
	default:
		return nil, command.Error{
			Code:    command.InvalidParameter,
			Message: `Invalid estimate_mode parameter, must be one of: "unset", "economical", "conservative"`,
		}
	}
	options, err := d.smartFeeOptions(a)
	if err != nil {
		return nil, err
	}
	q.By = options.by
	got, err := ask.Ask(ctx, d.Pool, q)
	if err != nil {
		return nil, noEstimate(err)
	}
	shown := smartFee{Blocks: got.Blocks}
	if got.Rate == 0 {
		shown.Errors = []string{cmp.Or(got.Problem, "Insufficient data or no feerate found")}
	} else {
		shown.Rate = new(jsontree.Amount(max(got.Rate, got.MinFee)))
	}
	options.tell(&shown, &got)
	return shown, nil
}

// smartFee is what estimatesmartfee returns.
type smartFee struct {
	Rate      *jsontree.Amount `json:"feerate,omitempty"`
	Errors    []string         `json:"errors,omitempty"`
	Estimator string           `json:"estimator,omitempty"`
	Blocks    int              `json:"blocks"`
	Mined     *[]minedPart     `json:"mempool_health_statistics,omitempty"`
}

const defaultShare = 0.95

func estimateRawFee(d *Deps) command.Command {
	return command.Command{
		Name: "estimaterawfee", Category: command.Hidden,
		About: command.State, Effect: command.Reads,
		Summary: "Estimates a fee rate by each span of time that is remembered.",
		Params: []command.Param{
			confTargetParam,
			{
				Name: "threshold", Type: command.Number, Default: "0.95",
				Help: "the share of transactions that have to be confirmed within conf_target blocks, 0 to 1",
			},
		},
		Results:  []command.Result{{Type: command.Object, Inner: rawFeeResults()}},
		Examples: []string{`[6, 0.9]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.rawFee(ctx, a) },
	}
}

// rawFeeResults are the members of what estimaterawfee returns.
func rawFeeResults() []command.Result {
	bucket := []command.Result{
		{Type: command.Number, Key: "startrange", Help: "its least fee rate"},
		{Type: command.Number, Key: "endrange", Help: "its highest fee rate"},
		{Type: command.Number, Key: "withintarget", Help: "transactions that were confirmed in time"},
		{Type: command.Number, Key: "totalconfirmed", Help: "transactions that were confirmed"},
		{Type: command.Number, Key: "inmempool", Help: "transactions in the memory pool that have waited for as long"},
		{Type: command.Number, Key: "leftmempool", Help: "transactions that left the memory pool unconfirmed"},
	}
	var spans []command.Result
	for _, name := range []string{"short", "medium", "long"} {
		spans = append(spans, command.Result{
			Type: command.Object, Key: name, Optional: true, Help: "the estimate by this span of time",
			Inner: []command.Result{
				{Type: command.Amount, Key: "feerate", Optional: true, Help: "the rate for 1000 virtual bytes"},
				{Type: command.Number, Key: "decay", Help: "by which older blocks count less with each block"},
				{Type: command.Number, Key: "scale", Help: "blocks that are counted together"},
				{
					Type: command.Object, Key: "pass", Optional: true, Inner: bucket,
					Help: "the lowest rates of which enough were confirmed",
				},
				{
					Type: command.Object, Key: "fail", Optional: true, Inner: bucket,
					Help: "the highest rates of which too few were confirmed",
				},
				{
					Type: command.Array, Key: "errors", Optional: true, Help: "why there is no estimate",
					Inner: []command.Result{{Type: command.String, Help: "the reason"}},
				},
			},
		})
	}
	return spans
}

func (d *Deps) rawFee(ctx context.Context, a *command.Args) (any, error) {
	target, err := confTarget(a)
	if err != nil {
		return nil, err
	}
	share := defaultShare
	if a.Has(1) {
		if share, err = a.Value(1).AsFloat64(); err != nil {
			return nil, err
		}
	}
	if share < 0 || share > 1 {
		return nil, command.Error{Code: command.InvalidParameter, Message: "Invalid threshold"}
	}
	got, err := ask.Ask(ctx, d.Pool, messages.EstimateRawFee{Target: target, Share: share})
	if err != nil {
		return nil, noEstimate(err)
	}
	result := rawFees{}
	places := map[string]**rawFee{"short": &result.Short, "medium": &result.Medium, "long": &result.Long}
	for i := range got {
		*places[got[i].Horizon] = newRawFee(&got[i])
	}
	return result, nil
}

// rawFees is what estimaterawfee returns.
type rawFees struct {
	Short  *rawFee `json:"short,omitempty"`
	Medium *rawFee `json:"medium,omitempty"`
	Long   *rawFee `json:"long,omitempty"`
}

type rawFee struct {
	Rate   *jsontree.Amount `json:"feerate,omitempty"`
	Decay  float64          `json:"decay"`
	Scale  int              `json:"scale"`
	Pass   *feeRange        `json:"pass,omitempty"`
	Fail   *feeRange        `json:"fail,omitempty"`
	Errors []string         `json:"errors,omitempty"`
}

type feeRange struct {
	Start     float64 `json:"startrange"`
	End       float64 `json:"endrange"`
	Within    float64 `json:"withintarget"`
	Confirmed float64 `json:"totalconfirmed"`
	Waiting   float64 `json:"inmempool"`
	Left      float64 `json:"leftmempool"`
}

func newRawFee(e *messages.RawFeeEstimate) *rawFee {
	fee := &rawFee{Decay: e.Decay, Scale: e.Scale}
	if e.Rate == 0 {
		fee.Fail = newFeeRange(&e.Fail)
		fee.Errors = []string{"Insufficient data or no feerate found which meets threshold"}
		return fee
	}
	fee.Rate, fee.Pass = new(jsontree.Amount(e.Rate)), newFeeRange(&e.Pass)
	if e.Fail.Start != -1 {
		fee.Fail = newFeeRange(&e.Fail)
	}
	return fee
}

// newFeeRange rounds a range as Core does.
func newFeeRange(r *messages.FeeRange) *feeRange {
	hundredths := func(f float64) float64 { return math.Round(f*100) / 100 }
	return &feeRange{
		Start: math.Round(r.Start), End: math.Round(r.End), Within: hundredths(r.Within),
		Confirmed: hundredths(r.Confirmed), Waiting: hundredths(r.Waiting), Left: hundredths(r.Left),
	}
}

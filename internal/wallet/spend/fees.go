package spend

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/wallet/coinselect"
	"github.com/seed61375155/trawl/messages"
)

// The reasons of fee rates, in Core's words.
const (
	reasonPay       = "PayTxFee set"
	reasonGiven     = "User Specified Fee"
	reasonEstimated = "Fee Rate Estimator"
	reasonFallback  = "Fallback fee"
	reasonPool      = "Mempool Min Fee"
	reasonRequired  = "Minimum Required Fee"
)

// reasonGiven is the reason of a rate that the operator or the caller chose.
func (p *Plan) reasonGiven() string {
	if p.Answers.FeeReasons {
		return reasonPay
	}
	return reasonGiven
}

var errNoEstimate = refusal("Fee estimation failed. Fallbackfee is disabled. Wait a few blocks or enable -fallbackfee.")

// rate returns the fee rate of the transaction.
func (p *Plan) rate() (rate FeeRate, reason string, err error) {
	asked := p.Request.FeeRate
	switch {
	case asked != nil:
		rate, reason = FeeRate(*asked), p.reasonGiven()
		if p.Request.AnyFeeRate {
			return rate, reason, nil
		}
	case p.Request.ConfTarget == 0 && p.Options.Pay != 0:
		rate, reason = p.Options.Pay, p.reasonGiven()
	default:
		rate, reason = p.estimate()
		if rate == 0 {
			return 0, "", errNoEstimate
		}
	}
	if least := p.least(); rate < least {
		rate, reason = least, reasonRequired
	}
	if asked != nil && rate > FeeRate(*asked) {
		return 0, "", p.tooLow(FeeRate(*asked), rate)
	}
	return rate, reason, nil
}

// tooLow refuses a rate that is below the least one.
func (p *Plan) tooLow(asked, least FeeRate) error {
	text := fmt.Sprintf("Fee rate (%s) is lower than the minimum fee rate setting (%s)",
		p.perByte(asked), p.perByte(least))
	if !p.Answers.PlainFeeErrors {
		text += fmt.Sprintf(".\nConsider modifying -mintxfee (%s) or -minrelaytxfee (%s).",
			p.perByte(p.Options.Min), p.perByte(FeeRate(p.Pool.MinRelayFee)))
	}
	return refusal(text)
}

// longestTarget is for how many blocks the rate is estimated at which change is worth keeping.
const longestTarget = 1008

// FeeQueries are the estimates that a plan for a request needs, which [Plan.Pool] has to bring in
// this order.
func FeeQueries(r *messages.Spend, o *Options) []messages.FeeQuery {
	q := messages.FeeQuery{Target: r.ConfTarget, Conservative: !replaceable(r, o)}
	if q.Target == 0 {
		q.Target = o.ConfTarget
	}
	if r.Conservative != nil {
		q.Conservative = *r.Conservative
	}
	return []messages.FeeQuery{q, {Target: longestTarget}}
}

// estimated returns an estimate of the plan; without any it says nothing.
func (p *Plan) estimated(i int) messages.FeeEstimate {
	if i < len(p.Pool.Estimates) {
		return p.Pool.Estimates[i]
	}
	return messages.FeeEstimate{}
}

// estimate returns the rate that is estimated, or the one for want of an estimate.
func (p *Plan) estimate() (rate FeeRate, reason string) {
	e := p.estimated(0)
	rate, reason = FeeRate(e.Rate), e.Reason
	if !p.Answers.FeeReasons {
		reason = reasonEstimated
	}
	if rate == 0 {
		rate, reason = p.Options.Fallback, reasonFallback
		if rate == 0 {
			return 0, reason
		}
	}
	if least := FeeRate(p.Pool.MinFee); rate < least {
		rate, reason = least, reasonPool
	}
	return rate, reason
}

// least returns the rate that wallet and node ask for.
func (p *Plan) least() FeeRate { return max(p.Options.Min, FeeRate(p.Pool.MinRelayFee)) }

// discard returns the rate at which change is not worth keeping.
func (p *Plan) discard() FeeRate {
	rate := p.Options.Discard
	if e := p.estimated(1); e.Rate != 0 {
		rate = min(rate, FeeRate(e.Rate))
	}
	return max(rate, FeeRate(p.Pool.DustFee))
}

// replaceable reports whether the transaction is to say that it can be replaced.
func (p *Plan) replaceable() bool { return replaceable(p.Request, &p.Options) }

func replaceable(r *messages.Spend, o *Options) bool {
	if r.Replaceable != nil {
		return *r.Replaceable
	}
	return !o.Irreplaceable
}

// perByte prints a rate as Core does.
func (p *Plan) perByte(r coinselect.FeeRate) string {
	return fmt.Sprintf("%d.%03d %s/vB", r/1000, r%1000, p.Atom)
}

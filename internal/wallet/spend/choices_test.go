package spend

import "testing"

// Without a choice, options are as in Core, and the least and the fallback rate are the network's. Each choice
// changes its own option alone.
func TestOptions(t *testing.T) {
	defaults := Options{
		Min: 700, Fallback: 300, Discard: 10_000, LongTerm: 10_000, MaxFee: 10_000_000, ConfTarget: 6,
	}
	value := new(int64(-1))
	for name, c := range map[string]struct {
		choices Choices
		change  func(*Options)
	}{
		"nothing":            {Choices{}, func(*Options) {}},
		"fallbackfee":        {Choices{FallbackFee: value}, func(o *Options) { o.Fallback = -1 }},
		"fallbackfee=0":      {Choices{FallbackFee: new(int64)}, func(o *Options) { o.Fallback = 0 }},
		"paytxfee":           {Choices{PayFee: value}, func(o *Options) { o.Pay = -1 }},
		"mintxfee":           {Choices{MinFee: value}, func(o *Options) { o.Min = -1 }},
		"discardfee":         {Choices{DiscardFee: value}, func(o *Options) { o.Discard = -1 }},
		"consolidatefeerate": {Choices{ConsolidateFee: value}, func(o *Options) { o.LongTerm = -1 }},
		"maxtxfee":           {Choices{MaxFee: value}, func(o *Options) { o.MaxFee = -1 }},
		"maxapsfee":          {Choices{MaxGroupFee: value}, func(o *Options) { o.MaxGroupFee = -1 }},
		"txconfirmtarget":    {Choices{ConfTarget: 9}, func(o *Options) { o.ConfTarget = 9 }},
		"walletrbf":          {Choices{NotReplaceable: true}, func(o *Options) { o.Irreplaceable = true }},
		"avoidpartialspends": {Choices{AvoidPartialSpends: true}, func(o *Options) { o.AvoidPartial = true }},
		"spendzeroconf":      {Choices{NoUnconfirmed: true}, func(o *Options) { o.OnlyOld = true }},
		"rejectlongchains":   {Choices{AnyChain: true}, func(o *Options) { o.AnyChain = true }},
		"threads":            {Choices{SignThreads: 3}, func(o *Options) { o.SignThreads = 3 }},
		"settxfee is served": {Choices{SetTxFee: true}, func(*Options) {}},
	} {
		want := defaults
		c.change(&want)
		if got := c.choices.Options(700, 300); *got != want {
			t.Errorf("%s: got %+v, want %+v", name, *got, want)
		}
	}
}

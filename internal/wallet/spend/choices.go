package spend

import "cmp"

// Choices are what an operator has chosen. Fee rates are for 1000 virtual bytes; nil stands for
// Bitcoin Core's default.
type Choices struct {
	FallbackFee        *int64 // where a fee cannot be estimated, default 0 or the network's; 0: that is an error
	PayFee             *int64 // instead of an estimate; default 0: none
	MinFee             *int64 // the least that is paid, default 1000, or the network's
	DiscardFee         *int64 // at which change is not worth keeping, default 10000
	ConsolidateFee     *int64 // below which more coins than needed may be spent, default 10000
	MaxFee             *int64 // of one transaction, default 10000000
	MaxGroupFee        *int64 // what spending all coins of an address together may cost more, default 0; -1: do not try
	ConfTarget         int    // blocks to be confirmed within, default 6
	NotReplaceable     bool   // do not signal BIP125
	AvoidPartialSpends bool   // always spend all coins of an address together
	NoUnconfirmed      bool   // do not spend unconfirmed change
	SetTxFee           bool   // the deprecated method settxfee is served
	AnyChain           bool   // try what the memory pool's limits on chains refuse
	SignThreads        int    // inputs that are signed at once at most; 0: as many as there are cores
}

// Options returns the options of wallets of a network, where least is the least fee rate that they pay, and fallback
// what they pay without an estimate, unless an operator says otherwise.
func (s *Choices) Options(least, fallback int64) *Options {
	o := DefaultOptions()
	o.Min, o.Fallback = FeeRate(least), FeeRate(fallback)
	for _, choice := range []struct {
		given *int64
		to    *FeeRate
	}{
		{s.FallbackFee, &o.Fallback},
		{s.PayFee, &o.Pay},
		{s.MinFee, &o.Min},
		{s.DiscardFee, &o.Discard},
		{s.ConsolidateFee, &o.LongTerm},
	} {
		if choice.given != nil {
			*choice.to = FeeRate(*choice.given)
		}
	}
	if s.MaxFee != nil {
		o.MaxFee = *s.MaxFee
	}
	if s.MaxGroupFee != nil {
		o.MaxGroupFee = *s.MaxGroupFee
	}
	o.ConfTarget = cmp.Or(s.ConfTarget, o.ConfTarget)
	o.Irreplaceable, o.AvoidPartial = s.NotReplaceable, s.AvoidPartialSpends
	o.OnlyOld, o.AnyChain, o.SignThreads = s.NoUnconfirmed, s.AnyChain, s.SignThreads
	return &o
}

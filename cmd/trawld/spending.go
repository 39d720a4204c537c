package main

import (
	"slices"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

// readSpending reads the options about how wallets pay.
func readSpending(o *options.Settings, c *trawl.WalletConfig) (err error) {
	s := &c.Spending
	s.ConfTarget, s.NotReplaceable = int(o.Int("txconfirmtarget", 0)), !o.Bool("walletrbf", true)
	s.AvoidPartialSpends = o.Bool("avoidpartialspends", false)
	s.NoUnconfirmed = !o.Bool("spendzeroconfchange", true)
	s.SetTxFee = slices.Contains(o.Strings("deprecatedrpc"), "settxfee")
	s.AnyChain = !o.Bool("walletrejectlongchains", true)
	if s.FallbackFee, err = feeOption(o, "fallbackfee"); err != nil {
		return err
	}
	if s.PayFee, err = feeOption(o, "paytxfee"); err != nil {
		return err
	}
	if s.MinFee, err = feeOption(o, "mintxfee"); err != nil {
		return err
	}
	if s.DiscardFee, err = feeOption(o, "discardfee"); err != nil {
		return err
	}
	if s.ConsolidateFee, err = feeOption(o, "consolidatefeerate"); err != nil {
		return err
	}
	if s.MaxFee, err = feeOption(o, "maxtxfee"); err != nil {
		return err
	}
	if o.String("maxapsfee", "") == "-1" {
		s.MaxGroupFee = new(int64(-1))
		return nil
	}
	s.MaxGroupFee, err = feeOption(o, "maxapsfee")
	return err
}

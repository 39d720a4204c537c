package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/btcsuite/btcd/btcutil"

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
	s.SignThreads = signThreads(o)
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

// signThreads returns how many inputs are signed at once; 0: as many as there are cores.
func signThreads(o *options.Settings) int {
	n := o.Int("walletpqcsignthreads", 0)
	if n < 0 || !o.Bool("walletpqcparallel", true) {
		return 1
	}
	return int(min(n, math.MaxInt16))
}

// Fees above these are warned of: for 1000 virtual bytes, of a transaction, and what more is paid for
// transactions that spend whole addresses.
const (
	highFeeRate  = 1_000_000
	highFee      = 100 * highFeeRate
	highGroupFee = highFeeRate / 100
)

// spendingWarnings are what Core says, when it loads a wallet, of options that are odd but not wrong.
func spendingWarnings(o *options.Settings) []string {
	if !options.LoadsWallets(o) {
		return nil
	}
	var words []string
	warn := func(name string, most int64, what string) {
		if fee, ok := parseMoney(o.String(name, "")); o.IsSet(name) && ok && fee > most {
			words = append(words, "-"+name+" is set very high! "+what)
		}
	}
	warn("mintxfee", highFeeRate, "This is the minimum transaction fee you pay on every transaction.")
	warn("maxapsfee", highGroupFee, "This is the maximum transaction fee you pay (in addition to the normal fee) to "+
		"prioritize partial spend avoidance over regular coin selection.")
	warn("fallbackfee", highFeeRate, "This is the transaction fee you may pay when fee estimates are not available.")
	warn("discardfee", highFeeRate, "This is the transaction fee you may discard if change is smaller than dust at "+
		"this level")
	if o.IsSet("paytxfee") {
		words = append(words, "-paytxfee is deprecated and will be fully removed in v31.0.")
	}
	warn("paytxfee", highFeeRate, "This is the transaction fee you will pay if you send a transaction.")
	warn("maxtxfee", highFee, "Fees this large could be paid on a single transaction.")
	warn("minrelaytxfee", highFeeRate, "The wallet will avoid paying less than the minimum relay fee.")
	if laterCore(o) && o.IsSet("walletrbf") {
		words = append(words, "-walletrbf is deprecated and will be fully removed in the next release.")
	}
	return words
}

// checkRelayed refuses fees of wallets with which nobody would relay their transactions.
func checkRelayed(o *options.Settings, c *trawl.WalletConfig, pool *trawl.MempoolConfig) error {
	if c == nil || !options.LoadsWallets(o) {
		return nil
	}
	money := options.MoneyOf(o.Dialect())
	least := money.RelayFee
	if pool.MinRelayFee != nil {
		least = *pool.MinRelayFee
	}
	rate := fmt.Sprintf("%d.%08d %s/kvB", least/btcutil.SatoshiPerBitcoin, least%btcutil.SatoshiPerBitcoin, money.Unit)
	if fee := c.Spending.PayFee; fee != nil && *fee < least {
		return refuse("Invalid amount for -paytxfee=<amount>: '%s' (must be at least %s)",
			o.String("paytxfee", ""), rate)
	}
	if fee := c.Spending.MaxFee; fee != nil && *fee < least {
		return refuse("Invalid amount for -maxtxfee=<amount>: '%s' "+
			"(must be at least the minrelay fee of %s to prevent stuck transactions)", o.String("maxtxfee", ""), rate)
	}
	return nil
}

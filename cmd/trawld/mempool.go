package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

const (
	kilobyte = 1_000
	megabyte = 1_000_000

	// mempoolPerDescendants is how many times the largest set of descendants the
	// pool must be able to hold.
	mempoolPerDescendants = 40
)

// mempoolConfig reads the options that concern the pool of transactions.
func mempoolConfig(o *options.Settings) (trawl.MempoolConfig, error) {
	defaults := options.PoolOf(o.Dialect())
	size := int64(300)
	if o.Bool("blocksonly", false) {
		size = defaults.BlocksOnly
	}
	c := trawl.MempoolConfig{
		MaxBytes: o.Int("maxmempool", size) * megabyte, Expiry: time.Duration(o.Int("mempoolexpiry", 336)) * time.Hour,
		AcceptNonStandard: o.Bool("acceptnonstdtxn", false), NoBareMultisig: !o.Bool("permitbaremultisig", true),
		BytesPerSigOp: int(o.Int("bytespersigop", 20)),
		Ancestors:     int(o.Int("limitancestorcount", 25)), Descendants: int(o.Int("limitdescendantcount", 25)),
		AncestorVSize:   o.Int("limitancestorsize", defaults.ChainSize) * kilobyte,
		DescendantVSize: o.Int("limitdescendantsize", defaults.ChainSize) * kilobyte,
		NoPersist:       !o.Bool("persistmempool", true), OldFile: o.Bool("persistmempoolv1", false),
	}
	carrier := 0
	if o.Bool("datacarrier", true) {
		carrier = int(uint32(o.Int("datacarriersize", defaults.DataCarrier))) // a negative one is no limit, as in Core
	}
	c.DataCarrier = &carrier
	if c.AcceptNonStandard && o.Chain() == options.Main {
		return c, refuse("acceptnonstdtxn is not currently supported for %s chain", o.Chain())
	}
	for _, fee := range []struct {
		option string
		to     **int64
	}{
		{"incrementalrelayfee", &c.IncrementalFee}, {"minrelaytxfee", &c.MinRelayFee}, {"dustrelayfee", &c.DustFee},
	} {
		var err error
		if *fee.to, err = feeOption(o, fee.option); err != nil {
			return c, err
		}
	}
	if c.MinRelayFee == nil && c.IncrementalFee != nil && *c.IncrementalFee > options.MoneyOf(o.Dialect()).RelayFee {
		c.MinRelayFee = c.IncrementalFee // a replacement must pay for its relay
	}
	if least := c.DescendantVSize * mempoolPerDescendants; c.MaxBytes < 0 || c.MaxBytes < least {
		return c, refuse("-maxmempool must be at least %d MB", (least+megabyte-1)/megabyte)
	}
	return c, nil
}

// staleFeeEstimates reads -acceptstalefeeestimates.
func staleFeeEstimates(o *options.Settings) (bool, error) {
	stale := o.Bool("acceptstalefeeestimates", false)
	if stale && o.Chain() != options.Regtest && !o.Bool("blocksonly", false) {
		return false, refuse("acceptstalefeeestimates is not supported on %s chain.", o.Chain())
	}
	return stale, nil
}

// feeOption reads a fee rate in coins for 1000 virtual bytes, nil where there is
// none.
func feeOption(o *options.Settings, name string) (*int64, error) {
	if !o.IsSet(name) {
		return nil, nil
	}
	text := o.String(name, "")
	fee, ok := parseMoney(text)
	if !ok {
		return nil, refuse("Invalid amount for -%s=<amount>: '%s'", name, text)
	}
	return &fee, nil
}

var moneyForm = regexp.MustCompile(`^([0-9]{0,10})(?:\.([0-9]{0,8}))?$`)

// parseMoney reads an amount of coins as Core's options have it: digits, and up
// to eight after a point. No more than 21 million.
func parseMoney(text string) (int64, bool) {
	parts := moneyForm.FindStringSubmatch(strings.Trim(text, " \f\n\r\t\v"))
	if parts == nil || parts[0] == "" {
		return 0, false
	}
	n, err := strconv.ParseInt("0"+parts[1]+parts[2]+strings.Repeat("0", 8-len(parts[2])), 10, 64)
	return n, err == nil && n <= 21_000_000*100_000_000
}

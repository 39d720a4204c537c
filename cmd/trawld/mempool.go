package main

import (
	"fmt"
	"math"
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

	// mempoolPerSet is how many times the largest set of descendants, or the largest cluster, the
	// pool must be able to hold.
	mempoolPerSet = 40

	maxCluster = 64 // transactions
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
	var err error
	for _, fee := range []struct {
		option string
		to     **int64
	}{
		{"incrementalrelayfee", &c.IncrementalFee}, {"minrelaytxfee", &c.MinRelayFee}, {"dustrelayfee", &c.DustFee},
	} {
		if *fee.to, err = feeOption(o, fee.option); err != nil {
			return c, err
		}
	}
	if c.MinRelayFee == nil && c.IncrementalFee != nil && *c.IncrementalFee > options.MoneyOf(o.Dialect()).RelayFee {
		c.MinRelayFee = c.IncrementalFee // a replacement must pay for its relay
	}
	largest := c.DescendantVSize
	if laterCore(o) {
		if largest, err = clusterLimits(o, &c); err != nil {
			return c, err
		}
	}
	if c.MaxBytes == 0 && laterCore(o) {
		c.MaxBytes = -1 // Core 32 takes it for a pool that keeps nothing
		return c, nil
	}
	if least := largest * mempoolPerSet; c.MaxBytes < 0 || c.MaxBytes < least {
		return c, refuse("-maxmempool must be at least %d MB", (least+megabyte-1)/megabyte)
	}
	return c, nil
}

// clusterLimits reads the limits of clusters, and returns the limit of their virtual size.
func clusterLimits(o *options.Settings, c *trawl.MempoolConfig) (vsize int64, err error) {
	if o.IsSet("limitclustercount") {
		count := uint32(o.Int("limitclustercount", 0)) // the upper half is dropped, as in Core
		if count > maxCluster {
			return 0, refuse("limitclustercount must be less than or equal to %d", maxCluster)
		}
		c.Cluster = new(int64(count))
	}
	vsize = o.Int("limitclustersize", 101) * kilobyte
	c.ClusterVSize = &vsize
	return vsize, nil
}

// replacedLimits are Core's warnings of limits that the limits of clusters have replaced.
func replacedLimits(o *options.Settings) (lines []string) {
	for _, of := range []string{"ancestor", "descendant"} {
		if option := "limit" + of + "size"; o.IsSet(option) {
			lines = append(lines, fmt.Sprintf("Option '-%s' is given but %s size limits have been replaced with "+
				"cluster size limits (see -limitclustersize). This option has no effect.", option, of))
		}
	}
	return lines
}

// checkFetchThreads refuses -prevoutfetchthreads below 0; otherwise it has no effect.
func checkFetchThreads(o *options.Settings) error {
	if n := max(o.Int("prevoutfetchthreads", 0), math.MinInt32); n < 0 {
		return refuse("-prevoutfetchthreads must be non-negative (got %d). "+
			"Use 0 to disable parallel input fetching.", n)
	}
	return nil
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

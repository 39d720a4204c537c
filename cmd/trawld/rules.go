package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

// regtestConfig reads the options that change the rules of a regtest; on other
// chains they are passed over, as Core does.
func regtestConfig(o *options.Settings) (trawl.RegtestConfig, error) {
	if o.Chain() != options.Regtest {
		if len(o.Strings("test")) > 0 {
			return trawl.RegtestConfig{}, refuse("-test=<option> can only be used with regtest")
		}
		return trawl.RegtestConfig{}, nil
	}
	core, err := reference(o)
	if err != nil {
		return trawl.RegtestConfig{}, err
	}
	c := trawl.RegtestConfig{
		Activation:  make(map[string]int32),
		VersionBits: make(map[string]trawl.VersionBitsRules),
		BIP94:       slices.Contains(o.Strings("test"), "bip94"),
		AnyOutput:   !o.Bool("p2mronly", true), ASERT: o.Bool("asert", false),
		Periodic: o.Bool("legacyretarget", false),
	}
	if c.ASERT && c.Periodic && o.Dialect() == dialectQbit {
		return c, refuse("-asert and -legacyretarget cannot both be enabled.")
	}
	for _, text := range o.Strings("testactivationheight") {
		if err := readActivation(c.Activation, o.Dialect(), text); err != nil {
			return c, err
		}
	}
	for _, text := range o.Strings("vbparams") {
		if err := readVersionBits(c.VersionBits, core, text); err != nil {
			return c, err
		}
	}
	return c, nil
}

// readActivation reads a value of -testactivationheight.
func readActivation(to map[string]int32, dialect, text string) error {
	name, digits, ok := strings.Cut(text, "@")
	if !ok {
		return refuse("Invalid format (%s) for -testactivationheight=name@height.", text)
	}
	height, ok := wholeInt(digits, 32)
	if !ok || height < 0 || height == math.MaxInt32 {
		return refuse("Invalid height value (%s) for -testactivationheight=name@height.", text)
	}
	if !trawl.HasActivation(dialect, name) {
		return refuse("Invalid name (%s) for -testactivationheight=name@height.", text)
	}
	to[name] = int32(height)
	return nil
}

// readVersionBits reads a value of -vbparams.
func readVersionBits(to map[string]trawl.VersionBitsRules, core int, text string) error {
	parts := strings.Split(text, ":")
	if len(parts) < 3 || len(parts) > 4 {
		return refuse("Version bits parameters malformed, expecting deployment:start:end[:min_activation_height]")
	}
	numbers := make([]int64, 3) // the last one is optional
	for i, name := range []string{"nStartTime", "nTimeout", "min_activation_height"}[:len(parts)-1] {
		var ok bool
		if numbers[i], ok = wholeInt(parts[i+1], 64); !ok {
			return refuse("Invalid %s (%s)", name, parts[i+1])
		}
	}
	if !trawl.HasVersionBits(parts[0], core) {
		return refuse("Invalid deployment (%s)", parts[0])
	}
	to[parts[0]] = trawl.VersionBitsRules{
		Start: numbers[0], Timeout: numbers[1],
		MinActivationHeight: int32(numbers[2]), // Core drops the upper half too
	}
	return nil
}

// wholeInt reads a text that is a decimal number and nothing else, without a plus.
func wholeInt(text string, bits int) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, bits)
	return n, err == nil && text[0] != '+'
}

// maxTipAge reads -maxtipage, 0 where it is not set.
func maxTipAge(o *options.Settings) time.Duration {
	const most = math.MaxInt64 / int64(time.Second)
	age := time.Duration(min(o.Int("maxtipage", 0), most)) * time.Second
	if age == 0 && o.IsSet("maxtipage") {
		return time.Nanosecond // and not the default
	}
	return age
}

// dialectQbit is the dialect whose regtest has more rules to choose.
const dialectQbit = "qbit"

// withoutEffect returns the options given that another dialect or chain knows.
func withoutEffect(o *options.Settings) []string {
	unused := o.UnusedGiven()
	regtest := o.Chain() == options.Regtest
	p2mr := o.Dialect() == dialectQbit
	qbit := regtest && p2mr
	for _, option := range []struct {
		name  string
		works bool
	}{
		{"asert", qbit},
		{"auxpowtemplatecachelimit", p2mr},
		{"auxpowtemplateexpiry", p2mr},
		{"connectarchive", p2mr},
		{"legacyretarget", qbit},
		{"limitclustercount", laterCore(o)},
		{"limitclustersize", laterCore(o)},
		{"p2mronly", qbit},
		{"prevoutfetchthreads", false},
		{"prunewitnesses", p2mr},
		{"testactivationheight", regtest},
		{"vbparams", regtest},
		{"walletpqcparallel", p2mr},
		{"walletpqcsignthreads", p2mr},
	} {
		if o.IsSet(option.name) && !option.works {
			unused = append(unused, option.name)
		}
	}
	return unused
}

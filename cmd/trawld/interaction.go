package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/options"
)

// softly are values that some options take for the sake of others, as Core's
// InitParameterInteraction has them: where the operator has said nothing, the first reason counts.
type softly struct {
	o      *options.Settings
	values map[string]bool
	lines  []string // for the log
}

func (s *softly) set(option string, value bool, reason string) {
	if _, has := s.values[option]; has || s.o.IsSet(option) {
		return
	}
	s.values[option] = value
	digit := 0
	if value {
		digit = 1
	}
	s.lines = append(s.lines, fmt.Sprintf("parameter interaction: %s -> setting -%s=%d", reason, option, digit))
}

// Bool is options.Settings.Bool with these values.
func (s *softly) Bool(option string, byDefault bool) bool {
	if value, has := s.values[option]; has {
		return value
	}
	return s.o.Bool(option, byDefault)
}

// interactions settles the options about peers that depend on each other.
func interactions(o *options.Settings) *softly {
	s := &softly{o: o, values: map[string]bool{}}
	for _, option := range []string{"bind", "whitebind"} {
		if len(o.Strings(option)) > 0 {
			s.set("listen", true, "-"+option+" set")
		}
	}
	if isChosen(o) || o.Int("maxconnections", defaultMaxPeers(o)) <= 0 {
		s.set("dnsseed", false, "-connect or -maxconnections=0 set")
		s.set("listen", false, "-connect or -maxconnections=0 set")
	}
	if text := o.String("proxy", ""); text != "" && text != "0" {
		s.set("listen", false, "-proxy set")
		s.set("discover", false, "-proxy set")
	}
	if !s.Bool("listen", true) {
		s.set("discover", false, "-listen=0")
		s.set("listenonion", false, "-listen=0")
		s.set("i2pacceptincoming", false, "-listen=0")
	}
	if len(o.Strings("externalip")) > 0 {
		s.set("discover", false, "-externalip set")
	}
	if o.Bool("blocksonly", false) {
		s.set("whitelistrelay", false, "-blocksonly=1")
		if !o.IsSet("maxmempool") {
			s.lines = append(s.lines, fmt.Sprintf("parameter interaction: -blocksonly=1 -> setting -maxmempool=%d",
				options.PoolOf(o.Dialect()).BlocksOnly))
		}
	}
	if o.Bool("whitelistforcerelay", false) {
		s.set("whitelistrelay", true, "-whitelistforcerelay=1")
	}
	if only := o.Strings("onlynet"); len(only) > 0 && !reachesClearnet(only) {
		s.set("dnsseed", false, "-onlynet excludes IPv4 and IPv6")
	}
	return s
}

// reachesClearnet reports whether one of the networks is that of IPv4 or IPv6.
func reachesClearnet(networks []string) bool {
	return slices.ContainsFunc(networks, func(name string) bool {
		return strings.EqualFold(name, "ipv4") || strings.EqualFold(name, "ipv6")
	})
}

// isChosen reports whether the operator names the nodes to connect to, or none.
func isChosen(o *options.Settings) bool {
	return len(o.Strings("connect")) > 0 || o.IsNegated("connect")
}

// ignored are lines about options that count for nothing beside -connect.
func ignored(o *options.Settings) []string {
	var lines []string
	connect := o.Strings("connect")
	if len(connect) > 0 && !slices.Equal(connect, []string{"0"}) && len(o.Strings("seednode")) > 0 {
		lines = append(lines, "-seednode is ignored when -connect is used")
	}
	if isChosen(o) && o.Bool("dnsseed", false) && o.IsSet("proxy") {
		lines = append(lines, "-dnsseed is ignored when -connect is used and -proxy is specified")
	}
	return lines
}

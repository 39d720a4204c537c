package main

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

func TestInteractions(t *testing.T) {
	const prefix = "parameter interaction: "
	const alone = "-listen=0 -> setting -listenonion=0|-listen=0 -> setting -i2pacceptincoming=0"
	for _, test := range []struct {
		args, want string
		listens    bool
	}{
		{"", "", true},
		{
			"-bind=1.2.3.4 -connect=x", "-bind set -> setting -listen=1|" +
				"-connect or -maxconnections=0 set -> setting -dnsseed=0", true,
		},
		{
			"-connect=0", "-connect or -maxconnections=0 set -> setting -dnsseed=0|" +
				"-connect or -maxconnections=0 set -> setting -listen=0|-listen=0 -> setting -discover=0|" + alone, false,
		},
		{"-maxconnections=0 -listen -dnsseed", "", true},
		{"-noconnect -listen=0 -dnsseed=0 -discover", alone, false},
		{"-proxy=x", "-proxy set -> setting -listen=0|-proxy set -> setting -discover=0|" + alone, false},
		{"-proxy=0 -externalip=1.2.3.4", "-externalip set -> setting -discover=0", true},
		{
			"-blocksonly -whitelistforcerelay",
			"-blocksonly=1 -> setting -whitelistrelay=0|-blocksonly=1 -> setting -maxmempool=5", true,
		},
		{"-blocksonly -maxmempool=9", "-blocksonly=1 -> setting -whitelistrelay=0", true},
		{"-whitelistforcerelay", "-whitelistforcerelay=1 -> setting -whitelistrelay=1", true},
		{"-onlynet=onion", "-onlynet excludes IPv4 and IPv6 -> setting -dnsseed=0", true},
		{"-onlynet=onion -onlynet=ipv6", "", true},
	} {
		o := options.New(table.Daemon(), "")
		if err := o.ParseArgs(strings.Fields(test.args)); err != nil {
			t.Fatal(err)
		}
		s := interactions(o)
		if got := strings.ReplaceAll(strings.Join(s.lines, "|"), prefix, ""); got != test.want {
			t.Errorf("%s: %s", test.args, got)
		}
		if got := s.Bool("listen", true); got != test.listens {
			t.Errorf("%s: listens: %v", test.args, got)
		}
	}
}

func TestIgnored(t *testing.T) {
	const seeds = "-seednode is ignored when -connect is used"
	const names = "-dnsseed is ignored when -connect is used and -proxy is specified"
	for args, want := range map[string]string{
		"-seednode=x":                                "",
		"-connect=0 -seednode=x":                     "",
		"-noconnect -seednode=x":                     "",
		"-connect=y -seednode=x":                     seeds,
		"-connect=y -dnsseed":                        "",
		"-connect=y -proxy=z":                        "",
		"-proxy=z -dnsseed":                          "",
		"-noconnect -proxy=z -dnsseed":               names,
		"-connect=y -proxy=z -dnsseed=1 -seednode=x": seeds + "|" + names,
	} {
		o := options.New(table.Daemon(), "")
		if err := o.ParseArgs(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(ignored(o), "|"); got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
}

// -signetseednode is for signets alone.
func TestSignetSeeds(t *testing.T) {
	for chain, want := range map[string]string{"-signet": "a.example|b.example", "-regtest": "", "-testnet4": ""} {
		o := options.New(table.Daemon(), "")
		if err := o.ParseArgs([]string{chain, "-signetseednode=a.example", "-signetseednode=b.example"}); err != nil {
			t.Fatal(err)
		}
		if _, err := o.SelectChain(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(signetSeeds(o), "|"); got != want {
			t.Errorf("%s: got %s, want %s", chain, got, want)
		}
	}
}

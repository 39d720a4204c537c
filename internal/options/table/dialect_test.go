package table_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

// The help texts of options name the defaults of the dialect, and those of Bitcoin without one.
func TestHelpOfDialects(t *testing.T) {
	for arg, words := range map[string][2][]string{
		"-help-debug": {
			{"(default: 101)", "bitcoind.pid", "0.00003)", "(default: 100000)", "regtest: 18443)"},
			{"(default: 404)", "qbitd.pid", "p2mr (default", "-addresstype="},
		},
		"-dialect=qbit": {
			{
				"-addresstype=<type>", "-changetype=<type>", "-walletpqcparallel=<0|1>",
				"(default: 404)", "qbitd.pid", "0.0000075)", "(default: 200000)", "regtest: 18452)", "qbit.conf",
				"p2mr (default: p2mr, with -p2mronly=0 bech32)", "(default: 2000000)", "(default: 4000)",
			},
			{"(default: 101)", "bitcoind.pid", "0.00003)", "(default: 100000)", "18443", "bitcoin.conf", ":8332"},
		},
	} {
		s := options.New(table.Daemon(), t.TempDir())
		if err := s.ParseArgs([]string{arg, "-help-debug"}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(s.Help()), " ")
		for _, word := range words[0] {
			if !strings.Contains(text, word) {
				t.Errorf("%s: no %q", arg, word)
			}
		}
		for _, word := range words[1] {
			if strings.Contains(text, word) {
				t.Errorf("%s: %q", arg, word)
			}
		}
	}
}

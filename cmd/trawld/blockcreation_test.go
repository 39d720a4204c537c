package main

import (
	"context"
	"strings"
	"testing"

	"github.com/seed61375155/trawl"
)

// The words about blocks that cannot be are Core's.
func TestBlockCreationIsRefused(t *testing.T) {
	for _, test := range []struct{ options, want string }{
		{
			"-core=30 -blockmaxweight=4000001",
			"Specified -blockmaxweight (4000001) exceeds consensus maximum block weight (4000000)",
		},
		{
			"-core=30 -blockreservedweight=4000001",
			"Specified -blockreservedweight (4000001) exceeds consensus maximum block weight (4000000)",
		},
		{
			"-core=30 -blockreservedweight=1999",
			"Specified -blockreservedweight (1999) is lower than minimum safety value of (2000)",
		},
		{
			"-core=30 -blockreservedweight=-1",
			"Specified -blockreservedweight (-1) is lower than minimum safety value of (2000)",
		},
		{"-blockmintxfee=x", "Invalid amount for -blockmintxfee=<amount>: 'x'"},
		{
			"-core=32 -blockmaxweight=4000001",
			"-blockmaxweight (4000001) exceeds consensus maximum block weight (4000000)",
		},
		{"-core=32 -blockreservedweight=4000001 -blockmaxweight=4000002",
			"-blockreservedweight (4000001) exceeds consensus maximum block weight (4000000)"},
		{
			"-core=32 -blockreservedweight=1999",
			"-blockreservedweight (1999) is lower than minimum safety value of (2000)",
		},
		{"-core=32 -blockreservedweight=-1", "-blockreservedweight (0) is lower than minimum safety value of (2000)"},
		{"-core=32 -blockmaxweight=7999", "-blockreservedweight (8000) exceeds -blockmaxweight (7999)"},
		{
			"-core=32 -blockmaxweight=-7 -blockreservedweight=2000",
			"-blockreservedweight (2000) exceeds -blockmaxweight (0)",
		},
	} {
		status, stderr, _ := startWith(t, startNode, append(strings.Fields(test.options), "-server=0", "-listen=0")...)
		if status != 1 || stderr != "Error: "+test.want+"\n" {
			t.Errorf("%s: status %d, %q", test.options, status, stderr)
		}
	}
}

func TestBlockCreationIsRead(t *testing.T) {
	var got trawl.BlockCreationConfig
	read := func(_ context.Context, s *session) (err error) {
		got, err = blockCreationConfig(s.settings)
		return err
	}
	options := []string{
		"-blockmaxweight=-5", "-blockreservedweight=3000", "-blockmintxfee=0.00000002", "-blockversion=1", "-printpriority",
		"-auxpowtemplateexpiry=2", "-auxpowtemplatecachelimit=3",
	}
	if status, stderr, _ := startWith(t, read, options...); status != 0 {
		t.Fatal(stderr)
	}
	if *got.MaxWeight != -5 || *got.ReservedWeight != 3000 || *got.MinTxFee != 2 || *got.Version != 1 ||
		!got.PrintPriority || *got.AuxExpiry != 2 || *got.AuxLimit != 3 {
		t.Errorf("got %+v", got)
	}
	if status, stderr, _ := startWith(t, read); status != 0 || got != (trawl.BlockCreationConfig{}) {
		t.Errorf("without options: %+v, %s", got, stderr)
	}
}

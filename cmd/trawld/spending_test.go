package main

import (
	"context"
	"strings"
	"testing"
)

// Fees that are high are told of, and fees that nobody relays refused, where a wallet is loaded, in Core's words.
func TestFeeOptions(t *testing.T) {
	for _, test := range []struct {
		args    []string
		stderr  string
		refused bool
	}{
		{[]string{"-fallbackfee=0.01", "-maxtxfee=1", "-maxapsfee=0.0001", "-mintxfee=0.01", "-discardfee=0.01"}, "", false},
		{[]string{"-fallbackfee=0.2"}, "Warning: -fallbackfee is set very high! This is the transaction fee you may pay when fee " +
			"estimates are not available.", false},
		{[]string{"-discardfee=0.2"}, "Warning: -discardfee is set very high! This is the transaction fee you may discard if " +
			"change is smaller than dust at this level", false},
		{[]string{"-mintxfee=2"}, "Warning: -mintxfee is set very high! This is the minimum transaction fee you pay on every " +
			"transaction.", false},
		{[]string{"-maxtxfee=1", "-maxapsfee=1"}, "Warning: -maxapsfee is set very high! This is the maximum transaction fee you " +
			"pay (in addition to the normal fee) to prioritize partial spend avoidance over regular coin selection.", false},
		{[]string{"-maxtxfee=2"}, "Warning: -maxtxfee is set very high! Fees this large could be paid on a single transaction.", false},
		{[]string{"-core=30", "-paytxfee=2"}, "Warning: -paytxfee is deprecated and will be fully removed in v31.0.\n" +
			"-paytxfee is set very high! This is the transaction fee you will pay if you send a transaction.", false},
		{[]string{"-core=30", "-paytxfee=0.00000050"}, "Warning: -paytxfee is deprecated and will be fully removed in v31.0.\n" +
			"Error: Invalid amount for -paytxfee=<amount>: '0.00000050' (must be at least 0.00000100 BTC/kvB)", true},
		{[]string{"-maxtxfee=0"}, "Error: Invalid amount for -maxtxfee=<amount>: '0' (must be at least the minrelay fee of " +
			"0.00000100 BTC/kvB to prevent stuck transactions)", true},
		{[]string{"-maxtxfee=0.00000500", "-minrelaytxfee=0.00001"}, "Error: Invalid amount for -maxtxfee=<amount>: '0.00000500' " +
			"(must be at least the minrelay fee of 0.00001000 BTC/kvB to prevent stuck transactions)", true},
		{[]string{"-dialect=qbit", "-paytxfee=0.00000249"}, "Warning: -paytxfee is deprecated and will be fully removed in " +
			"v31.0.\nError: Invalid amount for -paytxfee=<amount>: '0.00000249' (must be at least 0.00000250 QBT/kvB)", true},
		{[]string{"-core=30", "-walletrbf"}, "", false},
		{
			[]string{"-core=32", "-walletrbf=0"},
			"Warning: -walletrbf is deprecated and will be fully removed in the next release.", false,
		},
		{[]string{"-dialect=qbit", "-maxtxfee=0.00000250", "-incrementalrelayfee=0.00000250"}, "", false},
		{[]string{"-dialect=qbit", "-maxtxfee=0.00000250", "-incrementalrelayfee=0.00000251"}, "Error: Invalid amount for " +
			"-maxtxfee=<amount>: '0.00000250' (must be at least the minrelay fee of 0.00000251 QBT/kvB to prevent stuck " +
			"transactions)", true},
	} {
		for _, loads := range []bool{true, false} {
			args := append([]string{"-datadir=" + t.TempDir(), "-regtest"}, test.args...)
			if loads {
				args = append(args, "-wallet=w")
			}
			var errs, out strings.Builder
			status := run(args, streams{&out, &errs, t.TempDir()}, func(_ context.Context, s *session) error {
				_, err := nodeConfig(s, fileBudget{})
				return err
			})
			want, refused := test.stderr, test.refused
			if !loads {
				want, refused = "", false
			}
			if got := strings.TrimSpace(errs.String()); got != want || (status != 0) != refused {
				t.Errorf("%q with a wallet %v: status %d, %q, want %q", test.args, loads, status, got, want)
			}
		}
	}
}

// How many inputs wallets sign at once.
func TestSignThreads(t *testing.T) {
	for args, want := range map[string]int{
		"": 0, "-walletpqcsignthreads=0": 0, "-walletpqcsignthreads=3": 3, "-walletpqcsignthreads=-2": 1,
		"-walletpqcparallel=0": 1, "-walletpqcparallel=0 -walletpqcsignthreads=3": 1,
		"-walletpqcsignthreads=99999999999": 1<<15 - 1,
	} {
		var errs, out strings.Builder
		got := -1
		status := run(
			append([]string{"-datadir=" + t.TempDir(), "-regtest", "-dialect=qbit"}, strings.Fields(args)...),
			streams{&out, &errs, t.TempDir()}, func(_ context.Context, s *session) error {
				c, err := nodeConfig(s, fileBudget{})
				if err == nil {
					got = c.Wallets.Spending.SignThreads
				}
				return err
			},
		)
		if status != 0 || got != want || errs.Len() > 0 {
			t.Errorf("%s: status %d, %d, want %d: %s", args, status, got, want, errs.String())
		}
	}
}

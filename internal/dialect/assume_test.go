package dialect_test

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/dialect"
)

// The values of the operator take the place of the network's, and the error names a wrong value.
func TestAssume(t *testing.T) {
	t.Parallel()
	net, err := dialect.Bitcoin("main")
	if err != nil {
		t.Fatal(err)
	}
	work, valid := net.MinimumChainWork, net.AssumeValid
	if err := net.Assume("", ""); err != nil || net.MinimumChainWork != work || net.AssumeValid != valid {
		t.Errorf("nothing was chosen: %v, %v, %v", err, net.MinimumChainWork, net.AssumeValid)
	}
	err = net.Assume("1f", "0")
	if err != nil || net.MinimumChainWork != "1f" || net.AssumeValid != (chainhash.Hash{}) {
		t.Errorf("got %v, %v, %v", err, net.MinimumChainWork, net.AssumeValid)
	}
	for _, test := range []struct{ work, valid, want string }{
		{"x", "", `MinimumChainWork: "x" is not up to 64 hex digits`},
		{"", "x", `AssumeValid: "x" is no hash of a block`},
	} {
		if err := net.Assume(test.work, test.valid); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

package dialect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
)

func TestWallet(t *testing.T) {
	const all = "legacy p2sh-segwit bech32 bech32m"
	for name, test := range map[string]struct {
		dialect, chain     string
		choices            dialect.Choices
		types, unavailable string
		byDefault          descriptor.OutputType
		slow, onlySlow     bool
	}{
		"Bitcoin": {"", "main", dialect.Choices{}, all, "", descriptor.Bech32, false, false},
		"qbit":    {"qbit", "main", dialect.Choices{}, "p2mr", all, descriptor.MerkleRoot, true, true},
		"qbit, any coins": {
			"qbit", "regtest", dialect.Choices{AnyOutput: true}, all + " p2mr", "", descriptor.Bech32, true, false,
		},
	} {
		n, err := dialect.Named(test.dialect, test.chain, test.choices)
		if err != nil {
			t.Fatal(err)
		}
		w := n.Wallet()
		var types, unavailable []string
		for _, at := range w.Types {
			types = append(types, at.Kind.String())
			if !w.Has(at.Kind) || w.Form(at.Kind) != at.Form {
				t.Errorf("%s: %v has the form %q", name, at.Kind, w.Form(at.Kind))
			}
			checkForm(t, n.Descriptors(), at)
		}
		for _, kind := range w.Unavailable {
			unavailable = append(unavailable, kind.String())
			if named, ok := w.Named(kind.String()); !ok || named != kind || w.Has(kind) || w.Form(kind) != "" {
				t.Errorf("%s: %v is unavailable, and named %v, %v", name, kind, named, ok)
			}
		}
		if got := strings.Join(types, " "); got != test.types {
			t.Errorf("%s: types %s, want %s", name, got, test.types)
		}
		if got := strings.Join(unavailable, " "); got != test.unavailable {
			t.Errorf("%s: unavailable %q, want %q", name, got, test.unavailable)
		}
		if w.Default != test.byDefault || w.SlowKeys != test.slow || w.OnlySlowKeys != test.onlySlow {
			t.Errorf("%s: default %v, slow keys %v, only such %v", name, w.Default, w.SlowKeys, w.OnlySlowKeys)
		}
		if _, ok := w.Named("p2mr"); ok != test.slow {
			t.Errorf("%s: p2mr is a name: %v", name, ok)
		}
		if kind, ok := w.Named("unknown"); ok || kind != descriptor.Unknown {
			t.Errorf("%s: unknown is a name of %v", name, kind)
		}
	}
}

// Wallets of Bitcoin's chains pay nothing where there is no estimate; those of qbit's the least rate.
func TestWalletFees(t *testing.T) {
	for of, want := range map[string][2]int64{"": {1000, 0}, "qbit": {250, 250}} {
		for _, chain := range dialect.Chains() {
			n, err := dialect.Named(of, chain, dialect.Choices{})
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]int64{n.WalletFee, n.FallbackFee}; got != want {
				t.Errorf("%q, %s: %v, want %v", of, chain, got, want)
			}
		}
	}
}

// checkForm checks that a standard form is a descriptor with addresses of its type.
func checkForm(t *testing.T, net *descriptor.Network, at dialect.AddressType) {
	t.Helper()
	key, _, ok := descriptor.Master(make([]byte, 32))
	if !ok {
		t.Fatal("no key")
	}
	text := fmt.Sprintf(at.Form, descriptor.EncodeXPub(key, net), 1, 0)
	branches, err := descriptor.Parse(text, net, descriptor.Options{})
	if err != nil || branches[0].OutputType() != at.Kind || !branches[0].IsRanged() {
		t.Errorf("%s: %v, %v", text, branches, err)
	}
}

// A tip may be as old as the network says, to the second.
func TestIsFresh(t *testing.T) {
	for name, age := range map[string]time.Duration{"": 8 * time.Hour, "qbit": time.Hour} {
		n, err := dialect.Named(name, "regtest", dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		tip := time.Unix(1_700_000_000, 0)
		now := tip.Add(age + 999*time.Millisecond)
		if !n.IsFresh(tip, now) || n.IsFresh(tip, now.Add(time.Millisecond)) || !n.IsFresh(tip, tip.Add(-time.Hour)) {
			t.Errorf("%q: at an age of %v", name, age)
		}
	}
}

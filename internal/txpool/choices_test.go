package txpool_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/txpool"
)

// A choice changes only its own field of the policy; without a choice the
// default stays.
func TestChoices(t *testing.T) {
	n, none := int64(7), 0
	for _, test := range []struct {
		field  string
		choice any
		want   func(*txpool.Policy)
	}{
		{"MaxBytes", int64(7), func(p *txpool.Policy) { p.MaxBytes = 7 }},
		{"Expiry", 7*time.Second + 1, func(p *txpool.Policy) { p.Expiry = 7 }},
		{"MinRelayFee", &n, func(p *txpool.Policy) { p.MinRelayFee = txpool.PerKvB(7) }},
		{"IncrementalFee", &n, func(p *txpool.Policy) { p.IncrementalFee = txpool.PerKvB(7) }},
		{"DustFee", &n, func(p *txpool.Policy) { p.DustFee = txpool.PerKvB(7) }},
		{"DustFee", new(int64), func(p *txpool.Policy) { p.DustFee = txpool.PerKvB(0) }},
		{"AcceptNonStandard", true, func(p *txpool.Policy) { p.RequireStandard = false }},
		{"NoBareMultisig", true, func(p *txpool.Policy) { p.BareMultisig = false }},
		{"DataCarrier", &none, func(p *txpool.Policy) { p.DataCarrier = 0 }},
		{"BytesPerSigOp", 7, func(p *txpool.Policy) { p.BytesPerSigOp = 7 }},
		{"Ancestors", 7, func(p *txpool.Policy) { p.Limits.Ancestors = 7 }},
		{"Descendants", 7, func(p *txpool.Policy) { p.Limits.Descendants = 7 }},
		{"AncestorVSize", int64(7), func(p *txpool.Policy) { p.Limits.AncestorVSize = 7 }},
		{"DescendantVSize", int64(7), func(p *txpool.Policy) { p.Limits.DescendantVSize = 7 }},
		{"Cluster", new(int64), func(p *txpool.Policy) { p.Limits.Cluster = 0 }},
		{"ClusterVSize", &n, func(p *txpool.Policy) { p.Limits.ClusterVSize = 7 }},
		{"NoPersist", true, func(*txpool.Policy) {}},
		{"OldFile", true, func(*txpool.Policy) {}},
	} {
		var choices txpool.Choices
		reflect.ValueOf(&choices).Elem().FieldByName(test.field).Set(reflect.ValueOf(test.choice))
		want := txpool.DefaultPolicy()
		test.want(&want)
		if got := txpool.DefaultPolicy().With(choices); got != want {
			t.Errorf("%s: got %+v, want %+v", test.field, got, want)
		}
	}
	if got := txpool.DefaultPolicy().With(txpool.Choices{MaxBytes: -1}).MaxBytes; got != 0 {
		t.Errorf("%d bytes are kept, want none", got)
	}
	if got := txpool.DefaultPolicy().With(txpool.Choices{}); got != txpool.DefaultPolicy() {
		t.Errorf("without a choice: %+v", got)
	}
	// The defaults of Core 30.2, and of 31.99 by clusters.
	defaults := txpool.Policy{
		MinRelayFee: txpool.PerKvB(100), IncrementalFee: txpool.PerKvB(100), DustFee: txpool.PerKvB(3000),
		MaxBytes: 300_000_000, Expiry: 14 * 24 * 3600,
		RequireStandard: true, BareMultisig: true, DataCarrier: 100_000, BytesPerSigOp: 20,
		Limits: txpool.Limits{
			Ancestors: 25, Descendants: 25, AncestorVSize: 101_000, DescendantVSize: 101_000,
			Cluster: 64, ClusterVSize: 101_000,
		},
	}
	if got := txpool.DefaultPolicy(); got != defaults {
		t.Errorf("defaults: %+v", got)
	}
}

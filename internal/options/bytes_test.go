package options_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/options"
)

// Numbers of bytes with and without a unit, and what is none.
func TestParseBytes(t *testing.T) {
	for _, test := range []struct {
		text string
		want uint64
		ok   bool
	}{
		{"0", 0, true},
		{"1", 1 << 20, true},
		{"800M", 800 << 20, true},
		{"2m", 2e6, true},
		{"3k", 3000, true},
		{"3K", 3 << 10, true},
		{"1g", 1e9, true},
		{"1G", 1 << 30, true},
		{"1t", 1e12, true},
		{"1T", 1 << 40, true},
		{"17592186044415", 17592186044415 << 20, true},
		{"17592186044416", 0, false},
		{"16777216T", 0, false},
		{"", 0, false},
		{"M", 0, false},
		{"abc", 0, false},
		{"-1", 0, false},
		{"+1", 0, false},
		{"1_0", 0, false},
		{"1.5G", 0, false},
		{" 1", 0, false},
		{"1x", 0, false},
		{"1MM", 0, false},
	} {
		if got, ok := options.ParseBytes(test.text, 'M'); ok != test.ok || ok && got != test.want {
			t.Errorf("%q: %d, %v", test.text, got, ok)
		}
	}
}

package txjson_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/txjson"
)

func TestTargets(t *testing.T) {
	tests := []struct {
		bits         uint32
		text, target string
		difficulty   float64
	}{
		{0x1d00ffff, "1d00ffff", "00000000ffff0000000000000000000000000000000000000000000000000000", 1},
		{0x1b0404cb, "1b0404cb", "00000000000404cb000000000000000000000000000000000000000000000000", 16307.420938523983},
		{0x207fffff, "207fffff", "7fffff0000000000000000000000000000000000000000000000000000000000", 4.6565423739069247e-10},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			if got := txjson.Bits(test.bits); got != test.text {
				t.Errorf("bits %s", got)
			}
			if got := txjson.Target(test.bits); got != test.target {
				t.Errorf("target %s", got)
			}
			if got := txjson.Difficulty(test.bits); got != test.difficulty {
				t.Errorf("difficulty %v", got)
			}
		})
	}
}

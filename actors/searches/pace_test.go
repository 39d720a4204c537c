package searches

import (
	"testing"
	"time"
)

// A round waits the longer the more the store is behind, and not at all where it is not.
func TestHoldBack(t *testing.T) {
	for _, test := range []struct {
		tables       int
		passed, want time.Duration
	}{
		{0, 0, 0},
		{0, time.Hour, 0},
		{1, 0, pauseForTable},
		{10, 0, 10 * pauseForTable},
		{10, 4 * pauseForTable, 6 * pauseForTable},
		{10, 10 * pauseForTable, 0},
		{10, time.Hour, 0},
	} {
		if got := holdBack(test.tables, test.passed); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

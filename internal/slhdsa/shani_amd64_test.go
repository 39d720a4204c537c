package slhdsa

import "testing"

// setSHANI turns the kernel on or off for a test; it returns false if it cannot.
func setSHANI(tb testing.TB, on bool) bool {
	tb.Helper()
	if on && !hasSHANI() {
		return false
	}
	before := shani
	tb.Cleanup(func() { shani = before })
	shani = on
	return true
}

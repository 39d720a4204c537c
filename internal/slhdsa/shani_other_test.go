//go:build !amd64

package slhdsa

import "testing"

// setSHANI cannot turn anything on.
func setSHANI(testing.TB, bool) bool { return false }

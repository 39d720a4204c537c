//go:build !linux

package filters_test

import "slices"

// guard puts bytes where reading further ends the process, on Linux.
type guard struct{}

func (*guard) before(b []byte) []byte { return slices.Clip(b) }

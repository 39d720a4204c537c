//go:build !amd64

package slhdsa

// runnable returns the kernels beside the portable one.
func runnable() []kernel { return nil }

// vectorScratch is for amd64 only.
type vectorScratch struct{}

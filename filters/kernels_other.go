//go:build !amd64 && !arm64

package filters

// runnable returns the kernels that this processor can run, the fastest first.
func runnable() []*kernel { return []*kernel{portableKernel()} }

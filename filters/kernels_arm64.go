package filters

//go:generate go run ./internal/asmgen

// runnable returns the kernels that this processor can run, the fastest first.
func runnable() []*kernel { return []*kernel{neonKernel(), portableKernel()} }

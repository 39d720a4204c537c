//go:build !amd64

package filters

// kernels returns the kernels that this processor can run, the fastest first.
func kernels() []kernel { return []kernel{portable{}} }

// walkState is what a kernel for another processor needs to walk.
type walkState struct{}

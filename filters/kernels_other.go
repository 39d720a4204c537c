//go:build !amd64

package filters

// kernels returns the kernels that this processor can run, the fastest first.
func kernels() []kernel { return []kernel{portable{}} }

package filters

import "golang.org/x/sys/cpu"

//go:generate go run ./internal/asmgen

// runnable returns the kernels that this processor can run, the fastest first.
func runnable() []*kernel {
	all := []*kernel{portableKernel()}
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasLZCNT || !x.HasPOPCNT || !x.HasSSE42 {
		return all
	}
	all = append([]*kernel{avx2Kernel()}, all...)
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL {
		all = append([]*kernel{avx512Kernel()}, all...)
	}
	return all
}

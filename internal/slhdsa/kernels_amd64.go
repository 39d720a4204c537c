package slhdsa

import "golang.org/x/sys/cpu"

//go:generate go run ./internal/asmgen

// runnable returns the kernels that this processor can run beside the portable
// one, the fastest first.
func runnable() (all []kernel) {
	x := &cpu.X86
	if hasSHANI() {
		// It hashes two blocks in less than the time that AVX2 needs for eight.
		all = []kernel{{"sha extensions", byBlocks{shani{}}}}
	}
	if x.HasAVX2 {
		all = append(all, kernel{"avx2", &vectors{
			lanes: 8, few: 2, summer: portable{}, open: open256, step: walk256, pairs: pairs256, blocks: sums256,
		}})
	}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL {
		wide := &vectors{
			lanes: 16, few: 1, summer: portable{}, open: open512, step: walk512, pairs: pairs512, blocks: sums512,
		}
		if hasSHANI() {
			wide.few, wide.summer = 6, shani{} // by the time that verifications take
		}
		all = append([]kernel{{"avx512", wide}}, all...)
	}
	return all
}

package filters

import "golang.org/x/sys/cpu"

// sumParts multiplies without carry where the processor does so for whole vectors.
func (k avx512) sumParts(sums []uint32, places []place, which []uint32, all []probe) {
	if !cpu.X86.HasAVX512VPCLMULQDQ {
		k.lookups.sumParts(sums, places, which, all)
		return
	}
	if len(which) > 0 {
		_ = sums[:len(which)]
		foldParts(&sums[0], &places[0], &which[0], len(which), &all[0])
	}
}

//go:noescape
func foldParts(dst *uint32, places *place, which *uint32, count int, all *probe)

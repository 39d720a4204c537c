package filters

// lookups are the parts of a prober for processors with BMI1, BMI2, POPCNT and
// SSE4.2, which those with AVX2 have.
type lookups struct{ portable }

func (lookups) fetchLines(hashes *row, g *probeGroup) { fetchLines(&hashes[0], &g.lines[0]) }

func (lookups) fetch(b []byte) {
	if len(b) > 0 {
		fetchBytes(&b[0], len(b))
	}
}

func (lookups) lookAcross(hashes *row, g *probeGroup) (found uint32) {
	return lookLines(&hashes[0], &g.lines[0]) & uint32(1<<g.count-1)
}

func (lookups) checkAcross(hashes *row, g *probeGroup) (bad uint32) {
	return checkLines(&hashes[0], &g.lines[0], &g.seeds[0]) & uint32(1<<g.count-1)
}

func (lookups) intactLines(lines []byte, seed uint32) bool {
	return len(lines) < lineSize || checkAllLines(&lines[0], len(lines)/lineSize, seed) == 0
}

func (lookups) placesAcross(dst []place, hashes *row, g *probeGroup, found uint32, all []probe) {
	if len(dst) > 0 {
		placeLines(&dst[0], &hashes[0], &g.lines[0], &all[g.first], g.first, found)
	}
}

// sumParts does fours: the last place is as good as any.
func (lookups) sumParts(sums []uint32, places []place, which []uint32, all []probe) {
	if len(which) == 0 {
		return
	}
	var padded [vectorLanes]uint32
	for i := copy(padded[:], which); i%4 > 0; i++ {
		padded[i] = which[0]
	}
	fours := (len(which) + 3) / 4
	_ = sums[: 4*fours : cap(sums)]
	sumParts(&sums[0], &places[0], &padded[0], fours, &all[0])
}

//go:noescape
func fetchLines(hashes *uint64, lines **byte)

//go:noescape
func fetchBytes(b *byte, count int)

//go:noescape
func lookLines(hashes *uint64, lines **byte) (found uint32)

//go:noescape
func checkLines(hashes *uint64, lines **byte, seeds *uint32) (bad uint32)

//go:noescape
func checkAllLines(lines *byte, count int, seed uint32) (bad uint32)

//go:noescape
func placeLines(dst *place, hashes *uint64, lines **byte, group *probe, first, found uint32)

//go:noescape
func sumParts(dst *uint32, places *place, which *uint32, fours int, all *probe)

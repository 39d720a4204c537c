package synth

import "encoding/binary"

// mix is the finalizer of SplitMix64, a bijection that scatters its input.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// appendScript appends the script number n of a series: of ten, five pay to
// P2WPKH, three to P2TR and two to P2PKH, about as on the main chain of the
// 2020s. Nobody can spend them.
func appendScript(dst []byte, seed, series, n uint64) []byte {
	var program [32]byte
	state := mix(seed ^ mix(series^mix(n+0x1234567)))
	for i := range 4 {
		state = mix(state + uint64(i))
		binary.LittleEndian.PutUint64(program[8*i:], state)
	}
	switch kind := n % 10; {
	case kind < 5:
		return append(append(dst, 0x00, 0x14), program[:20]...)
	case kind < 8:
		return append(append(dst, 0x51, 0x20), program[:]...)
	default:
		dst = append(append(dst, 0x76, 0xa9, 0x14), program[:20]...)
		return append(dst, 0x88, 0xac)
	}
}

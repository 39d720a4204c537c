// Command asmgen writes the assembly of package filters, the files named *_amd64.s and *_arm64.s,
// into the folder it is run in. It always writes the same bytes, and a test compares the files
// with its output.
//
// It is a plain printer of instructions; loops over registers and what several
// functions have in common are functions in Go. Each block of instructions
// carries a comment that describes its effect.
package main

import (
	"fmt"
	"os"
)

// files are the files it writes.
var files = map[string]func() []byte{
	"probe_amd64.s":         probe,
	"avx2_hash_amd64.s":     avx2Hash,
	"avx2_decode_amd64.s":   avx2Decode,
	"avx2_mark_amd64.s":     scalarMark,
	"avx512_hash_amd64.s":   avx512Hash,
	"avx512_seek_amd64.s":   avx512Seek,
	"avx512_lookup_amd64.s": avx512Lookup,
	"avx512_decode_amd64.s": avx512Decode,
	"avx512_merge_amd64.s":  avx512Merge,
	"avx512_walk_amd64.s":   avx512Walk,
	"avx512_fold_amd64.s":   avx512Fold,
	"neon_hash_arm64.s":     neonHash,
}

func main() {
	for name, generate := range files {
		if err := os.WriteFile(name, generate(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "asmgen:", err)
			os.Exit(1)
		}
	}
}

func probe() []byte {
	a := newFile("Lookups by probe lines, for processors with BMI1, BMI2, POPCNT and SSE4.2.")
	fetchLines(a)
	fetchBytes(a)
	lookLines(a)
	checkLines(a)
	checkAllLines(a)
	placeLines(a)
	sumParts(a)
	return a.Bytes()
}

func avx2Hash() []byte {
	a := newFile("SipHash of the AVX2 kernel: 4 numbers of 64 bits in a register.")
	a.Constant("rotate16<>", rotate16[:])
	round256(a, states256())
	hashTile256(a)
	hashLanes256(a)
	return a.Bytes()
}

func avx2Decode() []byte {
	a := newFile("The decoder of the AVX2 kernel, which is scalar.")
	decodeFour(a)
	return a.Bytes()
}

func avx512Hash() []byte {
	a := newFile("SipHash of the AVX-512 kernel: 8 numbers of 64 bits in a register.")
	round512(a, states512())
	hashTiles512(a)
	hashLanes512(a)
	return a.Bytes()
}

func scalarMark() []byte {
	a := newFile("The bitmap of a filter's elements, by the instructions of BMI2.")
	markValues(a)
	return a.Bytes()
}

func avx512Seek() []byte {
	a := newFile("SipHash of the AVX-512 kernel, with the bitmaps of two filters beside it.")
	round512(a, states512())
	seek512(a)
	return a.Bytes()
}

func avx512Lookup() []byte {
	a := newFile("Sorting of the AVX-512 kernel.")
	exchange512(a)
	return a.Bytes()
}

func avx512Decode() []byte {
	a := newFile("The decoder of the AVX-512 kernel: 32 filters side by side, 8 in a register.")
	decoderConstants(a)
	decodeLanes(a)
	return a.Bytes()
}

func avx512Merge() []byte {
	a := newFile("The decoder of the AVX-512 kernel that looks for hashes while it decodes.")
	decoderConstants(a)
	a.Constant("row<>", []uint64{lanes})
	mergeLanes(a)
	return a.Bytes()
}

func avx512Walk() []byte {
	a := newFile("The decoder of the AVX-512 kernel that looks for one number in each of 32 places.")
	decoderConstants(a)
	walkPlaces(a)
	return a.Bytes()
}

func avx512Fold() []byte {
	a := newFile("CRC-32C of parts of code, for processors with AVX-512 and VPCLMULQDQ.")
	a.Constant("foldFar<>", foldFar[:])
	a.Constant("foldNear<>", foldNear[:])
	a.Constant("foldBegin<>", foldBegin[:])
	foldParts(a)
	return a.Bytes()
}

package filters_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/btcutil/gcs"
	"github.com/btcsuite/btcd/btcutil/gcs/builder"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
)

// oracleMatch matches with btcutil's merge. Its other way, HashMatchAny, keeps
// 32 bits of each value and is wrong for filters of more than 5,471 elements.
func oracleMatch(tb testing.TB, block *chainhash.Hash, filter []byte, scripts [][]byte) bool {
	tb.Helper()
	f, err := gcs.FromNBytes(filters.P, filters.M, filter)
	if err != nil {
		tb.Fatal(err)
	}
	hit, err := f.ZipMatchAny(builder.DeriveKey(block), scripts)
	if err != nil {
		tb.Fatal(err)
	}
	return hit
}

// oracleBuild builds with btcutil; the elements must differ.
func oracleBuild(tb testing.TB, block *chainhash.Hash, elements [][]byte) []byte {
	tb.Helper()
	f, err := gcs.BuildGCSFilter(filters.P, filters.M, builder.DeriveKey(block), elements)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := f.NBytes()
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// slowDecode decodes bit by bit. ok is false if the filter is damaged.
func slowDecode(filter []byte) (values []uint64, ok bool) {
	var n uint64
	var size int
	switch {
	case len(filter) >= 1 && filter[0] < 0xfd:
		n, size = uint64(filter[0]), 1
	case len(filter) >= 3 && filter[0] == 0xfd:
		n, size = uint64(binary.LittleEndian.Uint16(filter[1:])), 3
	case len(filter) >= 5 && filter[0] == 0xfe:
		n, size = uint64(binary.LittleEndian.Uint32(filter[1:])), 5
	default: // no test makes 2^32 elements
		return nil, false
	}
	if size == 3 && n < 0xfd || size == 5 && n < 1<<16 {
		return nil, false
	}
	code, pos := filter[size:], 0
	bit := func() uint64 {
		if pos >= len(code)*8 {
			pos++
			return 0
		}
		b := code[pos/8] >> (7 - pos%8) & 1
		pos++
		return uint64(b)
	}
	var last uint64
	for range n {
		for bit() == 1 {
			last += 1 << filters.P
		}
		var remainder uint64
		for range filters.P {
			remainder = remainder<<1 | bit()
		}
		if pos > len(code)*8 {
			return nil, false
		}
		last += remainder
		values = append(values, last)
	}
	return values, (pos+7)/8 == len(code) && (n == 0 || last < n*filters.M)
}

// scriptKinds are the lengths of the usual scripts (P2WPKH, P2SH, P2PKH, P2TR,
// P2PK twice) and some around the edges of message words.
var scriptKinds = []int{22, 23, 25, 34, 35, 67, 1, 7, 8, 9, 15, 16, 255, 256, 257, 520}

// usualKinds are those of them that full blocks hold.
var usualKinds = scriptKinds[:5]

// randomScripts returns n different scripts of the given lengths.
func randomScripts(rng *rand.Rand, n int, kinds []int) [][]byte {
	scripts := make([][]byte, 0, n)
	seen := make(map[string]bool, n)
	for len(scripts) < n {
		script := make([]byte, kinds[rng.IntN(len(kinds))])
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		if !seen[string(script)] {
			seen[string(script)] = true
			scripts = append(scripts, script)
		}
		if len(scripts) > 200 && len(kinds) == len(scriptKinds) {
			kinds = usualKinds // few scripts of one byte exist
		}
	}
	return scripts
}

func randomHash(rng *rand.Rand) (h chainhash.Hash) {
	for i := range h {
		h[i] = byte(rng.Uint32())
	}
	return h
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 158)) }

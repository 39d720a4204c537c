package filters_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/btcutil/gcs/builder"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/filters"
)

func TestBuild(t *testing.T) {
	var b filters.Builder
	for _, n := range []int{0, 1, 2, 3, 20, 252, 253, 254, 2_000, 6_000, 66_000, 5} {
		rng := newRand(uint64(n))
		hash := randomHash(rng)
		elements := randomScripts(rng, n, scriptKinds)
		want := oracleBuild(t, &hash, elements)
		// Some elements twice and all in another order change nothing.
		shuffled := append(elements[:n:n], elements[:n/3]...)
		rng.Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		if !bytes.Equal(b.Build(&hash, shuffled), want) {
			t.Errorf("%d elements: another filter than btcutil's", n)
		}
	}
}

// TestBuildBlock holds BuildBlock against btcutil on drawn blocks.
func TestBuildBlock(t *testing.T) {
	var b filters.Builder
	rapid.Check(t, func(t *rapid.T) {
		block := drawBlock(t)
		spent := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 3)).Draw(t, "spent")
		f, err := builder.BuildBasicFilter(block, spent)
		if err != nil {
			t.Fatal(err)
		}
		want := []byte{0}
		if f.N() > 0 {
			if want, err = f.NBytes(); err != nil {
				t.Fatal(err)
			}
		}
		hash := block.BlockHash()
		got, err := b.BuildBlock(&hash, serialize(block), filters.HeaderLen, spent)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %x and %v, want %x", got, err, want)
		}
	})
}

// TestBuildBlockRepeated: a block's filter is that of its scripts, however often they
// occur, among its outputs and among what it spends. All filters are made by the same
// builder.
func TestBuildBlockRepeated(t *testing.T) {
	var b, plain filters.Builder
	for seed := range uint64(200) {
		rng := newRand(seed)
		hash := randomHash(rng)
		few := append(randomScripts(rng, 1+rng.IntN(40), scriptKinds), nil)
		var lists [2][][]byte
		for i := range lists {
			for range rng.IntN(200) {
				lists[i] = append(lists[i], few[rng.IntN(len(few))])
			}
		}
		var elements [][]byte
		for _, script := range lists[0] {
			if len(script) > 0 && script[0] != 0x6a {
				elements = append(elements, script)
			}
		}
		for _, script := range lists[1] {
			if len(script) > 0 {
				elements = append(elements, script)
			}
		}
		got, err := b.BuildBlock(&hash, coinbaseBlock(lists[0]), filters.HeaderLen, lists[1])
		if want := plain.Build(&hash, elements); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: got %x and %v, want %x", seed, got, err, want)
		}
	}
}

func TestBuildBlockBad(t *testing.T) {
	var b filters.Builder
	raw := coinbaseBlock([][]byte{{1}})
	_, err := b.BuildBlock(&chainhash.Hash{}, raw[:len(raw)-1], filters.HeaderLen, nil)
	if !errors.Is(err, filters.ErrBadBlock) {
		t.Errorf("got %v, want ErrBadBlock", err)
	}
	if got := b.Build(&chainhash.Hash{}, nil); !bytes.Equal(got, []byte{0}) {
		t.Errorf("empty filter after a bad block: got %x", got)
	}
}

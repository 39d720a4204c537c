package rangefilter_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/rangefilter"
)

func script(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte{0, 8}, n) }

func hashes(key *rangefilter.Key, n int) []uint64 {
	all := make([]uint64, 0, n+n/2)
	for i := range n {
		all = append(all, key.Hash(script(uint64(i))))
	}
	return append(all, all[:n/2]...) // some repeat
}

func build(hashes []uint64) ([]byte, error) {
	return rangefilter.Build(func(add func(uint64)) error {
		for _, hash := range hashes {
			add(hash)
		}
		return nil
	})
}

// A filter has what it was built of, and few others.
func TestFilter(t *testing.T) {
	key := rangefilter.Key{1, 2, 3}
	for _, n := range []int{0, 1, 2, 3, 10, 1_000, 100_000} {
		b, err := build(hashes(&key, n))
		if err != nil {
			t.Fatal(err)
		}
		f, err := rangefilter.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if !f.Has(key.Hash(script(uint64(i)))) {
				t.Fatalf("script %d of %d is missing", i, n)
			}
		}
		passed := 0
		for i := range 100_000 {
			if f.Has(key.Hash(script(uint64(n + i)))) {
				passed++
			}
		}
		if n > 0 && passed > 700 {
			t.Errorf("of %d scripts: %d of 100,000 others pass", n, passed)
		}
	}
}

func TestKeyIsNotPrinted(t *testing.T) {
	key := rangefilter.Key{7, 7, 7}
	for _, text := range []string{
		fmt.Sprint(key), fmt.Sprintf("%v %+v %#v %s", key, key, key, key), key.LogValue().String(),
	} {
		if strings.Contains(text, "7") {
			t.Errorf("prints as %q", text)
		}
	}
	other := rangefilter.Key{8}
	if key.Hash([]byte("x")) == other.Hash([]byte("x")) {
		t.Error("the key makes no difference")
	}
}

// FuzzParse reads arbitrary bytes, and asks what they take for a filter.
func FuzzParse(f *testing.F) {
	key := rangefilter.Key{1}
	for _, n := range []int{0, 1, 100} {
		b, err := build(hashes(&key, n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(slices.Concat(b[:12], []byte{9, 0, 0, 0}, b[16:]))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		filter, err := rangefilter.Parse(b)
		if err != nil {
			if !errors.Is(err, rangefilter.ErrBad) {
				t.Error(err)
			}
			return
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			filter.Has(rng.Uint64())
		}
	})
}

// FuzzBuild builds filters of arbitrary hashes, equal ones among them. They must
// have all of them, before and after they were written.
func FuzzBuild(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add(make([]byte, 64), uint8(1))
	f.Add([]byte("0123456789abcdef0123456789abcdefghijklmn"), uint8(200))
	f.Fuzz(func(t *testing.T, b []byte, more uint8) {
		var all []uint64
		for ; len(b) >= 8; b = b[8:] {
			all = append(all, binary.LittleEndian.Uint64(b))
		}
		rng := rand.New(rand.NewPCG(uint64(len(b)), uint64(more)))
		for range 20 * int(more) {
			all = append(all, rng.Uint64()>>rng.IntN(64))
		}
		data, err := build(all)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := rangefilter.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, hash := range all {
			if !filter.Has(hash) {
				t.Fatalf("%x is missing among %d", hash, len(all))
			}
		}
	})
}

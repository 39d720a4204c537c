package rangefilter_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/FastFilter/xorfilter"

	"github.com/seed61375155/trawl/internal/rangefilter"
)

// reference is what the library makes of hashes, in the form of a file.
func reference(t *testing.T, hashes []uint64) []byte {
	t.Helper()
	slices.Sort(hashes)
	f, err := xorfilter.NewBinaryFuse[uint8](slices.Compact(hashes))
	if err != nil {
		t.Fatal(err)
	}
	b := binary.LittleEndian.AppendUint64(nil, f.Seed)
	b = binary.LittleEndian.AppendUint32(b, f.SegmentLength)
	b = binary.LittleEndian.AppendUint32(b, f.SegmentCount)
	return append(b, f.Fingerprints...)
}

// Filters are the same to the byte as the library's, which made the existing files.
// This holds for each number of hashes up to some hundreds, many of which need
// several seeds, and for numbers from which the library uses another layout.
func TestBuildIsTheLibrarys(t *testing.T) {
	sizes := []int{5_000, 99_999, 300_000, 1_000_001}
	for n := range 700 {
		sizes = append(sizes, n)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	collected, most := 0, 0
	for _, n := range sizes {
		hashes := make([]uint64, n, n+n/3)
		for i := range hashes {
			hashes[i] = rng.Uint64()
		}
		hashes = append(hashes, hashes[:n/3]...)
		times := 0
		got, err := rangefilter.Build(func(add func(uint64)) error {
			times++
			for _, hash := range hashes {
				add(hash)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		collected, most = collected+times-1, max(most, times)
		if !bytes.Equal(got, reference(t, hashes)) {
			t.Errorf("the filter of %d hashes is another one", n)
		}
	}
	if collected < 10 || most < 3 {
		t.Errorf("hashes were collected again %d times, at most %d for one filter: no test of it", collected, most)
	}
}

func TestBuildStops(t *testing.T) {
	failed := errors.New("blocks cannot be read")
	if _, err := rangefilter.Build(func(func(uint64)) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}

// More hashes than the bound are an error.
func TestTooManyHashes(t *testing.T) {
	if os.Getenv("TRAWL_SOAK") == "" {
		t.Skip("TRAWL_SOAK is not set")
	}
	_, err := rangefilter.Build(func(add func(uint64)) error {
		for i := range uint64(3 * rangefilter.MaxHashes) {
			add(i)
		}
		return nil
	})
	if !errors.Is(err, rangefilter.ErrTooMany) {
		t.Errorf("got %v", err)
	}
}

// While a filter is made, some 20 bytes of memory a hash are in use, and what the
// collector has not found yet.
func TestBuildMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of memory is read from /proc")
	}
	n := 2_000_000
	if os.Getenv("TRAWL_SOAK") != "" {
		n = 20_500_000
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // resets the peak
		t.Skip(err)
	}
	before, began := peak(t), time.Now()
	data, err := rangefilter.Build(func(add func(uint64)) error {
		rng := rand.New(rand.NewPCG(1, 1))
		for range n {
			add(rng.Uint64())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	took := peak(t) - before
	t.Logf("%d hashes, %d bytes: %v, %d MB", n, len(data), time.Since(began), took>>20)
	if took/n > 28 {
		t.Errorf("%d bytes a hash", took/n)
	}
}

// peak returns the most memory that the process had, in bytes.
func peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

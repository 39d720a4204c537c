package descriptor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

const (
	testXpub = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	testXprv = "xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U"
	testKey  = "03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd"
)

var rangedTexts = []string{
	"wpkh(" + testXpub + "/0/*)",
	"combo(" + testXprv + "/*h)",
	"combo(" + testXprv + "/1h/*)",
	"wsh(sortedmulti(2," + testXpub + "/0/*," + testKey + "," + testXpub + "/1/*," + testXprv + "/7h/*))",
	"tr(" + testXpub + "/*,{pk(" + testXpub + "/2/*),multi_a(1," + testXpub + "/3/*," + testKey + ")})",
	"sh(wpkh(" + testXpub + "/<4;5>/*))",
	"wsh(andor(pk(" + testXpub + "/0/*),older(144),and_v(v:pkh(" + testXprv + "/1h/*),multi(1," + testKey + "," + testXpub + "/2/*))))",
	"tr(" + testXpub + "/*,{and_v(v:pk(" + testXpub + "/2/*),older(9)),pkh(" + testXpub + "/3/*)})",
	"tr(musig(" + testXpub + "/1," + testXpub + "/0)/7/*)",
}

// slowText aggregates keys at every index.
const slowText = "rawtr(musig(" + testXpub + "/*," + testKey + "," + testXprv + "/1/*h))"

// TestExpandRange compares ranges with the indices one by one.
func TestExpandRange(t *testing.T) {
	for _, text := range rangedTexts {
		for _, workers := range []int{0, 2, 5} {
			t.Run(fmt.Sprintf("%.12s/workers=%d", text, workers), func(t *testing.T) {
				checkRange(t, text, workers, 203)
			})
		}
	}
	t.Run("slow", func(t *testing.T) { checkRange(t, slowText, 2, 140) })
}

func checkRange(t *testing.T, text string, workers int, last uint32) {
	t.Helper()
	d := parse(t, text, mainNet)
	const first = 3
	next := uint32(first)
	err := d.ExpandRange(t.Context(), first, last, workers, func(index uint32, got [][]byte) error {
		if index != next {
			t.Fatalf("index %d comes as %d", next, index)
		}
		next++
		if index%37 != 0 && index != last {
			return nil // the oracle is slow
		}
		want, err := d.Expand(index)
		if err != nil {
			return err
		}
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("index %d: got %x, want %x", index, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if next != last+1 {
		t.Errorf("ended before %d", next)
	}
}

func TestExpandRangeBounds(t *testing.T) {
	d := parse(t, rangedTexts[0], mainNet)
	never := func(uint32, [][]byte) error { return errors.New("visited") }
	for _, test := range []struct {
		first, last uint32
		want        error
	}{
		{1, 0, descriptor.ErrRangeOrder},
		{0, descriptor.MaxRange, descriptor.ErrRangeSize},
		{descriptor.MaxIndex, descriptor.MaxIndex + 1, descriptor.ErrRangeEnd},
	} {
		if err := d.ExpandRange(t.Context(), test.first, test.last, 2, never); !errors.Is(err, test.want) {
			t.Errorf("[%d,%d]: got %v, want %v", test.first, test.last, err, test.want)
		}
	}
	if _, err := d.Expand(descriptor.MaxIndex + 1); !errors.Is(err, descriptor.ErrNotDerivable) {
		t.Errorf("index too high: %v", err)
	}
}

// TestExpandRangeUnranged visits the one script once.
func TestExpandRangeUnranged(t *testing.T) {
	visits := 0
	err := parse(t, "pkh("+testKey+")", mainNet).ExpandRange(t.Context(), 5, 9,
		2, func(index uint32, scripts [][]byte) error {
			visits++
			if index != 0 || len(scripts) != 1 {
				t.Errorf("index %d with %d scripts", index, len(scripts))
			}
			return nil
		})
	if err != nil || visits != 1 {
		t.Errorf("%d visits, %v", visits, err)
	}
}

// TestExpandRangeStops ends a range of a million early, from inside and outside.
func TestExpandRangeStops(t *testing.T) {
	d := parse(t, rangedTexts[0], mainNet)
	for _, workers := range []int{1, 2} {
		ctx, cancel := context.WithCancel(t.Context())
		visits := 0
		err := d.ExpandRange(ctx, 0, descriptor.MaxRange-1, workers, func(uint32, [][]byte) error {
			if visits++; visits == 300 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		if visits > 2000 {
			t.Errorf("went on for %d visits", visits)
		}
		enough := errors.New("enough")
		err = d.ExpandRange(
			t.Context(), 0, descriptor.MaxRange-1, workers, func(uint32, [][]byte) error { return enough },
		)
		if !errors.Is(err, enough) {
			t.Errorf("got %v, want %v", err, enough)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, text := range rangedTexts {
		b.Run(text[:8], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := descriptor.Parse(text, mainNet, descriptor.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExpandRange expands the default range of a scan object.
func BenchmarkExpandRange(b *testing.B) {
	for _, text := range append(rangedTexts, slowText) {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%.10s/workers=%d", text, workers), func(b *testing.B) {
				d := parse(b, text, mainNet)
				b.ReportAllocs()
				for b.Loop() {
					err := d.ExpandRange(b.Context(), 0, 1000, workers, func(uint32, [][]byte) error { return nil })
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

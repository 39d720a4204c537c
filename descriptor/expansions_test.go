package descriptor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
)

const (
	expansionsXpub = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	expansionsXprv = "xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U"
)

func parsed(tb testing.TB, text string) *Descriptor {
	tb.Helper()
	branches, err := Parse(text, NetworkOf(&chaincfg.MainNetParams), Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return branches[len(branches)-1]
}

// expansion returns the scripts that an expansion visits, index by index.
func expansion(tb testing.TB, first uint32, expand func(visit func(uint32, [][]byte) error) error) (all [][][]byte) {
	tb.Helper()
	err := expand(func(index uint32, scripts [][]byte) error {
		if int(index-first) != len(all) {
			tb.Fatalf("index %d comes after %d others", index, len(all))
		}
		all = append(all, scripts)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func equalScripts(a, b [][][]byte) bool {
	return slices.EqualFunc(a, b, func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) })
}

// However often and in whatever order ranges are asked for, the scripts are the
// descriptor's.
func TestExpansions(t *testing.T) {
	x := NewExpansions(40_000)
	for range 3 {
		for _, text := range []string{
			"wpkh(" + expansionsXpub + "/0/*)", "wpkh(" + expansionsXpub + "/<1;2>/*)", "combo(" + expansionsXpub + "/*)",
			"wpkh(" + expansionsXpub + "/7)", "pkh(" + expansionsXprv + "/0h/*)", "tr(" + expansionsXpub + "/*)",
		} {
			d := parsed(t, text)
			for _, first := range []uint32{0, 1, 100} {
				if !d.IsRanged() {
					first = 0
				}
				want := expansion(t, first, func(visit func(uint32, [][]byte) error) error {
					return d.ExpandRange(t.Context(), first, first+30, 1, visit)
				})
				got := expansion(t, first, func(visit func(uint32, [][]byte) error) error {
					return x.ExpandRange(t.Context(), d, first, first+30, 2, visit)
				})
				if !equalScripts(got, want) {
					t.Errorf("%s from %d: other scripts", text, first)
				}
				if x.size > x.limit {
					t.Errorf("%d bytes are held, of at most %d", x.size, x.limit)
				}
			}
		}
	}
	if len(x.ranges) == 0 || len(x.ranges) != x.recent.Len() {
		t.Errorf("%d ranges are held, %d in order", len(x.ranges), x.recent.Len())
	}
}

// A repeated range is not derived again, except for descriptors with private
// keys.
func TestExpansionsRemember(t *testing.T) {
	for text, want := range map[string]bool{
		"wpkh(" + expansionsXpub + "/0/*)":  true,
		"wpkh(" + expansionsXprv + "/0/*)":  false,
		"wpkh(" + expansionsXprv + "/0h/*)": false,
		"wpkh(" + expansionsXpub + "/0)":    false,
	} {
		x := NewExpansions(1 << 20)
		d := parsed(t, text)
		var scripts [2][][]byte
		for i := range scripts {
			err := x.ExpandRange(t.Context(), d, 0, 5, 1, func(_ uint32, s [][]byte) error {
				scripts[i] = append(scripts[i], s...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := &scripts[0][0][0] == &scripts[1][0][0]; got != want || len(x.ranges) > 0 != want {
			t.Errorf("%s: remembered %v, want %v", text, got, want)
		}
	}
}

// A public descriptor whose keys only its private twin has fails as ever.
func TestExpansionsKeepKeysApart(t *testing.T) {
	x := NewExpansions(1 << 20)
	private := parsed(t, "wpkh("+expansionsXprv+"/0h/*)")
	public := parsed(t, private.String())
	nothing := func(uint32, [][]byte) error { return nil }
	if err := x.ExpandRange(t.Context(), private, 0, 5, 1, nothing); err != nil {
		t.Fatal(err)
	}
	if err := x.ExpandRange(t.Context(), public, 0, 5, 1, nothing); !errors.Is(err, ErrNeedsPrivateKey) {
		t.Errorf("got %v, want %v", err, ErrNeedsPrivateKey)
	}
}

// Expansions that are incomplete or too large are not remembered.
func TestExpansionsForget(t *testing.T) {
	d := parsed(t, "wpkh("+expansionsXpub+"/0/*)")
	enough := errors.New("enough")
	x := NewExpansions(1 << 20)
	if err := x.ExpandRange(
		t.Context(), d, 0, 5, 1, func(uint32, [][]byte) error { return enough },
	); !errors.Is(err, enough) {
		t.Errorf("got %v, want %v", err, enough)
	}
	if err := x.ExpandRange(
		t.Context(), d, 5, 0, 1, func(uint32, [][]byte) error { return nil },
	); !errors.Is(err, ErrRangeOrder) {
		t.Errorf("got %v, want %v", err, ErrRangeOrder)
	}
	small := NewExpansions(8_000)
	all := expansion(t, 0, func(visit func(uint32, [][]byte) error) error {
		return small.ExpandRange(t.Context(), d, 0, 500, 2, visit)
	})
	if len(all) != 501 || len(x.ranges)+len(small.ranges) != 0 || small.size != 0 {
		t.Errorf("%d indices; %d and %d ranges are held", len(all), len(x.ranges), len(small.ranges))
	}
	ctx, cancel := context.WithCancel(t.Context())
	for range 2 { // expands, then remembers
		if err := x.ExpandRange(ctx, d, 0, 5, 1, func(uint32, [][]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := x.ExpandRange(
		ctx, d, 0, 5, 1, func(uint32, [][]byte) error { return nil },
	); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestExpansionsConcurrently(t *testing.T) {
	x := NewExpansions(50_000)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			d := parsed(t, fmt.Sprintf("wpkh(%s/%d/*)", expansionsXpub, i%2))
			want, err := d.Expand(3)
			if err != nil {
				t.Error(err)
			}
			for n := range uint32(50) {
				err := x.ExpandRange(t.Context(), d, 0, n%10+5, 1, func(index uint32, scripts [][]byte) error {
					if index == 3 && !bytes.Equal(scripts[0], want[0]) {
						t.Error("another descriptor's script")
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// BenchmarkExpansions expands what is remembered, after parsing it, as a second
// scan with the same descriptor does.
func BenchmarkExpansions(b *testing.B) {
	x := NewExpansions(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		d := parsed(b, "wpkh("+expansionsXpub+"/0/*)")
		if err := x.ExpandRange(b.Context(), d, 0, 999, 2, func(uint32, [][]byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

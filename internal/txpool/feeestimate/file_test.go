package feeestimate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
)

// experienced is an estimator that has seen some blocks.
func experienced(seed uint64) *feeestimate.Estimator { return experiencedOf(feeestimate.Core30, seed) }

func experiencedOf(form feeestimate.Form, seed uint64) *feeestimate.Estimator {
	rng := rand.New(rand.NewPCG(seed, 2))
	e := form.New()
	e.Connect(100, nil)
	for height := int32(100); height < 180; height++ {
		var confirmed []chainhash.Hash
		for n := range 30 {
			e.Add(id(int(height)*100+n), height, 1000+rng.Int64N(100_000))
			if rng.IntN(40) > 0 {
				confirmed = append(confirmed, id(int(height)*100+n))
			}
		}
		e.Connect(height+1, confirmed)
	}
	e.Forget()
	return e
}

// A file brings everything back that counts, to the bit.
func TestFile(t *testing.T) {
	e := experienced(1)
	text := e.Encode()
	back, err := feeestimate.Core30.Decode(bytes.NewReader(append(text, "what follows is not read"...)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.Encode(), text) {
		t.Error("another file comes of it")
	}
	for target := 1; target <= 1008; target += 37 {
		for _, conservative := range []bool{false, true} {
			got, want := back.Smart(target, conservative), e.Smart(target, conservative)
			if got != want || got.Rate == 0 {
				t.Errorf("target %d: %+v, want %+v", target, got, want)
			}
		}
		for h := feeestimate.Short; h <= feeestimate.Long; h++ {
			rate, found := back.Raw(h, target, .9)
			wantRate, wantFound := e.Raw(h, target, .9)
			if rate != wantRate || !reflect.DeepEqual(found, wantFound) {
				t.Errorf("horizon %v, target %d: %d %+v, want %d %+v", h, target, rate, found, wantRate, wantFound)
			}
		}
	}
}

// A file's history counts as long as it is not too old, and until there is more
// experience.
func TestHistoryOfFile(t *testing.T) {
	back, err := feeestimate.Core30.Decode(bytes.NewReader(experienced(1).Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Smart(1008, false); got.Blocks != 39 {
		t.Errorf("%+v, want one for half of 79 blocks", got)
	}
	back.Connect(180+6*1008, nil)
	if got := back.Smart(1008, false); got.Blocks != 39 {
		t.Errorf("at the last block that counts: %+v", got)
	}
	back.Connect(181+6*1008, nil)
	if got := back.Smart(1008, false); got.Blocks != 0 {
		t.Errorf("after that: %+v", got)
	}
}

// The form of Core 31 begins its buckets at a tenth of the rate. None reads files of the other form.
func TestForms(t *testing.T) {
	text := experiencedOf(feeestimate.Core31, 1).Encode()
	if version := binary.LittleEndian.Uint32(text); version != 309900 {
		t.Errorf("version %d", version)
	}
	if best := binary.LittleEndian.Uint32(text[4:]); best != 180 {
		t.Errorf("the version is followed by %d", best)
	}
	if lowest := math.Float64frombits(binary.LittleEndian.Uint64(text[4*4+1:])); lowest != 100 {
		t.Errorf("the lowest bound is %v", lowest)
	}
	back, err := feeestimate.Core31.Decode(bytes.NewReader(text))
	if err != nil || !bytes.Equal(back.Encode(), text) {
		t.Errorf("another file comes of it: %v", err)
	}
	if _, err := feeestimate.Core30.Decode(bytes.NewReader(text)); !errors.Is(err, feeestimate.ErrNewVersion) {
		t.Errorf("read as that of Core 30: %v", err)
	}
	old := experienced(1).Encode()
	if _, err := feeestimate.Core31.Decode(bytes.NewReader(old)); !errors.Is(err, feeestimate.ErrOldVersion) {
		t.Errorf("that of Core 30: %v", err)
	}
}

func TestRefusesFiles(t *testing.T) {
	text := experienced(2).Encode()
	change := func(at int, with ...byte) []byte {
		c := bytes.Clone(text)
		copy(c[at:], with)
		return c
	}
	number := func(at int, n uint32) []byte { return change(at, binary.LittleEndian.AppendUint32(nil, n)...) }
	double := func(at int, f float64) []byte {
		return change(at, binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))...)
	}
	const bounds = 5 * 4 // after the version, an unused number, three heights
	first := bounds + 1  // the count before it takes one byte
	last := first
	for math.Float64frombits(binary.LittleEndian.Uint64(text[last:])) != 1e99 {
		last += 8
	}
	decay := last + 8 // of the medium horizon
	for name, test := range map[string]struct {
		text []byte
		want error
	}{
		"nothing":                  {nil, feeestimate.ErrDamaged},
		"a later version":          {number(0, 149901), feeestimate.ErrNewVersion},
		"an old version":           {number(0, 149899), feeestimate.ErrOldVersion},
		"blocks that go back":      {number(12, 1000), feeestimate.ErrDamaged},
		"blocks after the last":    {number(16, 1000), feeestimate.ErrDamaged},
		"one bucket":               {change(bounds, 1), feeestimate.ErrDamaged},
		"too many buckets":         {change(bounds, 0xfe, 0xff, 0xff, 0xff, 0xff), feeestimate.ErrDamaged},
		"bounds that fall":         {double(first+8, 1), feeestimate.ErrDamaged},
		"a bound that is none":     {double(first, math.NaN()), feeestimate.ErrDamaged},
		"no decay":                 {double(decay, 1), feeestimate.ErrDamaged},
		"no scale":                 {number(decay+8, 0), feeestimate.ErrDamaged},
		"a scale that is too long": {number(decay+8, 43), feeestimate.ErrDamaged},
		"another number of rates":  {change(decay+12, 3), feeestimate.ErrDamaged},
		"a negative count":         {double(decay+13, -1), feeestimate.ErrDamaged},
		"an infinite one":          {double(decay+13, math.Inf(1)), feeestimate.ErrDamaged},
	} {
		if _, err := feeestimate.Core30.Decode(bytes.NewReader(test.text)); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for cut := 0; cut < len(text); cut += 1 + cut/50 {
		if _, err := feeestimate.Core30.Decode(bytes.NewReader(text[:cut])); !errors.Is(err, feeestimate.ErrDamaged) {
			t.Fatalf("cut off after %d bytes: %v", cut, err)
		}
	}
	failed := errors.New("the disk fails")
	torn := io.MultiReader(bytes.NewReader(text[:5000]), failing{failed})
	if _, err := feeestimate.Core30.Decode(torn); !errors.Is(err, failed) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// FuzzDecode: what is taken can be used and written, and is the same when it is read again.
func FuzzDecode(f *testing.F) {
	text := experienced(3).Encode()
	f.Add(text)
	f.Add(text[:30])
	f.Add(feeestimate.Core30.New().Encode())
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := feeestimate.Core30.Decode(bytes.NewReader(text))
		if err != nil {
			return
		}
		again := e.Encode()
		if !bytes.Equal(again[8:], text[8:len(again)]) {
			t.Error("another file comes of it")
		}
		for target := range 1010 {
			if target%97 < 3 {
				e.Smart(target, target%2 == 0)
			}
		}
		e.Connect(1<<30, nil)
		e.Add(id(1), 1<<30, 1<<50)
		e.Connect(1<<30+1, []chainhash.Hash{id(1)})
		e.Smart(1008, true)
	})
}

package arg_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// A scan object from anyone is refused in Core's words, or it has a range that
// descriptors expand.
func FuzzScanObject(f *testing.F) {
	for _, seed := range []string{
		`"raw(51)"`, `null`, `[]`, `{}`, `{"desc":5}`, `{"desc":"raw(51)"}`, `{"desc":"a","desc":5,"range":null}`,
		`{"desc":"a","range":1000}`, `{"desc":"a","range":-1}`, `{"desc":"a","range":[0,999999]}`,
		`{"desc":"a","range":[2147483647,2147483648]}`, `{"desc":"a","range":[1,9223372036854775807]}`,
		`{"desc":"a","range":[-9223372036854775808,9223372036854775807]}`, `{"desc":"a","range":[1e0,2]}`,
	} {
		f.Add(seed)
	}
	table, err := command.NewTable()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jsontree.Parse([]byte(text))
		if err != nil {
			return
		}
		o, err := arg.NewScanObject(v)
		if err != nil {
			if _, known := table.Reveal(err); !known {
				t.Errorf("error without words: %v", err)
			}
			return
		}
		if err := descriptor.CheckRange(int64(o.First), int64(o.Last)); err != nil {
			t.Errorf("range %d to %d: %v", o.First, o.Last, err)
		}
	})
}

// An annotated scan object from anyone is refused in words, or it has a gap that is taken.
func FuzzAnnotated(f *testing.F) {
	for _, seed := range []string{
		`"raw(51)?bh=1"`, `{"desc":"wpkh(x/*)?gl=30&bh=5"}`, `{"desc":"raw(51)?gl=1","gap":7}`, `"raw(51)?gl=100001"`,
		`"raw(51)?bh=99999999999999999999"`, `{"desc":"raw(51)","gap":0}`, `{"desc":"raw(51)?gl=0","gap":null}`,
	} {
		f.Add(seed)
	}
	table, err := command.NewTable()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := jsontree.Parse([]byte(text))
		if err != nil {
			return
		}
		o, a, err := arg.Annotated(v)
		gap := int32(0)
		if err == nil {
			gap, err = arg.Gap(v, a)
		}
		if err != nil {
			if _, known := table.Reveal(err); !known {
				t.Errorf("error without words: %v", err)
			}
			return
		}
		plain, err := arg.NewScanObject(v)
		if err != nil || !strings.HasPrefix(plain.Text, o.Text) || gap < 0 || gap > 100_000 {
			t.Errorf("%s: %+v with gap %d, %v", text, o, gap, err)
		}
		if o.Text == plain.Text && !a.IsZero() {
			t.Errorf("%s: %+v, %+v", text, o, a)
		}
		birth := arg.BirthHeight(jsontree.NewArray(v))
		if want := a.BirthHeight; birth < 0 || (want == nil || *want == 0) != (birth == 0) {
			t.Errorf("%s: birth %d, %+v", text, birth, a)
		}
	})
}

// The least height counts, if all objects tell.
func TestBirthHeight(t *testing.T) {
	for text, want := range map[string]int32{
		`[]`: 0, `null`: 0, `{}`: 0, `{"a":1}`: 0, `["raw(51)"]`: 0, `["raw(51)?bh=7"]`: 7,
		`["raw(51)?bh=7",{"desc":"raw(52)?gl=1&bh=5"}]`: 5, `["raw(51)?bh=7","raw(52)"]`: 0, `["raw(51)?bh=7",5]`: 0,
		`["raw(51)?bh=7","raw(52)?bh=x"]`: 0, `["raw(51)?bh=2147483648"]`: 1<<31 - 1, `["raw(51)?bh=0"]`: 0,
	} {
		v, err := jsontree.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := arg.BirthHeight(v); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

package arg_test

import (
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

package replay

import (
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// FuzzCompareBody: whatever comes back is compared, and any text is the same as
// itself, in any order too.
func FuzzCompareBody(f *testing.F) {
	f.Add(`{"a":[1,2,{"b":0.10}],"a":null}`, `{"a":[2,1,{"b":0.1}]}`)
	f.Add(`"x{{ANY}}y"`, `"xzy"`)
	f.Add(`{"error":{"code":-1,"message":"x"}}`, `[1e5]`)
	rules := []*Rules{
		{},
		{Error: "code"},
		{Error: "exists"},
		{Mode: "bytes"},
		{Unordered: []string{"", "/a"}},
		{Ignore: []string{"/a"}, Types: []string{"/*"}, Subset: []string{""}},
	}
	for _, r := range rules {
		if err := r.compile(); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, want, got string) {
		for _, r := range rules {
			CompareBody(want, got, r)
			if _, err := jsontree.Parse([]byte(want)); err != nil {
				continue
			}
			if diffs := CompareBody(want, want, r); len(diffs) > 0 {
				t.Errorf("%q is not itself: %v", want, diffs)
			}
		}
	})
}

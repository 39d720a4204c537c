package jsontree_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
)

func TestHex(t *testing.T) {
	none, some := jsontree.Hex(nil), jsontree.Hex{0, 0x7f, 0xff}
	shown := struct {
		Left   jsontree.Hex   `json:"left,omitempty"`
		None   jsontree.Hex   `json:"none"`
		Some   *jsontree.Hex  `json:"some,omitempty"`
		Empty  *jsontree.Hex  `json:"empty,omitempty"`
		Absent *jsontree.Hex  `json:"absent,omitempty"`
		List   []jsontree.Hex `json:"list"`
	}{None: none, Some: &some, Empty: &none, List: []jsontree.Hex{some, none}}
	got, err := jsontree.Append(nil, shown)
	const want = `{"none":"","some":"007fff","empty":"","list":["007fff",""]}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if some.String() != "007fff" {
		t.Errorf("got %v", some)
	}
}

// Long lists of elements of any size are written as encoding/json does, and take no more
// than twice what they need.
func TestLongLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, sizes := range []func(i int) int{
		func(int) int { return 300 },
		func(i int) int { return 100_000 / (i + 1) },
		func(i int) int { return i },
		func(int) int { return rng.IntN(3_000) },
	} {
		list := make([]string, 2_000)
		for i := range list {
			list[i] = strings.Repeat("x", sizes(i))
		}
		want, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jsontree.Append(nil, list)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%d bytes instead of %d, or others, %v", len(got), len(want), err)
		}
		if cap(got) > 2*len(got)+len(got)/8 {
			t.Error(fmt.Sprint("takes ", cap(got), " bytes for ", len(got)))
		}
	}
}

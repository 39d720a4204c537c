package widen_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/search/widen"
)

// Two descriptors may have the same script. The scripts that count are those of the least ranges, each with the first
// descriptor whose range has the index.
func TestRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const descriptors, indices = 3, 60
		gap := rapid.Int32Range(1, 6).Draw(t, "gap")
		script := func(number, index int32) []byte { // the second descriptor shares some with the first
			if number == 1 && index%3 == 0 {
				number, index = 0, index+1
			}
			return fmt.Appendf(nil, "script %d %d", number, index)
		}
		blocks := make([]map[string]bool, rapid.IntRange(1, 4).Draw(t, "blocks"))
		for i := range blocks {
			blocks[i] = map[string]bool{}
			for range rapid.IntRange(0, 8).Draw(t, "uses") {
				number := rapid.Int32Range(0, descriptors-1).Draw(t, "number")
				blocks[i][string(script(number, rapid.Int32Range(0, indices-10).Draw(t, "index")))] = true
			}
		}
		fixed := []byte("fixed")
		blocks[0][string(fixed)] = true

		var r widen.Rounds
		if r.Begun() {
			t.Fatal("a round has begun")
		}
		r.Begin(1)
		r.AddScripts(widen.Owner{Number: -1}, [][]byte{fixed, fixed})
		for range descriptors {
			r.Add(0, gap-1, gap)
		}
		added := 2
		for spans := r.Next(0); len(spans) > 0 || r.Begun(); spans = r.Next(0) {
			r.Begin(0)
			for _, s := range spans {
				for index := s.First; index <= s.Last; index++ {
					o := widen.Owner{Number: int32(s.Number), Index: index}
					r.AddScripts(o, [][]byte{script(o.Number, index)})
					added++
				}
			}
			q := r.Query()
			if len(r.Owners()) != q.Len() {
				t.Fatalf("%d owners of %d scripts", len(r.Owners()), q.Len())
			}
			var hashes []chainhash.Hash
			var uses [][]uint32
			for i, b := range blocks {
				var places []uint32
				for text := range b {
					if place, has := q.Place([]byte(text)); has {
						places = append(places, uint32(place))
					}
				}
				hashes, uses = append(hashes, chainhash.Hash{byte(i)}), append(uses, places)
			}
			if err := r.Take(q, hashes, uses, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			if r.Begun() {
				t.Fatal("the round was taken")
			}
		}
		if r.Scripts != added {
			t.Fatalf("%d scripts, want %d", r.Scripts, added)
		}

		used := func(number, index int32) bool {
			return slices.ContainsFunc(blocks, func(b map[string]bool) bool { return b[string(script(number, index))] })
		}
		want := map[string]bool{"0 fixed -1": true}
		seen := map[string]bool{}
		for number := range int32(descriptors) {
			var all []int32
			for index := range int32(indices) {
				if used(number, index) {
					all = append(all, index)
				}
			}
			last, highest := leastRange(0, gap-1, gap, all)
			if got := r.Range(int(number)); got.Last != last || got.HighestUsed != highest || got.Exhausted {
				t.Fatalf("descriptor %d: %+v, want up to %d", number, got, last)
			}
			for index := range last + 1 {
				text := string(script(number, index))
				if seen[text] {
					continue
				}
				seen[text] = true
				for i, b := range blocks {
					if b[text] {
						want[fmt.Sprintf("%d %s %d", i, text, number)] = true
					}
				}
			}
		}
		got := map[string]bool{}
		r.Found(func(block chainhash.Hash, s *widen.Sighting) {
			o, counts := r.OwnerOf(s)
			if !counts || !r.Counts(s) {
				t.Fatalf("%+v does not count", s)
			}
			number := o.Number
			if seen[string(s.Script)] { // the first descriptor of the two
				for n := range int32(descriptors) {
					if n < number && r.Has(int(n), o.Index+1) && string(script(n, o.Index+1)) == string(s.Script) {
						number = n
					}
				}
			}
			got[fmt.Sprintf("%d %s %d", block[0], s.Script, number)] = true
		})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

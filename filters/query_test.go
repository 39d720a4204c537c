package filters_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/filters"
)

func TestQuery(t *testing.T) {
	q := filters.NewQuery([][]byte{{1}, {2, 3}, {1}, {}, nil})
	if got := q.Len(); got != 3 {
		t.Errorf("got %d scripts, want 3", got)
	}
	for _, c := range []struct {
		script []byte
		want   bool
	}{{[]byte{1}, true}, {[]byte{2, 3}, true}, {nil, true}, {[]byte{2}, false}, {[]byte{1, 0}, false}} {
		if got := q.HasScript(c.script); got != c.want {
			t.Errorf("%x: got %v", c.script, got)
		}
	}
	if q := filters.NewQuery(nil); q.Len() != 0 || q.HasScript(nil) {
		t.Error("a query without scripts has one")
	}
}

func TestInBlock(t *testing.T) {
	raw := coinbaseBlock([][]byte{{0x51}, {0x6a, 1}, {}})
	spent := [][]byte{{0x52}, {0x6a, 2}}
	for _, c := range []struct {
		name    string
		scripts [][]byte
		want    filters.Presence
	}{
		{"none", nil, filters.Absent},
		{"an output", [][]byte{{0x51}}, filters.Indexed},
		{"an OP_RETURN output", [][]byte{{9}, {0x6a, 1}}, filters.Unindexed},
		{"an empty output", [][]byte{{}}, filters.Unindexed},
		{"both, and one that is spent", [][]byte{{}, {0x6a, 1}, {0x52}}, filters.Indexed},
		{"both, and an output", [][]byte{{}, {0x6a, 1}, {0x51}}, filters.Indexed},
		{"a spent output", [][]byte{{0x52}}, filters.Indexed},
		{"a spent OP_RETURN output", [][]byte{{0x6a, 2}}, filters.Indexed},
		{"a part of an output", [][]byte{{0x6a}}, filters.Absent},
		{"the signature script", [][]byte{{1, 2}}, filters.Absent},
	} {
		q := filters.NewQuery(c.scripts)
		if got, err := q.InBlock(raw, filters.HeaderLen, spent); got != (c.want != filters.Absent) || err != nil {
			t.Errorf("%s: got %v and %v", c.name, got, err)
		}
		if got, err := filters.NewBlockMatcher(q).Match(raw, filters.HeaderLen, spent); got != c.want || err != nil {
			t.Errorf("%s: matcher: got %v and %v", c.name, got, err)
		}
	}
	q := filters.NewQuery([][]byte{{9}})
	if _, err := q.InBlock(raw[:100], filters.HeaderLen, spent); !errors.Is(err, filters.ErrBadBlock) {
		t.Errorf("got %v, want ErrBadBlock", err)
	}
	_, err := filters.NewBlockMatcher(q).Match(raw[:100], filters.HeaderLen, spent)
	if !errors.Is(err, filters.ErrBadBlock) {
		t.Errorf("matcher: got %v, want ErrBadBlock", err)
	}
}

// manyScripts has more scripts than a query finds without marks and in one slab.
func manyScripts(n int) (scripts [][]byte) {
	for i := range n {
		script := binary.BigEndian.AppendUint32([]byte{0x00, 0x14, 21: 0}[:18], uint32(i))
		scripts = append(scripts, append(script, make([]byte, i%2*12)...)) // of 22 and of 34 bytes
	}
	return scripts
}

// A query is a map from scripts to the order in which they came first, of whatever lengths they are.
func TestQueryIsASet(t *testing.T) {
	base := manyScripts(40_000)
	rapid.Check(t, func(t *rapid.T) {
		list := slices.Clone(base[:rapid.SampledFrom([]int{0, 1, 100, 5_000, 40_000}).Draw(t, "base")])
		short := rapid.SliceOfN(rapid.Byte(), 0, 3)
		for range rapid.IntRange(0, 50).Draw(t, "more") {
			script := short.Draw(t, "script")
			list = append(list, bytes.Repeat(script, rapid.SampledFrom([]int{1, 1, 1, 9, 200}).Draw(t, "times")))
		}
		b := filters.NewQueryBuilder(rapid.IntRange(0, 10).Draw(t, "room"))
		places, scratch := map[string]int{}, make([]byte, 0, 600)
		for _, script := range list {
			scratch = append(scratch[:0], script...)
			_, known := places[string(script)]
			if b.Add(scratch) == known {
				t.Fatalf("%x: known before: %v", script, known)
			}
			if !known {
				places[string(script)] = len(places)
			}
		}
		for _, q := range []*filters.Query{filters.NewQuery(list), b.Query()} {
			checkSet(t, q, places)
			if other := short.Draw(t, "other"); q.HasScript(other) != hasKey(places, other) {
				t.Fatalf("%x is in it: %v", other, !hasKey(places, other))
			}
		}
	})
}

func hasKey(places map[string]int, script []byte) bool {
	_, has := places[string(script)]
	return has
}

func copies(scripts iter.Seq[[]byte]) (list [][]byte) {
	for script := range scripts {
		list = append(list, bytes.Clone(script))
	}
	return list
}

func checkSet(t *rapid.T, q *filters.Query, places map[string]int) {
	if q.Len() != len(places) {
		t.Fatalf("%d scripts, want %d", q.Len(), len(places))
	}
	for script, want := range places {
		if got, has := q.Place([]byte(script)); !has || got != want || !q.HasScript([]byte(script)) {
			t.Fatalf("%x: place %d, %v; want %d", script, got, has, want)
		}
	}
	var selected []uint32
	n, chosen := uint32(0), map[string]bool{}
	for script := range q.Scripts() {
		if !hasKey(places, script) {
			t.Fatalf("%x is not of the scripts", script)
		}
		if n%3 == 1 {
			selected, chosen[string(script)] = slices.Insert(selected, len(selected)/2, n), true
		}
		n++
	}
	if int(n) != len(places) {
		t.Fatalf("%d scripts are listed, want %d", n, len(places))
	}
	from := rapid.IntRange(0, len(places)+1).Draw(t, "from")
	all, rest := copies(q.Scripts()), copies(q.ScriptsFrom(from))
	if !slices.EqualFunc(rest, all[min(from, len(all)):], bytes.Equal) {
		t.Fatalf("from %d on there are %x of %x", from, rest, all)
	}
	some := q.Select(selected)
	if some.Len() != len(chosen) {
		t.Fatalf("%d scripts were selected, want %d", some.Len(), len(chosen))
	}
	for script := range some.Scripts() {
		if !chosen[string(script)] {
			t.Fatalf("%x was not selected", script)
		}
	}
}

// BlockMatcher and Query.InBlock agree on every block, for all scripts and numbers of scripts.
func TestBlockMatcher(t *testing.T) {
	many := manyScripts(20_000)
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string) (list [][]byte) {
			for range rapid.SampledFrom([]int{0, 1, 5, 255, 256, 257, 600}).Draw(t, name) {
				list = append(list, many[rapid.IntRange(0, len(many)-1).Draw(t, "script")])
			}
			odd := [][]byte{{}, {0x6a}, {0x6a, 7}, {0x51}}
			return append(list, odd[:rapid.IntRange(0, len(odd)).Draw(t, "odd")]...)
		}
		outputs, spent := some("outputs"), some("spent")
		var sought [][]byte
		sought = append(sought, many[:rapid.SampledFrom([]int{0, 1, 100, 10_000}).Draw(t, "sought")]...)
		sought = append(sought, some("more")...)
		q := filters.NewQuery(sought)
		want := filters.Absent
		for i, script := range slices.Concat(outputs, spent) {
			switch has := q.HasScript(script); {
			case has && len(script) > 0 && (i >= len(outputs) || script[0] != 0x6a):
				want = filters.Indexed
			case has:
				want = max(want, filters.Unindexed)
			}
		}
		raw := coinbaseBlock(outputs)
		got, err := filters.NewBlockMatcher(q).Match(raw, filters.HeaderLen, spent)
		if err != nil || got != want {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
		if in, err := q.InBlock(raw, filters.HeaderLen, spent); err != nil || in != (want != filters.Absent) {
			t.Fatalf("in the block: %v, %v", in, err)
		}
	})
}

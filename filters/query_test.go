package filters_test

import (
	"errors"
	"testing"

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
		want    bool
	}{
		{"none", nil, false},
		{"an output", [][]byte{{0x51}}, true},
		{"an OP_RETURN output", [][]byte{{9}, {0x6a, 1}}, true},
		{"an empty output", [][]byte{{}}, true},
		{"a spent output", [][]byte{{0x52}}, true},
		{"a spent OP_RETURN output", [][]byte{{0x6a, 2}}, true},
		{"a part of an output", [][]byte{{0x6a}}, false},
		{"the signature script", [][]byte{{1, 2}}, false},
	} {
		got, err := filters.NewQuery(c.scripts).InBlock(raw, filters.HeaderLen, spent)
		if got != c.want || err != nil {
			t.Errorf("%s: got %v and %v", c.name, got, err)
		}
	}
	_, err := filters.NewQuery([][]byte{{9}}).InBlock(raw[:100], filters.HeaderLen, spent)
	if !errors.Is(err, filters.ErrBadBlock) {
		t.Errorf("got %v, want ErrBadBlock", err)
	}
}

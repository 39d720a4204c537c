package e2e_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// Refusals have the right words and codes. Of two objects with the same script
// the first is named, and adding an object again changes nothing.
func TestSearchRefusals(t *testing.T) {
	t.Parallel()
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1", "-searchroom=1"}})
	d.Get(nil, "generatetodescriptor", 5, everybodys)
	const same = "addr(bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202)"
	named := map[string]any{"name": "shop", "follow": true}
	var made, again struct {
		ID      string
		Created bool
	}
	d.Get(&made, "createsearch", []string{everybodys, "raw(51)#8lvh9jxk", same}, named)
	d.Get(&again, "createsearch", []string{everybodys, "raw(51)#8lvh9jxk", same}, named)
	if !made.Created || again.Created || again.ID != made.ID {
		t.Errorf("the same twice: %+v, %+v", made, again)
	}
	for _, test := range []struct {
		want   string
		method string
		params []any
	}{
		{"-8: Search 'shop' exists and differs", "createsearch", []any{[]string{same}, named}},
		{"-8: ", "createsearch", []any{[]string{same}, map[string]any{"follow": true, "stop_height": 3}}},
		{"-8: ", "createsearch", []any{[]string{same}, map[string]any{"name": strings.Repeat("x", 201)}}},
		{"-8: Search not found", "getsearch", []any{"0123456789abcdef"}},
		{"-8: Search not found", "removesearch", []any{"no id"}},
		{"-8: limit must be 1 to 10000", "getsearchentries", []any{made.ID, "", 10_001}},
		{"-8: limit must be 1 to 10000", "getsearchentries", []any{made.ID, "", 0}},
	} {
		err := d.Call(t.Context(), nil, test.method, test.params...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %v: %v, want %s", test.method, test.params, err, test.want)
		}
	}
	d.Get(nil, "createsearch", []string{same}, map[string]any{"name": strings.Repeat("x", 200)})
	s := searcher{t: t, d: d, objects: []any{everybodys, same}, id: made.ID}
	s.check() // each entry names one of them
	before := s.cursor
	var st stateOfSearch
	d.Get(&st, "extendsearch", made.ID, []string{same, everybodys})
	if s.check(); st.Scripts != 2 || s.cursor != before {
		t.Errorf("after objects that were there: %+v", st)
	}
}

type stateOfSearch struct{ Scripts int }

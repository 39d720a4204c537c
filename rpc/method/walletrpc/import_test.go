package walletrpc_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/messages"
)

const (
	fixedDesc = "raw(51)#8lvh9jxk"
	rangeDesc = "wpkh(tpubD6NzVbkrYhZ4XqsQLsvaubrz9UoDAsWK7fXZxmQ3aGAr4J1TcWiJvS61ysaEGXNLpMRjrGRQrB1VhhVoqotrpF8vR4xY2TrFCiKdXJ34fXF/0/*)"
	pairDesc  = "wpkh(tpubD6NzVbkrYhZ4XqsQLsvaubrz9UoDAsWK7fXZxmQ3aGAr4J1TcWiJvS61ysaEGXNLpMRjrGRQrB1VhhVoqotrpF8vR4xY2TrFCiKdXJ34fXF/<0;1>/*)"
)

func jsonOf(tb testing.TB, v any) string {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text) + fmt.Sprintf("%v %+v %#v", v, v, v)
}

// TestImportItems reads items to import. A member is read only if Core would
// have read the member.
func TestImportItems(t *testing.T) {
	ranged, pair := descriptor.AddChecksum(rangeDesc), descriptor.AddChecksum(pairDesc)
	type item = messages.ImportItem
	tests := []struct {
		name, json string
		want       item
	}{
		{"no descriptor", `{"timestamp": 5, "active": 5}`, item{Timestamp: 5, NoDesc: true}},
		{"now", `{"timestamp": "now", "desc": "` + fixedDesc + `"}`, item{
			Timestamp: messages.NowTimestamp, Desc: fixedDesc,
		}},
		{"negative time", `{"timestamp": -5, "desc": "` + fixedDesc + `"}`, item{Timestamp: -5, Desc: fixedDesc}},
		{
			"does not parse", `{"timestamp": 0, "desc": "x", "active": true, "label": "l", "internal": 5, "range": 1.5, "next_index": "x"}`,
			item{Desc: "x", Active: true, Label: new("l")},
		},
		{
			"label for all", `{"timestamp": 0, "desc": "` + ranged + `", "label": "*", "internal": 5, "range": 1.5}`,
			item{Desc: ranged, Label: new("*")},
		},
		{"null label", `{"timestamp": 0, "desc": "` + fixedDesc + `", "label": null}`, item{Desc: fixedDesc, Label: new("")}},
		{"internal", `{"timestamp": 0, "desc": "` + fixedDesc + `", "internal": true}`, item{Desc: fixedDesc, Internal: new(true)}},
		{"not internal", `{"timestamp": 0, "desc": "` + fixedDesc + `", "internal": false}`, item{Desc: fixedDesc, Internal: new(false)}},
		{
			"internal with two paths", `{"timestamp": 0, "desc": "` + pair + `", "internal": 5, "range": "x"}`,
			item{Desc: pair, Internal: new(false)},
		},
		{
			"range for one script", `{"timestamp": 0, "desc": "` + fixedDesc + `", "range": "x", "next_index": "x"}`,
			item{Desc: fixedDesc, Range: new([2]int64)},
		},
		{"next index for one script", `{"timestamp": 0, "desc": "` + fixedDesc + `", "next_index": "x"}`, item{Desc: fixedDesc}},
		{"end of range", `{"timestamp": 0, "desc": "` + ranged + `", "range": 7}`, item{Desc: ranged, Range: &[2]int64{0, 7}}},
		{
			"range", `{"timestamp": 0, "desc": "` + ranged + `", "range": [3, 7], "next_index": 9}`,
			item{Desc: ranged, Range: &[2]int64{3, 7}, NextIndex: new(int64(9))},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			w := r.load("a", plain)
			check[messages.ImportDescriptors](t, r, w, nil, []request{
				{"importdescriptors", `[[` + test.json + `]]`, messages.ImportDescriptors{Items: []item{test.want}}},
			})
		})
	}
}

// TestImportRanges has ranges that make no sense, each the fault of its own
// descriptor, and numbers that are none, which end the call.
func TestImportRanges(t *testing.T) {
	ranged := descriptor.AddChecksum(rangeDesc)
	r := newRig(t)
	w := r.load("a", plain)
	gives[messages.ImportDescriptors](w, nil, nil)
	for text, want := range map[string]string{
		`"x"`:          "Range must be specified as end or as [begin,end]",
		`null`:         "Range must be specified as end or as [begin,end]",
		`[1]`:          "Range must be specified as end or as [begin,end]",
		`[2, 1]`:       "Range specified as [begin,end] must not have begin after end",
		`[-1, 1]`:      "Range should be greater or equal than 0",
		`2147483648`:   "End of range is too high",
		`[0, 1000000]`: "Range is too large",
	} {
		r.call(nil, "importdescriptors", `[[{"timestamp": 0, "desc": "`+ranged+`", "range": `+text+`, "next_index": "x"}]]`)
		got := asked[messages.ImportDescriptors](w).Items[0]
		if got.RangeErr == nil || got.RangeErr.Error() != want || got.NextIndex != nil {
			t.Errorf("range %s: got %+v, want %s", text, got, want)
		}
	}
	for _, members := range []string{`"range": 1.5`, `"range": [1, 1.5]`, `"range": 1, "next_index": 1.5`} {
		got := r.call(nil, "importdescriptors", `[[{"timestamp": 0, "desc": "`+ranged+`", `+members+`}]]`)
		if got != `{"code":-1,"message":"JSON integer out of range"}` {
			t.Errorf("%s: got %s", members, got)
		}
	}
}

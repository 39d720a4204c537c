package labels_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed61375155/trawl/rpc/method/walletrpc/internal/labels"
)

func TestLines(t *testing.T) {
	no := false
	all := []labels.Label{
		{Type: labels.Tx, Ref: "f91d", Label: "Transaction"},
		{Type: labels.Address, Ref: "bc1q", Label: ""},
		{Type: labels.Output, Ref: "f91d:1", Label: "\"o\"\n", Spendable: &no},
		{Type: labels.Output, Ref: "f91d:2", Spendable: &no},
	}
	const want = `{"type":"tx","ref":"f91d","label":"Transaction"}
{"type":"addr","ref":"bc1q","label":""}
{"type":"output","ref":"f91d:1","label":"\"o\"\n","spendable":false}
{"type":"output","ref":"f91d:2","spendable":false}
`
	var raw []byte
	for i := range all {
		raw = labels.Append(raw, &all[i])
	}
	if string(raw) != want {
		t.Errorf("%s", raw)
	}
	got, err := labels.Parse("\r\n" + want + "\n  ")
	if err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%+v, %v", got, err)
	}
	const foreign = `{ "type": "xpub", "ref": "xpub6", "label": null, "origin": "wpkh([d3/84'])", "more": [1] }`
	other, err := labels.Parse(foreign)
	if err != nil || len(other) != 1 || other[0] != (labels.Label{Type: labels.XPub, Ref: "xpub6"}) {
		t.Errorf("%+v, %v", other, err)
	}
}

func TestNoLines(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                                 "line 1: not a label of BIP329: it is no object of JSON",
		"\n[]":                              "line 2: not a label of BIP329: it is no object of JSON",
		`{"ref":"a"}`:                       "line 1: not a label of BIP329: it has no type",
		`{"type":1,"ref":"a"}`:              "line 1: not a label of BIP329: it has no type",
		`{"type":"tx","ref":""}`:            "line 1: not a label of BIP329: it has no ref",
		`{"type":"tx","ref":"a","label":1}`: "line 1: not a label of BIP329: its label is no text",
		`{"type":"tx","ref":"a","spendable":1}`: "line 1: not a label of BIP329: " +
			"its spendable is neither true nor false",
		"{\"type\":\"tx\",\"ref\":\"a\"}\n{}": "line 2: not a label of BIP329: it has no type",
	} {
		if _, err := labels.Parse(text); !errors.Is(err, labels.ErrLine) || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Written labels are read again.
func TestReadAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	text := func() string {
		s := make([]rune, r.IntN(8))
		for i := range s {
			s[i] = []rune{'a', '"', '\\', '\n', '\r', 0, 0x2028, '😀', 0x7f}[r.IntN(9)]
		}
		return string(s)
	}
	for range 2000 {
		var all []labels.Label
		var raw []byte
		for i := range r.IntN(5) {
			l := labels.Label{Type: labels.Type("t" + text()), Ref: fmt.Sprint(i, text()), Label: text()}
			if r.IntN(2) == 0 {
				spendable := r.IntN(2) == 0
				l.Spendable = &spendable
			}
			all = append(all, l)
			raw = labels.Append(raw, &l)
		}
		if got, err := labels.Parse(string(raw)); err != nil || !reflect.DeepEqual(got, all) {
			t.Fatalf("%s: %+v, %v", raw, got, err)
		}
	}
}

// Labels that were read and written are read as the same.
func FuzzParse(f *testing.F) {
	f.Add(`{"type":"output","ref":"f91d:1","label":"x","spendable":false}`)
	f.Add("\n{\"type\":\"addr\",\"ref\":\"a\"}\r\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := labels.Parse(text)
		if err != nil {
			if !errors.Is(err, labels.ErrLine) {
				t.Fatal(err)
			}
			return
		}
		var raw []byte
		for i := range all {
			raw = labels.Append(raw, &all[i])
		}
		if again, err := labels.Parse(string(raw)); err != nil || !reflect.DeepEqual(again, all) {
			t.Fatalf("%q, then %s, %v", text, raw, err)
		}
	})
}

package descriptor_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

const (
	annotatedKey = "[deadbeef/84h/0h/0h]xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHW" +
		"kY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL/0/*"
	annotatedTaproot = "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yf" +
		"dDEHGCtMMj92pReUsQ/0/*"
	annotatedPublic = "wpkh(0260b2003c386519fc9eadf2b5cf124dd8eea4c4e68d5e154050a9346ea98ce600)"
)

// told returns the values of annotations, -1 where there is none.
func told(a descriptor.Annotations) (values [3]int64) {
	for i, v := range []*uint64{a.BirthHeight, a.GapLimit, a.MaxLabel} {
		if values[i] = -1; v != nil {
			values[i] = int64(min(*v, math.MaxInt64))
		}
	}
	return values
}

// TestAnnotations holds the test vectors of BIP393 and the form of each part.
func TestAnnotations(t *testing.T) {
	plain := "wpkh(" + annotatedKey + ")"
	for _, c := range []struct {
		text, plain string
		told        [3]int64
	}{
		{plain + "?bh=800000&gl=30#v35n46d2", plain, [3]int64{800000, 30, -1}},
		{plain + "#kf3v6fpx", plain + "#kf3v6fpx", [3]int64{-1, -1, -1}},
		{annotatedPublic + "?bh=150000#8kehtsrj", annotatedPublic, [3]int64{150000, -1, -1}},
		{
			"tr(" + annotatedTaproot + ")?bh=709632&gl=20#6la5jcn3",
			"tr(" + annotatedTaproot + ")", [3]int64{709632, 20, -1},
		},
		{"raw(51)?ml=0&gl=2&bh=0", "raw(51)", [3]int64{0, 2, 0}},
		{"raw(51)?zz=7&bh=1&whatever=0", "raw(51)", [3]int64{1, -1, -1}},
		{"raw(51)?bh=99999999999999999999999", "raw(51)", [3]int64{math.MaxInt64, -1, -1}},
		// Texts that Parse refuses in its own words.
		{plain + "?bh=800000&gl=31#v35n46d2", plain + "?bh=800000&gl=31#v35n46d2", [3]int64{-1, -1, -1}},
		{"raw(51)?bh=1#", "raw(51)?bh=1#", [3]int64{-1, -1, -1}},
		{"raw(51)#)?bh=1", "raw(51)#)?bh=1", [3]int64{-1, -1, -1}},
		{"raw(51)?bh=\x00", "raw(51)?bh=\x00", [3]int64{-1, -1, -1}},
		{"raw(51?bh=1)", "raw(51?bh=1)", [3]int64{-1, -1, -1}},
		{"sh(raw(51)?bh=1)", "sh(raw(51)?bh=1)", [3]int64{-1, -1, -1}},
		{"", "", [3]int64{-1, -1, -1}},
	} {
		got, a, err := descriptor.CutAnnotations(c.text)
		if err != nil || got != c.plain || told(a) != c.told || a.IsZero() != (c.told == [3]int64{-1, -1, -1}) {
			t.Errorf("%s: got %s, %v, %v", c.text, got, told(a), err)
		}
		if got == c.text {
			continue
		}
		var read descriptor.Annotations
		branches, err := descriptor.Parse(c.text, nil, descriptor.Options{Annotations: &read})
		if err != nil || told(read) != c.told || branches[0].String() != descriptor.AddChecksum(c.plain) {
			t.Errorf("%s: read %v, %v", c.text, told(read), err)
		}
	}
	for _, tail := range []string{
		// The BIP's.
		"?Bh=1", "?bh=", "?bh", "?bh=-1", "?bh=abc", "?bh=01", "?=100", "?bh=1&", "?", "?bh=1&bh=2", "?bh=1?gl=2",
		"?&bh=1", "?bh=1&&gl=2", "?bh==1", "?bh=+1", "?bh=1 ", "?b1=1", "?bh=1=1", "?zz=1&zz=2", "?zz=x",
	} {
		for _, text := range []string{"raw(deadbeef)" + tail, descriptor.AddChecksum("raw(deadbeef)" + tail)} {
			got, a, err := descriptor.CutAnnotations(text)
			if _, ok := errors.AsType[*descriptor.ParseError](err); !ok || got != text || !a.IsZero() {
				t.Errorf("%s: got %s, %v, %v", text, got, told(a), err)
			}
			if _, err := descriptor.Parse(text, nil, descriptor.Options{}); err == nil {
				t.Errorf("%s is a descriptor", text)
			}
		}
	}
}

// Annotations are cut off, and no others remain.
func FuzzCutAnnotations(f *testing.F) {
	f.Add("wpkh(" + annotatedKey + ")?bh=800000&gl=30#v35n46d2")
	f.Add("raw(51)?bh=1&zz=2")
	f.Add("raw(51)?bh=1?")
	f.Add("raw(51)")
	f.Fuzz(func(t *testing.T, text string) {
		var a descriptor.Annotations
		plain, cut, err := descriptor.CutAnnotations(text)
		branches, wrong := descriptor.Parse(text, nil, descriptor.Options{Annotations: &a})
		if err != nil || plain == text {
			if plain != text || !cut.IsZero() || err != nil && wrong == nil || wrong == nil && !a.IsZero() {
				t.Fatalf("%q: %q, %v, %v", text, plain, err, wrong)
			}
			return
		}
		if tail := strings.TrimPrefix(text, plain); tail == text || tail[0] != '?' || told(a) != told(cut) {
			t.Fatalf("%q: %q", text, plain)
		}
		same, also := descriptor.Parse(plain, nil, descriptor.Options{})
		if (wrong == nil) != (also == nil) || wrong == nil && same[0].String() != branches[0].String() {
			t.Fatalf("%q: %v, %v", text, wrong, also)
		}
	})
}

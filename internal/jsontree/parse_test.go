package jsontree

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"scalars", `[null,true,false,0,"x"]`, `[null,true,false,0,"x"]`},
		{"empty", ` { "a" : [ ] , "b" : { } } `, `{"a":[],"b":{}}`},
		{"order and duplicates", `{"b":1,"a":2,"b":3}`, `{"b":1,"a":2,"b":3}`},
		{"number text", `[-0,1.0,1E5,1e-400,99999999999999999999.10]`, `[-0,1.0,1E5,1e-400,99999999999999999999.10]`},
		{"escapes", `"\"\\\/\b\f\n\r\t\u0041\u001f"`, `"\"\\/\b\f\n\r\tA\u001f"`},
		{"DEL is escaped", "\"\x7f\"", `"\u007f"`},
		{"not HTML", `"<>&\u2028"`, "\"<>&\u2028\""},
		{"surrogates", `"\ud83d\ude00\ud840\udc00"`, `"😀𠀀"`},
		{"surrogates as bytes", "\"\xed\xa0\xbd\xed\xb8\x80\"", `"😀"`},
		{"overlong", "\"\xc1\x81\xe0\x80\xaf\xc0\x80\"", `"A/\u0000"`},
		{"beyond Unicode", "\"\xf4\x90\x80\x80\"", "\"\xf4\x90\x80\x80\""},
		{"lone minus", ` -`, `-`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v, err := Parse([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := v.String(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "{", "}", "[", "]", "nul", "nulll", "NaN", "+1", "01", "-01", "00", "1.", ".5", "1e", "1e+", "0x1",
		"- ", "[-]", "{} {}", "{},", "[1,]", "[,1]", "[1 2]", "{'a':1}", "{a:1}", `{"a"}`, `{"a":}`, `{"a":1,}`,
		"\xef\xbb\xbf{}", "{}\x00", "\x00", "\"\x01\"", "\"\t\"", `"\x"`, `"\u12"`, `"\u12g4"`, `"\u+123"`, `"`, `"\`,
		`"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ud83dx"`, "\"\xff\"", "\"\x80\"", "\"\xc3(\"", "\"\xe2\x82\"",
		"\"\xed\xa0\x80\"", "// c\n1", "\v1",
	} {
		if v, err := Parse([]byte(text)); !errors.Is(err, ErrSyntax) {
			t.Errorf("%q: got %v, %v", text, v, err)
		}
	}
}

func TestParseDepth(t *testing.T) {
	for _, test := range []struct {
		name, open, inside, end string
	}{
		{"arrays", "[", "", "]"},
		{"arrays with a number", "[", "1", "]"},
		{"objects", `{"a":`, "1", "}"},
		{"objects with an empty one", `{"a":`, "{}", "}"},
	} {
		extra := strings.Count(test.inside, "{")
		for depth, want := range map[int]error{
			maxDepth - extra: nil, maxDepth - extra + 1: ErrSyntax, 100_000: ErrSyntax,
		} {
			text := strings.Repeat(test.open, depth) + test.inside + strings.Repeat(test.end, depth)
			if _, err := Parse([]byte(text)); !errors.Is(err, want) {
				t.Errorf("%s, %d deep: got %v, want %v", test.name, depth, err, want)
			}
		}
	}
}

func TestAccess(t *testing.T) {
	v, err := Parse([]byte(`{"a":[1,"x"],"b":null,"a":2}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Get("a").String(); got != `[1,"x"]` {
		t.Errorf("the first of two members wins, got %s", got)
	}
	if v.Get("b") == nil || !v.Get("b").IsNull() || v.Get("c") != nil || !v.Get("c").IsNull() {
		t.Error("null is a member, an absent one reads as null")
	}
	if v.Len() != 3 || v.At(2).Text() != "2" || v.At(3) != nil || v.At(-1) != nil {
		t.Error("members by index")
	}
	for range v.Get("b").Elements() {
		t.Error("null has elements")
	}
	for range v.Get("a").Members() {
		t.Error("an array has members")
	}
}

// FuzzParse compares with encoding/json where the two should agree, and
// checks that what is printed reads back as the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+7,"\ud83d\ude00"],"b":{"a":null}}`, `[[[]]]`, `"\u0000"`, `-`, "\"\xc0\x80\"", "\"\xf4\x90\x80\x80\"",
		`"\ud83dx"`, ` {} `, `[1,]`, `{"a":1,"a":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v, err := Parse(src)
		if utf8.Valid(src) && !surrogate(src) {
			if valid := json.Valid(src); valid != (err == nil) && !lenient(src) {
				t.Fatalf("%q: got %v, encoding/json says %v", src, err, valid)
			}
		}
		if err != nil {
			return
		}
		text := v.String()
		if text == "-" {
			return
		}
		again, err := Parse([]byte(text))
		if err != nil || again.String() != text {
			t.Fatalf("%q printed as %q reads as %v, %v", src, text, again, err)
		}
		if pretty, err := Parse([]byte(v.Indent(2))); err != nil || pretty.String() != text {
			t.Fatalf("%q indented reads as %v, %v", src, pretty, err)
		}
	})
}

// surrogate reports whether src may hold half a surrogate pair, which
// encoding/json replaces and Core refuses.
func surrogate(src []byte) bool { return strings.Contains(strings.ToLower(string(src)), `\ud`) }

// lenient reports the two texts where Core differs on purpose: deep nesting,
// and a minus sign at the very end.
func lenient(src []byte) bool {
	text := strings.TrimSpace(string(src))
	return text == "-" || strings.Count(text, "[")+strings.Count(text, "{") > maxDepth
}

package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

func canonical(tb testing.TB, text string) (string, error) {
	tb.Helper()
	v, err := Parse([]byte(text))
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	out, err := v.AppendCanonical(nil)
	return string(out), err
}

func TestCanonicalForm(t *testing.T) {
	for text, want := range map[string]string{
		`null`:  `null`,
		`[ ]`:   `[]`,
		`{ }`:   `{}`,
		`true`:  `true`,
		`false`: `false`,
		`{"b": [1.0, -0, 1E2], "a": {"y": null, "x": 2}}`: `{"a":{"x":2,"y":null},"b":[1,0,100]}`,
		`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`: `"€$\u000f\nA'B\"\\\\\"/"`,
		`"\b\f\n\r\t\u0000\u007f"`:                        "\"\\b\\f\\n\\r\\t\\u0000\x7f\"",
		`"\\u007f"`:                                       `"\\u007f"`,
		// RFC 8785, section 3.2.3.
		`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
			`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`: `{"\r":` +
			`"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis",` +
			`"€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
	} {
		if got, err := canonical(t, text); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{`{"a":1,"a":2}`, `1e999`, `[{"b":-1e400}]`, "\"\xf7\xbf\xbf\xbf\""} {
		if got, err := canonical(t, text); !errors.Is(err, ErrNotCanonical) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// Numbers of RFC 8785, appendix B.
func TestCanonicalNumbers(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324", 0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308", 0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992", 0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22", 0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23", 0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000", 0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7", 0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332", 0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333", 0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343", 0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		text := strconv.FormatFloat(math.Float64frombits(bits), 'e', 20, 64)
		if got, err := canonical(t, text); err != nil || got != want {
			t.Errorf("%x: %s, %v, want %s", bits, got, err, want)
		}
	}
}

// Keys come in the order of their UTF-16 units.
func TestCanonicalOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var keys []string
		for range 2 + r.IntN(6) {
			var key []rune
			for range 1 + r.IntN(2) {
				key = append(key, []rune{'a', 'é', 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff}[r.IntN(7)])
			}
			if !slices.Contains(keys, string(key)) {
				keys = append(keys, string(key))
			}
		}
		v := NewObject()
		for _, key := range keys {
			v.Add(key, NewNull())
		}
		slices.SortFunc(keys, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		got, err := v.AppendCanonical(nil)
		want := `{"` + strings.Join(keys, `":null,"`) + `":null}`
		if err != nil || string(got) != want {
			t.Fatalf("%s, %v, want %s", got, err, want)
		}
	}
}

// The canonical form says the same, is its own canonical form, and does not depend on the order of members.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,2.50,{"d":"\u007f","c":null}],"a":-0.0000001}`, `"\ud83d\ude00"`, `1e21`, `{"":{"\u0000":[]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := Parse(raw)
		if err != nil {
			return
		}
		out, err := v.AppendCanonical(nil)
		if err != nil {
			if !errors.Is(err, ErrNotCanonical) {
				t.Fatal(err)
			}
			return
		}
		again, err := Parse(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if second, err := again.AppendCanonical(nil); err != nil || !bytes.Equal(second, out) {
			t.Fatalf("%s, then %s, %v", out, second, err)
		}
		turned := reversed(again)
		if second, err := turned.AppendCanonical(nil); err != nil || !bytes.Equal(second, out) {
			t.Fatalf("%s, turned around %s, %v", out, second, err)
		}
		var was, is any
		if json.Unmarshal(raw, &was) != nil { // Parse accepts more
			return
		}
		if err := json.Unmarshal(out, &is); err != nil || !reflect.DeepEqual(was, is) {
			t.Fatalf("%s says another thing than %s (%v)", out, raw, err)
		}
	})
}

// reversed returns a value with the members of all objects in the other order.
func reversed(v *Value) *Value {
	switch v.Kind() {
	case Array:
		list := NewArray()
		for _, e := range v.Elements() {
			list.Append(reversed(e))
		}
		return list
	case Object:
		o := NewObject()
		for i := v.Len() - 1; i >= 0; i-- {
			o.Add(v.box.keys[i], reversed(&v.box.values[i]))
		}
		return o
	default:
		return v
	}
}

package replay

import (
	"slices"
	"testing"
)

func TestCompareBody(t *testing.T) {
	tests := []struct {
		name      string
		rules     Rules
		want, got string
		kinds     []DiffKind
	}{
		{"same", Rules{}, `{"a":[1,true,null,"x"]}`, `{"a":[1,true,null,"x"]}`, nil},
		{"white space does not count", Rules{}, "{\"a\":1}\n", ` {"a" : 1}`, nil},
		{"another string", Rules{}, `"a"`, `"b"`, []DiffKind{Value}},
		{"another bool", Rules{}, `true`, `false`, []DiffKind{Value}},
		{"another kind", Rules{}, `{"a":1}`, `{"a":"1"}`, []DiffKind{Type}},
		{"null is a kind", Rules{}, `{"a":null}`, `{"a":false}`, []DiffKind{Type}},
		{"another number", Rules{}, `1`, `2`, []DiffKind{Value}},
		{"another text of a number", Rules{}, `0.10000000`, `0.1`, []DiffKind{NumberText}},
		{"exponents", Rules{}, `1e2`, `100`, []DiffKind{NumberText}},
		{"exponent beyond all bounds", Rules{}, `1e99999999999`, `2`, []DiffKind{Value}},
		{"member is missing", Rules{}, `{"a":1,"b":2}`, `{"a":1}`, []DiffKind{Missing}},
		{"member is too many", Rules{}, `{"a":1}`, `{"a":1,"b":2}`, []DiffKind{Extra}},
		{"members in another order", Rules{}, `{"a":1,"b":2}`, `{"b":2,"a":1}`, []DiffKind{KeyOrder}},
		{"order of common members", Rules{}, `{"a":1,"b":2,"c":3}`, `{"b":2,"a":1}`, []DiffKind{Missing, KeyOrder}},
		{"duplicate keys", Rules{}, `{"a":1,"a":2}`, `{"a":1,"a":2}`, nil},
		{"second of two keys", Rules{}, `{"a":1,"a":2}`, `{"a":1,"a":3}`, []DiffKind{Value}},
		{"one of two keys", Rules{}, `{"a":1,"a":1}`, `{"a":1}`, []DiffKind{Value}},
		{"elements in another order", Rules{}, `[1,2,3]`, `[3,1,2]`, []DiffKind{Order}},
		{"other elements", Rules{}, `[1,2,3]`, `[1,5,4]`, []DiffKind{Value, Value}},
		{"number text in an array", Rules{}, `[1.0,2]`, `[1,2]`, []DiffKind{NumberText}},
		{"too few elements", Rules{}, `[1,2]`, `[1]`, []DiffKind{Length}},

		{"ignored place", Rules{Ignore: []string{"/a"}}, `{"a":1,"b":2}`, `{"a":"x","b":2}`, nil},
		{"ignored place that is absent", Rules{Ignore: []string{"/a"}}, `{"a":1,"b":2}`, `{"b":2}`, nil},
		{"ignored place that is new", Rules{Ignore: []string{"/a"}}, `{"b":2}`, `{"a":1,"b":2}`, nil},
		{"ignored in every element", Rules{Ignore: []string{"/*/t"}}, `[{"t":1},{"t":2}]`, `[{"t":3},{"t":4}]`, nil},
		{"not ignored one level below", Rules{Ignore: []string{"/a"}}, `{"b":{"a":1}}`, `{"b":{"a":2}}`, []DiffKind{Value}},
		{"kind alone", Rules{Types: []string{"/a"}}, `{"a":1}`, `{"a":2}`, nil},
		{"kind alone, another one", Rules{Types: []string{"/a"}}, `{"a":1}`, `{"a":"1"}`, []DiffKind{Type}},
		{"multiset", Rules{Unordered: []string{""}}, `[1,2,2]`, `[2,1,2]`, nil},
		{"multiset, another count", Rules{Unordered: []string{""}}, `[1,2,2]`, `[1,1,2]`, []DiffKind{Missing, Extra}},
		{"multiset, another length", Rules{Unordered: []string{"/a"}}, `{"a":[1]}`, `{"a":[1,2]}`, []DiffKind{Length, Extra}},
		{"multiset, number text", Rules{Unordered: []string{""}}, `[1.0,2]`, `[2,1]`, []DiffKind{NumberText}},
		{"more members", Rules{Subset: []string{""}}, `{"a":1}`, `{"b":2,"a":1}`, nil},
		{"more members and one less", Rules{Subset: []string{""}}, `{"a":1}`, `{"b":2}`, []DiffKind{Missing}},

		{"message", Rules{}, `{"error":{"code":-1,"message":"x"}}`, `{"error":{"code":-1,"message":"y"}}`, []DiffKind{Value}},
		{"code alone", Rules{Error: "code"}, `{"error":{"code":-1,"message":"x"}}`, `{"error":{"code":-1,"message":"y"}}`, nil},
		{
			"code alone, another one",
			Rules{Error: "code"},
			`{"error":{"code":-1,"message":"x"}}`,
			`{"error":{"code":-2,"message":"x"}}`,
			[]DiffKind{Value},
		},
		{"code alone in a batch", Rules{Error: "code"}, `[{"error":{"code":-1,"message":"x"}}]`, `[{"error":{"code":-1,"message":"y"}}]`, nil},
		{"some error", Rules{Error: "exists"}, `{"error":{"code":-1}}`, `{"error":{"code":-2}}`, nil},
		{"no error", Rules{Error: "exists"}, `{"error":{"code":-1}}`, `{"error":null}`, []DiffKind{Value}},
		{"some error, but none is expected", Rules{Error: "exists"}, `{"result":1}`, `{"result":2}`, []DiffKind{Value}},

		{"placeholder", Rules{}, `{"a":"no {{ANY}} in {{ANY}}."}`, `{"a":"no file in /x."}`, nil},
		{"placeholder, another end", Rules{}, `{"a":"no {{ANY}}."}`, `{"a":"no file"}`, []DiffKind{Value}},

		{"bytes", Rules{Mode: "bytes"}, `{"a":1}`, `{"a": 1}`, []DiffKind{Body}},
		{"status", Rules{Mode: "status"}, `1`, `2`, nil},
		{"any reply", Rules{Mode: "any"}, ``, `{"error":{}}`, nil},
		{"any reply, none", Rules{Mode: "any"}, ``, `[]`, []DiffKind{Body}},
		{"any reply, no JSON", Rules{Mode: "any"}, ``, ``, []DiffKind{Body}},
		{"empty", Rules{}, ``, "\n", nil},
		{"not empty", Rules{}, ``, `1`, []DiffKind{Body}},
		{"text", Rules{}, `<html>`, `<html>`, nil},
		{"another text", Rules{}, `<html>`, `{}`, []DiffKind{Body}},
		{"not JSON", Rules{}, `{}`, `{`, []DiffKind{Body}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := test.rules.compile(); err != nil {
				t.Fatal(err)
			}
			diffs := CompareBody(test.want, test.got, &test.rules)
			if kinds := kindsOf(diffs); !slices.Equal(kinds, test.kinds) {
				t.Errorf("got %v\nwant %v", diffs, test.kinds)
			}
		})
	}
}

func kindsOf(diffs []Diff) []DiffKind {
	var kinds []DiffKind
	for _, d := range diffs {
		kinds = append(kinds, d.Kind)
	}
	return kinds
}

func TestPaths(t *testing.T) {
	diffs := CompareBody(`{"a":[{"b":1},{"b":2}],"c":1}`, `{"a":[{"b":1},{"b":3}],"c":2}`, &Rules{})
	if len(diffs) != 2 || diffs[0].Path != "/a/1/b" || diffs[1].Path != "/c" {
		t.Errorf("got %v", diffs)
	}
}

func TestMatches(t *testing.T) {
	tests := []struct {
		want, got string
		matches   bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{anyText, "", true},
		{anyText, "a\nb", true},
		{"a" + anyText, "a", true},
		{"a" + anyText + "a", "a", false},
		{"a" + anyText + "b" + anyText + "c", "a-b-c", true},
		{"a" + anyText + "b" + anyText + "c", "a-c", false},
		{"a" + anyText + "b" + anyText + "bc", "abc", false},
		{"(" + anyText, "(x", true},
	}
	for _, test := range tests {
		if got := matches(test.want, test.got); got != test.matches {
			t.Errorf("%q, %q: got %t", test.want, test.got, got)
		}
	}
}

func TestSameNumber(t *testing.T) {
	tests := []struct {
		a, b string
		same bool
	}{
		{"0", "-0.00", true},
		{"0", "0e99", true},
		{"10", "1e1", true},
		{"10", "1E+1", true},
		{"0.001", "1e-3", true},
		{"100.10", "100.1", true},
		{"1", "-1", false},
		{"1", "10", false},
		{"0.1", "0.01", false},
		{"9007199254740993", "9007199254740992", false},
		{"1e9999999999", "1e9999999999", false},
	}
	for _, test := range tests {
		if got := sameNumber(test.a, test.b); got != test.same {
			t.Errorf("%s, %s: got %t", test.a, test.b, got)
		}
	}
}

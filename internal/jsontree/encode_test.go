package jsontree

import (
	"errors"
	"math"
	"testing"
)

type hash [2]byte

func (hash) String() string { return "beef" }

type inner struct {
	X int `json:"x"`
}

type outer struct {
	inner
	*Deep
	Name   string            `json:"name"`
	Empty  string            `json:"empty,omitempty"`
	List   []int             `json:"list"`
	Hash   hash              `json:"hash"`
	Ptr    *int              `json:"ptr"`
	Any    any               `json:"any"`
	Map    map[string]Amount `json:"map"`
	Tree   *Value            `json:"tree"`
	Hidden bool              `json:"-"`
	Plain  bool
	secret int
}

// Deep is exported so that it may be embedded by pointer.
type Deep struct {
	Y uint8 `json:"y"`
}

func TestAppend(t *testing.T) {
	seven := 7
	tests := []struct {
		name string
		v    any
		want string
	}{
		{"nil", nil, `null`},
		{"nil pointer", (*int)(nil), `null`},
		{"nil tree", (*Value)(nil), `null`},
		{"nil slice", []string(nil), `[]`},
		{"pointer", &seven, `7`},
		{"tree", NewArray(NewNull(), NewBool(true), NewBool(false)), `[null,true,false]`},
		{"tree by value", *NewString("x"), `"x"`},
		{"string", "<\x01\x7f\"é>", `"<\u0001\u007f\"é>"`},
		{"amounts", []Amount{1, -50_000_000}, `[0.00000001,-0.50000000]`},
		{"members", Members{{"b", 1}, {"a", []Member{}}}, `{"b":1,"a":[]}`},
		{"map", map[string]int{"b": 1, "a": 2, "": 3}, `{"":3,"a":2,"b":1}`},
		{"struct", outer{Name: "n", secret: 1}, `{"x":0,"name":"n","list":[],"hash":"beef","ptr":null,"any":null,` +
			`"map":{},"tree":null,"Plain":false}`},
		{"full struct", &outer{
			inner: inner{1}, Deep: &Deep{2}, Empty: "e", List: []int{3}, Ptr: &seven, Any: []any{nil, 1.5},
			Map: map[string]Amount{"a": 1}, Tree: NewObject(), Plain: true,
		}, `{"x":1,"y":2,"name":"","empty":"e","list":[3],"hash":"beef","ptr":7,"any":[null,1.5],` +
			`"map":{"a":0.00000001},"tree":{},"Plain":true}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Append([]byte("> "), test.v)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != "> "+test.want {
				t.Errorf("got  %s\nwant > %s", got, test.want)
			}
		})
	}
}

// The texts are what a C++ stream prints with a precision of 16.
func TestAppendFloat(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", 0.1: "0.1", 1.0 / 3: "0.3333333333333333", 100: "100", 1e15: "1000000000000000",
		1e16: "1e+16", 1e-4: "0.0001", 1e-5: "1e-05", 123456789.125: "123456789.125", -2.5e-10: "-2.5e-10",
		4.656542373906925e-10: "4.656542373906925e-10", 1e100: "1e+100", 0.1 + 0.2: "0.3",
	} {
		if got, err := Append(nil, f); string(got) != want || err != nil {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	for _, v := range []any{
		math.NaN(), math.Inf(1), []byte("x"),
		[2]byte{},
		map[int]int{},
		func() {},
		struct{ C chan int }{},
		[]any{[]byte{}},
	} {
		if got, err := Append(nil, v); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%T: got %s, %v", v, got, err)
		}
	}
}

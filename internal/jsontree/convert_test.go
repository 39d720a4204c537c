package jsontree

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func number(text string) *Value { return &Value{kind: Number, text: text} }

func TestIntegers(t *testing.T) {
	tests := []struct {
		text          string
		int32, uint32 bool // whether it is one
		int64, uint64 bool
	}{
		{"0", true, true, true, true},
		{"-0", true, false, true, false},
		{"2147483647", true, true, true, true},
		{"2147483648", false, true, true, true},
		{"-2147483648", true, false, true, false},
		{"-2147483649", false, false, true, false},
		{"4294967295", false, true, true, true},
		{"4294967296", false, false, true, true},
		{"9223372036854775807", false, false, true, true},
		{"9223372036854775808", false, false, false, true},
		{"18446744073709551615", false, false, false, true},
		{"18446744073709551616", false, false, false, false},
		{"1.0", false, false, false, false},
		{"1e3", false, false, false, false},
		{"-", false, false, false, false},
	}
	for _, test := range tests {
		v := number(test.text)
		_, err32 := v.AsInt32()
		_, errU32 := v.AsUint32()
		_, err64 := v.AsInt64()
		_, errU64 := v.AsUint64()
		for i, err := range []error{err32, errU32, err64, errU64} {
			fits := []bool{test.int32, test.uint32, test.int64, test.uint64}[i]
			if fits != (err == nil) || err != nil && !errors.Is(err, ErrIntegerRange) {
				t.Errorf("%s as %s: %v", test.text, []string{"int32", "uint32", "int64", "uint64"}[i], err)
			}
		}
	}
}

func TestTypeErrors(t *testing.T) {
	tests := []struct {
		err  func(v *Value) error
		v    *Value
		want string
	}{
		{func(v *Value) error { _, err := v.AsString(); return err }, nil, "null is not of expected type string"},
		{func(v *Value) error { _, err := v.AsBool(); return err }, number("1"), "number is not of expected type bool"},
		{func(v *Value) error { _, err := v.AsArray(); return err }, NewObject(), "object is not of expected type array"},
		{func(v *Value) error { _, err := v.AsObject(); return err }, NewArray(), "array is not of expected type object"},
		{func(v *Value) error { _, err := v.AsInt32(); return err }, NewString("1"), "string is not of expected type number"},
		{func(v *Value) error { _, err := v.AsUint64(); return err }, NewBool(true), "bool is not of expected type number"},
		{func(v *Value) error { _, err := v.AsFloat64(); return err }, NewNull(), "null is not of expected type number"},
	}
	for _, test := range tests {
		if err := test.err(test.v); err == nil || err.Error() != "JSON value of type "+test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func TestAsAmount(t *testing.T) {
	const maximum = 21_000_000 * 100_000_000
	tests := []struct {
		v    *Value
		want Amount
		err  error
	}{
		{number("0"), 0, nil},
		{number("-0"), 0, nil},
		{number("0.00000001"), 1, nil},
		{number("1e-8"), 1, nil},
		{number("0.1e-7"), 1, nil},
		{number("0.000000010"), 1, nil},
		{number("0.0000000000"), 0, nil},
		{number("0.000000001"), 0, ErrAmountSyntax},
		{number("1e-9"), 0, ErrAmountSyntax},
		{number("20999999.99999999"), maximum - 1, nil},
		{number("21e6"), maximum, nil},
		{number("21000000.00000001"), 0, ErrAmountRange},
		{number("-0.00000001"), 0, ErrAmountRange},
		{number("-1"), 0, ErrAmountRange},
		{number("9999999999"), 0, ErrAmountRange},
		{number("10000000000"), 0, ErrAmountSyntax},
		{number("1e400"), 0, ErrAmountSyntax},
		{number("0e400"), 0, ErrAmountSyntax},
		{number("1e99999999999999999999"), 0, ErrAmountSyntax},
		{number("1e-99999999999999999999"), 0, ErrAmountSyntax},
		{number("-"), 0, ErrAmountSyntax},
		{NewString("0.5"), 50_000_000, nil},
		{NewString("1E+1"), 1_000_000_000, nil},
		{NewString(""), 0, ErrAmountSyntax},
		{NewString(" 1"), 0, ErrAmountSyntax},
		{NewString("1 "), 0, ErrAmountSyntax},
		{NewString("+1"), 0, ErrAmountSyntax},
		{NewString("01"), 0, ErrAmountSyntax},
		{NewString(".5"), 0, ErrAmountSyntax},
		{NewString("1."), 0, ErrAmountSyntax},
		{NewString("1e"), 0, ErrAmountSyntax},
		{NewString("--1"), 0, ErrAmountSyntax},
		{NewString("1e--1"), 0, ErrAmountSyntax},
		{NewString("0x1"), 0, ErrAmountSyntax},
		{NewNull(), 0, ErrAmountKind},
		{NewBool(true), 0, ErrAmountKind},
		{NewArray(), 0, ErrAmountKind},
	}
	for _, test := range tests {
		got, err := test.v.AsAmount(maximum)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%v: got %v, %v, want %v, %v", test.v, got, err, test.want, test.err)
		}
	}
}

// TestFixedPointIsExact compares with rational numbers.
func TestFixedPointIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,11})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "text")
		got, ok := ParseFixedPoint(text, AmountDecimals)
		exact, _ := new(big.Rat).SetString(text)
		exact.Mul(exact, big.NewRat(100_000_000, 1))
		limit := big.NewRat(999_999_999_999_999_999, 1)
		fits := exact.IsInt() && new(big.Rat).Abs(exact).Cmp(limit) <= 0
		if exact.Sign() == 0 {
			if ok && got != 0 {
				t.Fatalf("%s: got %d", text, got)
			}
			return // which zeros are refused is Core's, see TestAsAmount
		}
		if ok != fits {
			t.Fatalf("%s: got %d, %v", text, got, ok)
		}
		if ok && exact.Cmp(big.NewRat(got, 1)) != 0 {
			t.Fatalf("%s: got %d", text, got)
		}
	})
}

func TestAmountString(t *testing.T) {
	for amount, want := range map[Amount]string{
		0: "0.00000000", 1: "0.00000001", -50_000_000: "-0.50000000", 2_100_000_000_000_000: "21000000.00000000",
		math.MinInt64: "-92233720368.54775808", math.MaxInt64: "92233720368.54775807",
	} {
		if got := amount.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestIndent(t *testing.T) {
	v, err := Parse([]byte(`{"a":[],"b":{},"c":[1,{"d":"\n"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`{`, `  "a": [`, `  ],`, `  "b": {`, `  },`, `  "c": [`, `    1,`, `    {`, `      "d": "\n"`, `    }`, `  ]`, `}`,
	}, "\n")
	if got := v.Indent(2); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

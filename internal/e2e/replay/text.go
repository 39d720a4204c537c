package replay

import (
	"strconv"
	"strings"
)

// anyText stands for any text, also none, in an expected string.
const anyText = "{{ANY}}"

// matches reports whether got is the expected string want.
func matches(want, got string) bool {
	parts := strings.Split(want, anyText)
	if len(parts) == 1 {
		return want == got
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(got, first) {
		return false
	}
	got = got[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, ok := strings.Cut(got, part)
		if !ok {
			return false
		}
		got = rest
	}
	return strings.HasSuffix(got, last)
}

// sameNumber reports whether two JSON numbers have the same value.
func sameNumber(a, b string) bool {
	x, okX := parseDecimal(a)
	y, okY := parseDecimal(b)
	return okX && okY && x == y
}

// decimal is a number in its only form: digits without zeros at either end,
// times ten to the exponent. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

func parseDecimal(text string) (d decimal, ok bool) {
	mantissa, exponent := text, "0"
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	n, err := strconv.ParseInt(exponent, 10, 32)
	if err != nil {
		return decimal{}, false
	}
	mantissa, d.negative = strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	d.digits = strings.TrimRight(digits, "0")
	d.exponent = int(n) - len(fraction) + len(digits) - len(d.digits)
	d.digits = strings.TrimLeft(d.digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

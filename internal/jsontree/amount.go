package jsontree

import (
	"strconv"
	"strings"
)

// An Amount is a number of coins in units of 10^-8. It is written with its
// eight decimals: 0.00000001, -0.50000000.
type Amount int64

// AmountDecimals is how many decimals an [Amount] has.
const AmountDecimals = 8

// Errors of [Value.AsAmount], with Core's words.
const (
	ErrAmountKind   ConversionError = "Amount is not a number or string"
	ErrAmountSyntax ConversionError = "Invalid amount"
	ErrAmountRange  ConversionError = "Amount out of range"
)

// AppendJSON appends the amount as a JSON number.
func (a Amount) AppendJSON(dst []byte) []byte {
	units := uint64(a)
	if a < 0 {
		dst, units = append(dst, '-'), -units
	}
	const one = 100_000_000
	dst = append(strconv.AppendUint(dst, units/one, 10), '.')
	var room [AmountDecimals + 1]byte
	digits := strconv.AppendUint(room[:0], one+units%one, 10) // a leading 1 keeps the zeros
	return append(dst, digits[1:]...)
}

// String returns the amount as it is written in JSON.
func (a Amount) String() string { return string(a.AppendJSON(nil)) }

// AsAmount returns an amount given as a number or as a string, from 0 to max.
// It goes by the text alone: no rounding, 9 decimals are an error unless the
// ninth is 0. The errors are [ErrAmountKind], [ErrAmountSyntax] and
// [ErrAmountRange]; Core sends all of them with the code of a type error.
func (v *Value) AsAmount(maximum Amount) (Amount, error) { return v.AsDecimal(AmountDecimals, maximum) }

// AsDecimal is [Value.AsAmount] for numbers of another unit: with so many decimals.
func (v *Value) AsDecimal(decimals int, maximum Amount) (Amount, error) {
	if k := v.Kind(); k != Number && k != String {
		return 0, ErrAmountKind
	}
	n, ok := ParseFixedPoint(v.text, decimals)
	switch {
	case !ok:
		return 0, ErrAmountSyntax
	case n < 0 || Amount(n) > maximum:
		return 0, ErrAmountRange
	}
	return Amount(n), nil
}

// fixedDigits is how many digits the result of [ParseFixedPoint] may have.
const fixedDigits = 18

// ParseFixedPoint reads the text of a JSON number as an integer in units of
// 10^-decimals. It fails on anything but a JSON number, on digits below the unit,
// and on results of more than 18 digits. Like Core it also fails on 0 with an
// exponent that would shift any other number out of range.
func ParseFixedPoint(s string, decimals int) (int64, bool) {
	s, negative := strings.CutPrefix(s, "-")
	mantissa, exponent, hasExponent := s, "", false
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent, hasExponent = s[:i], s[i+1:], true
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if !isWhole(whole) || hasPoint && !isDigits(fraction) {
		return 0, false
	}
	shift := 0
	if hasExponent {
		var ok bool
		if shift, ok = parseExponent(exponent); !ok {
			return 0, false
		}
	}
	if whole == "0" { // a lone zero is no digit of the mantissa
		whole = ""
	}
	digits := whole + fraction
	significant := strings.TrimRight(digits, "0")
	shift += decimals - len(fraction) + len(digits) - len(significant)
	significant = strings.TrimLeft(significant, "0")
	if shift < 0 || shift >= fixedDigits {
		return 0, false
	}
	if significant == "" {
		return 0, true
	}
	if len(significant)+shift > fixedDigits {
		return 0, false
	}
	n, err := strconv.ParseInt(significant+strings.Repeat("0", shift), 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}

// isWhole reports whether s may stand before the point of a JSON number.
func isWhole(s string) bool { return isDigits(s) && (s == "0" || s[0] != '0') }

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// parseExponent reads what follows the e of a number. An exponent too large
// for any result is cut to a large one: a mantissa has fewer than 2^40 digits.
func parseExponent(s string) (int, bool) {
	sign := 1
	switch {
	case strings.HasPrefix(s, "-"):
		s, sign = s[1:], -1
	case strings.HasPrefix(s, "+"):
		s = s[1:]
	}
	if !isDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n = 1 << 40
	}
	return sign * int(min(n, 1<<40)), true
}

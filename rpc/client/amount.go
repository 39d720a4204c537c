package client

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// An Amount is in satoshis, the smallest unit. Its JSON is the number of coins that nodes write,
// with eight decimals; none is lost to binary fractions.
//
//nolint:recvcheck // decoding needs a pointer, writing a value
type Amount int64

const (
	coin     = 100_000_000
	decimals = 8
)

var errAmount = errors.New("not an amount")

// String returns the amount in coins.
func (a Amount) String() string {
	sign, n := "", uint64(a)
	if a < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%08d", sign, n/coin, n%coin)
}

// MarshalJSON implements json.Marshaler.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON implements json.Unmarshaler. It takes numbers with up to eight decimals and without
// exponents.
func (a *Amount) UnmarshalJSON(text []byte) error {
	number, negative := strings.CutPrefix(string(text), "-")
	whole, fraction, _ := strings.Cut(number, ".")
	if len(fraction) > decimals {
		return errAmount
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", decimals-len(fraction)), 10, 64)
	if err != nil || whole == "" || n > math.MaxInt64 {
		return errAmount
	}
	if *a = Amount(n); negative {
		*a = -*a
	}
	return nil
}

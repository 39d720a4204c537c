package corenode

import (
	"fmt"
	"strconv"
	"strings"
)

// An Amount is a number of satoshi that is coins with up to eight decimals in JSON.
type Amount int64

// UnmarshalJSON implements json.Unmarshaler.
func (a *Amount) UnmarshalJSON(text []byte) error {
	n, ok := ParseAmount(string(text))
	if !ok {
		return fmt.Errorf("%w: amount", ErrReply)
	}
	*a = Amount(n)
	return nil
}

// ParseAmount reads an amount as Core prints it: coins with up to eight decimals. It
// returns satoshi.
func ParseAmount(text string) (satoshi int64, ok bool) {
	whole, decimals, _ := strings.Cut(text, ".")
	if whole == "" || len(decimals) > 8 || strings.ContainsAny(text, "eE+") || strings.Contains(decimals, "-") {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+decimals+strings.Repeat("0", 8-len(decimals)), 10, 64)
	return n, err == nil
}

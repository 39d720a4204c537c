package web

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// An amountText is an amount in a unit, in the parts that a page shows differently.
type amountText struct {
	Sat   int64
	Class string // in or out, where the sign is told
	Text  string
	Zeros string // decimals that say nothing
	Unit  string
}

// amountIn writes an amount of the smallest unit; sign has a plus before what is more than nothing.
func amountIn(unit string, value any, sign bool) amountText {
	var n int64
	switch v := value.(type) {
	case amount:
		n = int64(v)
	case *amount:
		n = int64(*v)
	case int64:
		n = v
	}
	t := amountText{Sat: n, Unit: unit}
	rest := uint64(n)
	before := ""
	switch {
	case n < 0:
		before, rest = "−", -uint64(n)
	case sign && n > 0:
		before = "+"
	}
	if sign {
		t.Class = "in"
		if n < 0 {
			t.Class = "out"
		}
	}
	whole := rest
	if unit != "sat" {
		const least = 2 // decimals that are always there as such
		fraction := fmt.Sprintf("%08d", rest%coin)
		keep := max(least, len(strings.TrimRight(fraction, "0")))
		whole = rest / coin
		t.Zeros = fraction[keep:]
		fraction = fraction[:keep]
		t.Text = before + grouped(strconv.FormatUint(whole, 10)) + "." + fraction
		return t
	}
	t.Text = before + grouped(strconv.FormatUint(whole, 10))
	return t
}

// maxClean is how many letters are shown of a text that strangers choose.
const maxClean = 80

// clean writes a text that strangers choose, such as a user agent, on one line of bounded length. Characters that
// control a terminal or turn the direction of writing are replaced.
func clean(text string) string {
	var b strings.Builder
	letters := 0
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if letters++; letters > maxClean {
			b.WriteString("…")
			break
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ends takes an address apart, so that its end is seen however narrow the place is.
func ends(address string) [2]string {
	const last = 8
	if len(address) <= last || strings.IndexFunc(address, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		return [2]string{"", address}
	}
	return [2]string{address[:len(address)-last], address[len(address)-last:]}
}

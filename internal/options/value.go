package options

import (
	"math"
	"strings"
)

// value is one occurrence of an option.
type value struct {
	text string
	kind valueKind
}

type valueKind uint8

const (
	given   valueKind = iota // -name or -name=text
	negated                  // -noname
	doubled                  // -noname=0, which means true
	unset                    // null in a settings file: weaker sources do not count either
)

// string is the value as text: negations are "0" and "1".
func (v value) string() string {
	switch v.kind {
	case negated:
		return "0"
	case doubled:
		return "1"
	default:
		return v.text
	}
}

func (v value) bool() bool {
	if v.kind == given {
		return parseBool(v.text)
	}
	return v.kind == doubled
}

// span is the values of one option in one source, in the order given. Values
// before the last negation do not count.
type span []value

// live returns the values after the last negation.
func (s span) live() span { return s[s.dead():] }

// dead returns how many values the last negation ends, itself included.
func (s span) dead() int {
	for i := len(s); i > 0; i-- {
		if s[i-1].kind == negated {
			return i
		}
	}
	return 0
}

// lastNegated reports whether a negation is the last word of this source.
func (s span) lastNegated() bool { return len(s) > 0 && s[len(s)-1].kind == negated }

// parseBool follows Core: an empty value is true, and so is any number but 0;
// words are false.
func parseBool(text string) bool { return text == "" || parseInt(text) != 0 }

// parseInt reads the decimal number that text begins with, after white space,
// as Core's LocaleIndependentAtoi does: 0 when there is none, and the nearest
// int64 when it does not fit.
func parseInt(text string) int64 {
	text = strings.TrimLeft(text, " \f\n\r\t\v")
	if rest, ok := strings.CutPrefix(text, "+"); ok {
		if strings.HasPrefix(rest, "-") {
			return 0
		}
		text = rest
	}
	text, negative := strings.CutPrefix(text, "-")
	limit := uint64(math.MaxInt64)
	if negative {
		limit++
	}
	var n uint64
	for i := range len(text) {
		digit := uint64(text[i] - '0')
		if digit > 9 {
			break
		}
		if n > (limit-digit)/10 {
			n = limit
			break
		}
		n = n*10 + digit
	}
	if negative {
		return int64(-n) // n <= 1<<63: two's complement is exact
	}
	return int64(n)
}

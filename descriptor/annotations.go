package descriptor

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Annotations is what the text of a descriptor says of how its funds are found. None of it changes the scripts. Each
// number is a lower bound. One above 2^64-1 is read as that.
//
// Source: BIP393.
type Annotations struct {
	BirthHeight *uint64 // of the block at or after which the first payment came; nil: not told
	GapLimit    *uint64 // unused indices that may follow a used one; nil: not told
	MaxLabel    *uint64 // largest label index of a silent payment wallet; nil: not told
}

// IsZero reports whether nothing is told.
func (a Annotations) IsZero() bool { return a == Annotations{} }

// CutAnnotations returns a text without its annotations, which follow the last bracket of the descriptor as in
// "wpkh(KEY/*)?bh=800000&gl=30#CHECKSUM", and without the checksum, which covers them. Unknown annotations are ignored.
// A text without annotations, and a text whose checksum [Parse] refuses, is returned as it is.
//
// Errors: [*ParseError] for annotations that are not well formed.
func CutAnnotations(text string) (plain string, a Annotations, err error) {
	if !strings.Contains(text, ")?") || len(text) > MaxTextLen {
		return text, a, nil
	}
	body, err := checkChecksum(text, false)
	if err != nil {
		return text, a, nil //nolint:nilerr // Parse tells
	}
	plain, a, err = cutAnnotations(body)
	if err != nil || len(plain) == len(body) {
		return text, a, err
	}
	return plain, a, nil
}

// cutAnnotations cuts a body without checksum.
func cutAnnotations(body string) (script string, a Annotations, err error) {
	at := strings.Index(body, ")?") + 1
	if at == 0 || strings.Count(body[:at], "(") != strings.Count(body[:at], ")") { // within the descriptor
		return body, a, nil
	}
	if a, err = parseAnnotations(body[at+1:]); err != nil {
		return body, a, err
	}
	return body[:at], a, nil
}

// parseAnnotations reads what follows the question mark.
func parseAnnotations(text string) (a Annotations, err error) {
	var seen []string
	for pair := range strings.SplitSeq(text, "&") {
		key, digits, found := strings.Cut(pair, "=")
		value, valid := annotationValue(digits)
		switch {
		case !found || !valid || !isAnnotationKey(key):
			return Annotations{}, failf("'%s' is not a valid annotation", pair)
		case slices.Contains(seen, key):
			return Annotations{}, failf("Annotation '%s' is given twice", key)
		}
		seen = append(seen, key)
		switch key {
		case "bh":
			a.BirthHeight = &value
		case "gl":
			a.GapLimit = &value
		case "ml":
			a.MaxLabel = &value
		}
	}
	return a, nil
}

func isAnnotationKey(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < 'a' || r > 'z' })
}

// annotationValue reads decimal digits without leading zeros. A number that is too large is the largest one.
func annotationValue(digits string) (value uint64, ok bool) {
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	if strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, false
	}
	value, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return math.MaxUint64, true
	}
	return value, true
}

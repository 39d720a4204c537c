package web

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// number writes a number with a comma between thousands.
func number(n any) string {
	var text string
	switch n := value(n).(type) {
	case float64:
		text = strconv.FormatFloat(n, 'f', -1, 64)
		if math.Abs(n) >= 1000 {
			text = strconv.FormatFloat(math.Round(n), 'f', 0, 64)
		} else if math.Abs(n) >= 1 {
			text = strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64)
		}
	default:
		text = fmt.Sprint(n)
	}
	return grouped(text)
}

// value returns what a pointer to a number points to; templates get pointers to what may be missing.
func value(n any) any {
	switch n := n.(type) {
	case *int64:
		return *n
	case *float64:
		return *n
	}
	return n
}

// grouped puts commas into the whole part of a decimal number.
func grouped(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, hasFraction := strings.Cut(text, ".")
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if hasFraction {
		b.WriteString("." + fraction)
	}
	return sign + b.String()
}

// plural writes a number with the word for the counted thing.
func plural(n any, one, many string) string {
	text := number(n)
	if text == "1" {
		return "1 " + one
	}
	return text + " " + many
}

// bytesText writes a size.
func bytesText(n int64) string {
	const step = 1024
	if n < step {
		return strconv.FormatInt(n, 10) + " B"
	}
	value, unit := float64(n)/step, 0
	for ; value >= step && unit < 3; unit++ {
		value /= step
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + " " + []string{"KiB", "MiB", "GiB", "TiB"}[unit]
}

// duration writes seconds in the two largest units that they have.
func duration(seconds any) string {
	var s int64
	switch n := value(seconds).(type) {
	case int64:
		s = n
	case float64:
		s = int64(math.Ceil(n))
	}
	units := []struct {
		name  string
		value int64
	}{{"d", 24 * 60 * 60}, {"h", 60 * 60}, {"min", 60}, {"s", 1}}
	for i, u := range units {
		if s < u.value {
			continue
		}
		text := fmt.Sprintf("%d %s", s/u.value, u.name)
		if i+1 < len(units) && s%u.value/units[i+1].value > 0 {
			text += fmt.Sprintf(" %d %s", s%u.value/units[i+1].value, units[i+1].name)
		}
		return text
	}
	return "0 s"
}

// ago says how long ago a time was.
func ago(unix int64) string {
	since := int64(time.Since(time.Unix(unix, 0)).Seconds())
	switch {
	case unix == 0:
		return "never"
	case since < -60:
		return "in " + duration(-since)
	case since < 60:
		return "just now"
	default:
		return duration(since-since%60) + " ago"
	}
}

// when writes a time in UTC, which the place says.
func when(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04") }

func utc(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04 UTC") }
func iso(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

// percent writes a share from 0 to 1, which is 100 % only when nothing is left.
func percent(share float64) string {
	p := math.Floor(share*1000) / 10
	return strconv.FormatFloat(min(max(p, 0), 100), 'f', 1, 64) + " %"
}

// siText writes a number that may be very large or very small with four digits.
func siText(n float64) string {
	const step, digits = 1000, 4
	unit := 0
	for ; math.Abs(n) >= step && unit < 6; unit++ {
		n /= step
	}
	text := strconv.FormatFloat(n, 'g', digits, 64)
	return strings.TrimSuffix(text+" "+[]string{"", "k", "M", "G", "T", "P", "E"}[unit], " ")
}

// short is the beginning and the end of a hash, or of what people have typed.
func short(text string) string {
	const ends = 8
	letters := []rune(text)
	if len(letters) <= 2*ends+1 {
		return text
	}
	return string(letters[:ends]) + "…" + string(letters[len(letters)-ends:])
}

// brief is the beginning of a label, which may have any length.
func brief(label string) string {
	const most = 200
	letters := 0
	for at := range label {
		if letters == most {
			return label[:at] + "…"
		}
		letters++
	}
	return label
}

// coin is how many of the smallest unit an amount of 1 is.
const coin = 100_000_000

// An amount is a number of the smallest unit.
type amount int64 //nolint:recvcheck // decoding needs a pointer, templates have values

// UnmarshalJSON reads a number with up to eight decimals, without rounding.
func (a *amount) UnmarshalJSON(text []byte) error {
	whole, fraction, _ := strings.Cut(string(text), ".")
	if len(fraction) > 8 {
		return fmt.Errorf("amount %s has too many decimals", text)
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 8-len(fraction)), 10, 64)
	if err != nil {
		return fmt.Errorf("amount %s: %w", text, err)
	}
	*a = amount(n)
	return nil
}

// MarshalJSON writes the amount as the node does.
func (a amount) MarshalJSON() ([]byte, error) { return json.RawMessage(a.String()), nil }

// String writes the amount with its eight decimals.
func (a amount) String() string {
	sign := ""
	if a < 0 {
		sign, a = "-", -a
	}
	return fmt.Sprintf("%s%d.%08d", sign, a/coin, a%coin)
}

func milliseconds(seconds float64) float64 { return seconds * 1000 }

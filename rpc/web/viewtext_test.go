package web

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestTexts(t *testing.T) {
	seven, half := int64(7), 0.5
	for _, test := range []struct{ got, want string }{
		{number(0), "0"},
		{number(int64(999)), "999"},
		{number(int64(1000)), "1,000"},
		{number(int64(-1234567)), "-1,234,567"},
		{number(12345.6), "12,346"},
		{number(99.94), "99.9"},
		{number(0.25), "0.25"},
		{number(&seven), "7"},
		{number(&half), "0.5"},
		{plural(int64(1), "block", "blocks"), "1 block"},
		{plural(2, "block", "blocks"), "2 blocks"},
		{bytesText(1023), "1023 B"},
		{bytesText(1024), "1.0 KiB"},
		{bytesText(1<<20 - 1), "1024.0 KiB"},
		{bytesText(1 << 20), "1.0 MiB"},
		{bytesText(1 << 40), "1.0 TiB"},
		{bytesText(5 << 40), "5.0 TiB"},
		{bytesText(5000 << 40), "5000.0 TiB"},
		{duration(int64(0)), "0 s"},
		{duration(int64(59)), "59 s"},
		{duration(int64(60)), "1 min"},
		{duration(int64(3725)), "1 h 2 min"},
		{duration(0.2), "1 s"},
		{duration(&seven), "7 s"},
		{duration(int64(90000)), "1 d 1 h"},
		{percent(0), "0.0 %"},
		{percent(0.9999), "99.9 %"},
		{percent(1), "100.0 %"},
		{percent(1.5), "100.0 %"},
		{short("0123456789abcdef0"), "0123456789abcdef0"},
		{short("0123456789abcdef01"), "01234567…abcdef01"},
		{short("äöüäöüäöüäöüäöüäö"), "äöüäöüäöüäöüäöüäö"},
		{short("äöüäöüäö-x-äöüäöüäö"), "äöüäöüäö…äöüäöüäö"},
		{brief(strings.Repeat("ä", 200)), strings.Repeat("ä", 200)},
		{brief(strings.Repeat("ä", 100_000)), strings.Repeat("ä", 200) + "…"},
		{amountIn("BTC", amount(-1), true).whole(), "−0.00000001"},
		{amountIn("BTC", int64(0), true).whole(), "0.00000000"},
		{amountIn("BTC", amount(150000000000), true).whole(), "+1,500.00000000"},
		{amountIn("sat", amount(-150000000001), true).whole(), "−150,000,000,001"},
		{amountIn("sat", amount(1), false).whole(), "1"},
		{amountIn("BTC", int64(math.MinInt64), false).whole(), "−92,233,720,368.54775808"},
		{when(0), "1970-01-01 00:00"},
		{siText(164.5e12), "164.5 T"}, {siText(1), "1"}, {siText(4.656542373906925e-10), "4.657e-10"}, {siText(0), "0"},
		{siText(999), "999"}, {siText(1000), "1 k"}, {siText(1e30), "1e+12 E"},
		{utc(0), "1970-01-01 00:00 UTC"},
		{iso(0), "1970-01-01T00:00:00Z"},
		{ago(0), "never"},
		{ago(time.Now().Unix() + 5), "just now"},
		{ago(time.Now().Unix() - 3600), "1 h ago"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func TestAmounts(t *testing.T) {
	for text, want := range map[string]amount{
		"0": 0, "0.00000001": 1, "-0.5": -50000000, "21000000.00000000": 2100000000000000, "1.5": 150000000,
	} {
		var got amount
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is %d, %v", text, got, err)
		}
		back, err := json.Marshal(got)
		var again amount
		if err != nil || json.Unmarshal(back, &again) != nil || again != want {
			t.Errorf("%s is written as %s, %v", text, back, err)
		}
	}
	for _, text := range []string{"0.000000001", "1e400", `"1"`, "true", "99999999999999"} {
		var got amount
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is taken for %d", text, got)
		}
	}
}

// The rest of a rescan is estimated at the speed of the part that is done.
func TestLeft(t *testing.T) {
	for _, test := range []struct {
		duration int64
		progress float64
		want     int64
	}{{10, 0.25, 31}, {10, 0.5, 11}, {10, 1, 1}, {10, 0.001, 0}} {
		s := scanning{is: true, Duration: test.duration, Progress: test.progress}
		if got := s.Left(); got != test.want {
			t.Errorf("%d s to %v: %d s are left, want %d", test.duration, test.progress, got, test.want)
		}
	}
}

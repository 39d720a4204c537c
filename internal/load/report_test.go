package load

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

// example is a run that never was.
func example(t *testing.T, findings ...Finding) *Report {
	t.Helper()
	mix, err := ParseMix(`start:1,status:8,echo["<b>"]:1`)
	if err != nil {
		t.Fatal(err)
	}
	all, busy, done := &Histogram{}, &Histogram{}, &Histogram{}
	for i := range 1000 {
		busy.Add(time.Duration(i*i) * time.Microsecond)
	}
	done.Add(90 * time.Second)
	all.Merge(busy)
	all.Merge(done)
	return &Report{
		Config: &Config{Callers: 1000, Rate: 2500.5, Mix: mix, Seed: 7},
		Result: &Result{
			Node: "/Satoshi:30.2.0/<i>", Chain: "regtest", Height: 200, Scan: 1500 * time.Millisecond, Relevant: 12,
			Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Elapsed: 100 * time.Second,
			Rows: []Row{
				{Method: "start", Times: all},
				{Method: "start", Outcome: "busy", Times: busy},
				{Method: "start", Outcome: "completed", Times: done},
				{Method: "status", Times: &Histogram{}},
			},
			Lost:     []Loss{{Reason: "connection reset by peer", Count: 2}},
			Findings: findings,
		},
	}
}

var finding = Finding{Rule: TwoScans, Count: 17, Examples: []Example{
	{At: Span{Sent: time.Second, Received: 2 * time.Second}, Text: "for <1 ms at least"},
	{At: Span{Sent: time.Second, Received: Never}, Text: "x"},
}}

func TestGolden(t *testing.T) {
	r := example(t, finding)
	if r.Consistent() || !example(t).Consistent() {
		t.Error("findings and verdict differ")
	}
	for name, write := range map[string]func(io.Writer) error{
		"report.txt": r.WriteText, "report.json": r.WriteJSON, "report.html": r.WriteHTML, "good.txt": example(t).WriteText,
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s has changed; run with -update and look at the difference", name)
		}
	}
}

func TestJSON(t *testing.T) {
	var got bytes.Buffer
	if err := example(t).WriteJSON(&got); err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(got.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if !d.Consistent || len(d.Methods) != 4 || d.Methods[1].Count != 1000 || d.Methods[2].Max != 90_000 {
		t.Errorf("got %+v", d)
	}
}

// The page is well formed, escapes what the node says, and fetches nothing.
func TestHTML(t *testing.T) {
	var got bytes.Buffer
	if err := example(t, finding).WriteHTML(&got); err != nil {
		t.Fatal(err)
	}
	text := got.String()
	for _, bad := range []string{"<i>", "<b>\"", "<1 ms", "http", "<script", "src=", "NaN", "Inf", "ZgotmplZ"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q in it", bad)
		}
	}
	if n := strings.Count(text, "<svg"); n != 3 {
		t.Errorf("%d histograms, want 3", n)
	}
	decoder := xml.NewDecoder(strings.NewReader(text))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestShown(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.000", 1234 * time.Nanosecond: "0.001", 123456 * time.Nanosecond: "0.123",
		1234567 * time.Nanosecond:  "1.23",
		12345678 * time.Nanosecond: "12.3", 999 * time.Millisecond: "999", 90 * time.Second: "90000",
	} {
		if got := shown(d); got != want {
			t.Errorf("%d ns: got %s, want %s", d, got, want)
		}
	}
}

package load

import (
	"encoding/json"
	"io"
	"time"
)

// document is the form of the JSON. Its members only ever grow in number.
type document struct {
	Node       string  `json:"node"`
	Chain      string  `json:"chain"`
	Height     int32   `json:"height"`
	Callers    int     `json:"callers"`
	Mix        string  `json:"mix"`
	Rate       float64 `json:"rate,omitempty"` // calls/s; none: closed loop
	Seed       uint64  `json:"seed"`
	Began      string  `json:"began"`
	Seconds    float64 `json:"seconds"`
	ScanMS     float64 `json:"undisturbed_scan_ms,omitempty"`
	Relevant   int     `json:"relevant_blocks"`
	SearchMS   float64 `json:"undisturbed_search_ms,omitempty"`
	Entries    int     `json:"entries,omitempty"`
	Consistent bool    `json:"consistent"`

	Methods  []methodDocument  `json:"methods"`
	Findings []findingDocument `json:"findings"`
}

type methodDocument struct {
	Method  string  `json:"method"`
	Outcome string  `json:"outcome,omitempty"` // none: all together
	Count   uint64  `json:"count"`
	PerSec  float64 `json:"per_second"`
	Mean    float64 `json:"mean_ms"`
	P50     float64 `json:"p50_ms"`
	P90     float64 `json:"p90_ms"`
	P99     float64 `json:"p99_ms"`
	P999    float64 `json:"p99_9_ms"`
	Max     float64 `json:"max_ms"`
}

type findingDocument struct {
	Rule     string   `json:"rule"`
	Count    int      `json:"count"`
	Examples []string `json:"examples"`
}

// WriteJSON writes everything but the histograms as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	c, res := r.Config, r.Result
	d := document{
		Node: res.Node, Chain: res.Chain, Height: res.Height,
		Callers: c.Callers, Mix: c.Mix.String(), Rate: c.Rate, Seed: c.Seed,
		Began: res.Began.UTC().Format(time.RFC3339), Seconds: res.Elapsed.Seconds(),
		ScanMS: milliseconds(res.Scan), Relevant: res.Relevant,
		SearchMS: milliseconds(res.Search), Entries: res.Entries, Consistent: r.Consistent(),
		Methods: []methodDocument{}, Findings: r.findings(),
	}
	for _, row := range res.Rows {
		d.Methods = append(d.Methods, r.method(&row))
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(d)
}

func (r *Report) method(row *Row) methodDocument {
	at := func(q float64) float64 { return milliseconds(row.Times.Quantile(q)) }
	return methodDocument{
		Method: row.Method, Outcome: row.Outcome, Count: row.Times.Count(), PerSec: r.perSecond(row.Times.Count()),
		Mean: milliseconds(row.Times.Mean()), P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), Max: at(1),
	}
}

func (r *Report) findings() []findingDocument {
	all := []findingDocument{}
	for _, f := range r.Result.Findings {
		found := findingDocument{Rule: string(f.Rule), Count: f.Count}
		for _, e := range f.Examples {
			found.Examples = append(found.Examples, span(e.At)+": "+e.Text)
		}
		all = append(all, found)
	}
	return all
}

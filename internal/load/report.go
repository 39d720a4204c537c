package load

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// A Report is a run and how it came about.
type Report struct {
	Config *Config
	Result *Result
}

// Consistent reports whether all replies can be true.
func (r *Report) Consistent() bool { return len(r.Result.Findings) == 0 }

// quantiles are those that are shown, and their names.
var quantiles = []struct {
	Name string
	Q    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}}

// WriteText writes the table and the findings. All times are in milliseconds.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, fact := range r.facts() {
		fmt.Fprintf(&b, "%-11s %s\n", fact.Name+":", fact.Text)
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "ms\tcalls\tper s\t")
	for _, q := range quantiles {
		fmt.Fprint(t, q.Name, "\t")
	}
	fmt.Fprintln(t)
	for _, row := range r.Result.Rows {
		fmt.Fprintf(t, "%s\t%d\t%.0f\t", rowName(&row), row.Times.Count(), r.perSecond(row.Times.Count()))
		for _, q := range quantiles {
			fmt.Fprintf(t, "%s\t", shown(row.Times.Quantile(q.Q)))
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	b.WriteByte('\n')
	if r.Consistent() {
		b.WriteString("All replies are consistent.\n")
	}
	for _, f := range r.findings() {
		fmt.Fprintf(&b, "INCONSISTENT: %s (%d times)\n", f.Rule, f.Count)
		for _, example := range f.Examples {
			fmt.Fprintf(&b, "    %s\n", example)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A fact is a line above the table.
type fact struct{ Name, Text string }

func (r *Report) facts() []fact {
	c, res := r.Config, r.Result
	loop := "closed loop"
	if c.Rate > 0 {
		loop = "open loop, " + number(c.Rate) + " calls/s due"
	}
	facts := []fact{
		{"node", fmt.Sprintf("%s on chain %s, height %d", res.Node, res.Chain, res.Height)},
		{"callers", fmt.Sprintf("%d, %s, %s, seed %d", c.Callers, loop, c.Mix, c.Seed)},
		{"time", fmt.Sprintf("%s, from %s", seconds(res.Elapsed), res.Began.UTC().Format(time.RFC3339))},
	}
	if res.Scan > 0 {
		facts = append(
			facts, fact{"one scan", fmt.Sprintf("%s undisturbed, %d relevant blocks", seconds(res.Scan), res.Relevant)},
		)
	}
	if res.Search > 0 {
		facts = append(
			facts, fact{"one search", fmt.Sprintf("%s undisturbed, %d entries", seconds(res.Search), res.Entries)},
		)
	}
	for _, lost := range res.Lost {
		facts = append(facts, fact{"no reply", fmt.Sprintf("%d times: %s", lost.Count, lost.Reason)})
	}
	return facts
}

func (r *Report) perSecond(count uint64) float64 {
	return float64(count) / max(r.Result.Elapsed.Seconds(), 1e-9)
}

// rowName is a method's name, with the outcome if the row has one.
func rowName(row *Row) string {
	if row.Outcome == "" {
		return row.Method
	}
	return row.Method + " (" + row.Outcome + ")"
}

func span(s Span) string {
	end := "no reply"
	if s.Received != Never {
		end = "reply at " + seconds(s.Received)
	}
	return "sent at " + seconds(s.Sent) + ", " + end
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + " s" }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// shown is a time in milliseconds, with three significant digits.
func shown(d time.Duration) string {
	ms := milliseconds(d)
	digits := 3
	for limit := 1.0; ms >= limit && digits > 0; limit *= 10 {
		digits--
	}
	return strconv.FormatFloat(ms, 'f', max(digits, 0), 64)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

package differ

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// shown is how many differences of a kind are printed whole.
const shown = 3

// progress is after how many replies a test says how far it is.
const progress = 10_000

// An Exception is a difference that is there on purpose.
type Exception struct {
	Reason string // a sentence: what differs, and why
	Is     func(Call, Replies) bool
}

// A Report counts what was compared. Its differences fail the test when it ends.
type Report struct {
	tb         testing.TB
	exceptions []Exception
	compared   int
	succeeded  int // on Core
	excepted   map[string]int
	kinds      map[string][]string // by method and words: the first differences
	counts     map[string]int
}

// NewReport returns an empty report, which is printed when the test ends.
func NewReport(tb testing.TB, exceptions ...Exception) *Report {
	tb.Helper()
	r := &Report{
		tb: tb, exceptions: exceptions, excepted: map[string]int{}, kinds: map[string][]string{},
		counts: map[string]int{},
	}
	tb.Cleanup(r.print)
	return r
}

// Except adds differences that are there on purpose, as beside one version of Core alone.
func (r *Report) Except(exceptions ...Exception) {
	r.exceptions = append(slices.Clip(r.exceptions), exceptions...)
}

// Compare notes whether the replies to a call are the same.
func (r *Report) Compare(call Call, got Replies) {
	r.tb.Helper()
	if r.compared++; r.compared%progress == 0 {
		r.tb.Logf("%d replies so far, %d differences", r.compared, r.Differences())
	}
	if got.Core.OK() {
		r.succeeded++
	}
	if got.Trawl.String() == got.Core.String() {
		return
	}
	for _, e := range r.exceptions {
		if e.Is(call, got) {
			r.excepted[e.Reason]++
			return
		}
	}
	r.Add(call.Method+": "+kind(got), fmt.Sprintf(
		"%.4000v\n     trawld: %.2000v\n   bitcoind: %.2000v", call, got.Trawl, got.Core,
	))
}

// Add notes a difference that a test has found itself, of a kind.
func (r *Report) Add(kind, text string) {
	r.counts[kind]++
	if len(r.kinds[kind]) < shown {
		r.kinds[kind] = append(r.kinds[kind], text)
	}
}

// Compared returns how many replies were compared so far.
func (r *Report) Compared() int { return r.compared }

// Differences returns how many were found so far.
func (r *Report) Differences() int {
	sum := 0
	for _, n := range r.counts {
		sum += n
	}
	return sum
}

// kind puts differences together that have the same cause, as far as one can tell.
func kind(got Replies) string {
	const begin = 60
	switch trawl, core := got.Trawl, got.Core; {
	case trawl.OK() && core.OK():
		return "other results"
	case trawl.OK():
		return fmt.Sprintf("only Core refuses: %.*s", begin, core)
	case core.OK():
		return fmt.Sprintf("only trawld refuses: %.*s", begin, trawl)
	default:
		return fmt.Sprintf("other words: %.*s / %.*s", begin, trawl, begin, core)
	}
}

func (r *Report) print() {
	r.tb.Helper()
	r.tb.Logf("%d replies compared, %d of them Core's successes", r.compared, r.succeeded)
	for _, reason := range slices.Sorted(maps.Keys(r.excepted)) {
		r.tb.Logf("%d on purpose: %s", r.excepted[reason], reason)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.counts)) {
		r.tb.Errorf("%d times: %s\n  %s", r.counts[kind], kind, strings.Join(r.kinds[kind], "\n  "))
	}
}

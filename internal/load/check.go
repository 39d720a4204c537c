package load

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"
)

// Check returns what is wrong with everything noted so far, by rule; nothing
// when all of it can be true. Calls that have no reply yet may still be noted
// afterwards, so the verdict is final only once all have ended.
func (h *History) Check() []Finding {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := checker{History: h, found: h.findings.copied(), slack: 2 * h.slowest}
	c.checkMeetings()
	c.checkMidst()
	c.checkEarlyEnds()
	c.checkProgress()
	return c.found.list()
}

// checker is one evaluation. The caller of its methods holds the mutex of the
// history.
type checker struct {
	*History
	found findings
	slack time.Duration
}

// checkMeetings finds replies that tell of a scan when there can be none.
func (c *checker) checkMeetings() {
	holders := newCover(c.holders)
	for _, m := range c.running {
		if !holders.touched(m.Span) {
			c.found.add(NoScanToMeet, m.Span, fmt.Sprintf("status shows height %d", m.Height))
		}
	}
	for _, at := range c.aborted {
		if !holders.touched(at) {
			c.found.add(NoScanToMeet, at, "abort is true")
		}
	}
	probes := newCover(nil)
	if c.rules.ProbesTakeSlot {
		probes = newCover(c.probes())
	}
	for _, at := range c.busy {
		if !holders.touched(at) && !probes.touched(at) {
			c.found.add(NoScanToMeet, at, "start is refused as busy")
		}
	}
}

// probes returns the spans of all statuses and aborts.
func (c *checker) probes() []Span {
	all := slices.Concat(c.idle, c.met, c.unmet)
	for _, m := range c.running {
		all = append(all, m.Span)
	}
	return all
}

// checkMidst finds replies that deny a scan in its midst, and scans there.
func (c *checker) checkMidst() {
	var midst []Span
	for _, s := range c.scans {
		if m := (Span{s.Sent + c.slack, s.Received - c.slack}); m.Sent < m.Received {
			midst = append(midst, m)
		}
	}
	within := newCover(midst)
	for _, at := range c.idle {
		if within.encloses(at) {
			c.found.add(ScanNotMet, at, "status is null")
		}
	}
	for _, at := range c.unmet {
		if within.encloses(at) {
			c.found.add(ScanNotMet, at, "abort is false")
		}
	}
	slices.SortFunc(midst, bySent)
	end := time.Duration(-1)
	for _, m := range midst {
		if m.Sent < end {
			c.found.add(TwoScans, m, fmt.Sprintf("for %.3f ms at least", inMilliseconds(min(end, m.Received)-m.Sent)))
		}
		end = max(end, m.Received)
	}
}

// checkEarlyEnds finds scans that nobody can have ended.
func (c *checker) checkEarlyEnds() {
	aborts := newCover(c.met)
	for _, s := range c.scans {
		if !s.completed && !aborts.touched(s.Span) {
			c.found.add(NobodyAborted, s.Span, "completed is false")
		}
	}
}

// checkProgress looks at the statuses that can be of one scan only. Progress
// never falls: a status sent after another's reply shows at least as much.
func (c *checker) checkProgress() {
	holders := newCover(c.holders)
	of := map[Span][]moment{}
	for _, m := range c.running {
		if only, ok := holders.only(m.Span); ok {
			of[only] = append(of[only], m)
		}
	}
	for _, moments := range of {
		c.checkScan(moments)
	}
}

// fall is a status that shows less progress than an earlier reply.
type fall struct {
	of    moment
	least ScanStatus
}

// checkScan looks at the statuses of one scan. If the node may show the
// previous scan's status for a while, statuses equal to the first peak before a
// fall are left out.
func (c *checker) checkScan(moments []moment) {
	falls := fallsOf(moments)
	if c.rules.ProbesTakeSlot && len(falls) > 0 {
		before := falls[0].least
		moments = slices.DeleteFunc(moments, func(m moment) bool { return m.ScanStatus == before })
		falls = fallsOf(moments)
	}
	for _, f := range falls {
		c.found.add(WentBack, f.of.Span, fmt.Sprintf("height %d (%d %%) after height %d (%d %%)",
			f.of.Height, f.of.Progress, f.least.Height, f.least.Progress))
	}
}

func fallsOf(moments []moment) (falls []fall) {
	slices.SortFunc(moments, func(a, b moment) int { return bySent(a.Span, b.Span) })
	replied := slices.Clone(moments)
	slices.SortFunc(replied, func(a, b moment) int { return cmp.Compare(a.Received, b.Received) })
	least := ScanStatus{}
	for _, m := range moments {
		for len(replied) > 0 && replied[0].Received < m.Sent {
			least.Height = max(least.Height, replied[0].Height)
			if replied[0].Height > 0 { // else scripts are derived, whose progress is another
				least.Progress = max(least.Progress, replied[0].Progress)
			}
			replied = replied[1:]
		}
		if m.Height < least.Height || m.Progress < least.Progress {
			falls = append(falls, fall{m, least})
		}
	}
	return falls
}

func bySent(a, b Span) int { return cmp.Compare(a.Sent, b.Sent) }

// cover answers questions about a set of spans.
type cover struct {
	spans []Span          // by Sent
	end   []time.Duration // the latest Received of the spans up to each
}

func newCover(spans []Span) *cover {
	c := &cover{spans: slices.Clone(spans)}
	slices.SortFunc(c.spans, bySent)
	latest := time.Duration(-1)
	for _, s := range c.spans {
		latest = max(latest, s.Received)
		c.end = append(c.end, latest)
	}
	return c
}

// sentUntil returns how many spans were sent at a moment or before it.
func (c *cover) sentUntil(t time.Duration) int {
	return sort.Search(len(c.spans), func(i int) bool { return c.spans[i].Sent > t })
}

// touched reports whether a span of the set has a moment in common with s.
func (c *cover) touched(s Span) bool {
	n := c.sentUntil(s.Received)
	return n > 0 && c.end[n-1] >= s.Sent
}

// encloses reports whether all of s lies in one span of the set.
func (c *cover) encloses(s Span) bool {
	n := c.sentUntil(s.Sent)
	return n > 0 && c.end[n-1] >= s.Received
}

// only returns the one span that has a moment in common with s, if there is
// exactly one.
func (c *cover) only(s Span) (found Span, ok bool) {
	for i := c.sentUntil(s.Received) - 1; i >= 0 && c.end[i] >= s.Sent; i-- {
		if !c.spans[i].touches(s) {
			continue
		}
		if ok {
			return Span{}, false
		}
		found, ok = c.spans[i], true
	}
	return found, ok
}

package load

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A history finds the contradictions in what a node answered to many
// callers of scanblocks at once.
//
// Every call happens at some moment between when it was sent and when its reply
// was there; nothing more is known of the node's clock. A [History] records
// every reply. [History.Check] names the replies that are impossible for a node
// with one scan at a time, one fixed range of blocks, and no other callers:
//
//   - A start is refused as busy, a status shows progress, or an abort is true,
//     while no scan can have been running.
//   - A status is null or an abort false, or another scan was accepted, in the
//     midst of a scan.
//   - A scan is incomplete though nobody aborted it.
//   - A result is not the beginning of the whole result.
//   - The progress of one scan falls.
//
// The midst of a scan is the time from its start to its reply, less a slack at
// either end. The slack is twice the time of the slowest call that does no work.

// A Span is when a call was sent and when its reply was there, on one clock
// that never goes back.
type Span struct{ Sent, Received time.Duration }

// touches reports whether the two have a moment in common.
func (s Span) touches(other Span) bool {
	return s.Sent <= other.Received && other.Sent <= s.Received
}

// Never is when a lost reply was received.
const Never time.Duration = 1<<63 - 1

// Whole is the result of an undisturbed scan.
type Whole struct {
	From, To int32    // heights
	Blocks   []string // hashes of relevant blocks, by height
	Heights  []int32  // of Blocks
}

// ScanOutcome is what a scan that was accepted returned.
type ScanOutcome struct {
	From      int32    `json:"from_height"`
	To        int32    `json:"to_height"`
	Blocks    []string `json:"relevant_blocks"`
	Completed bool     `json:"completed"`
}

// ScanStatus is a scan's progress.
type ScanStatus struct {
	Progress int   `json:"progress"` // percent
	Height   int32 `json:"current_height"`
}

// Rules say what the node promises.
type Rules struct {
	// ProbesTakeSlot is set for Bitcoin Core: there a status or an abort may
	// make a start of the same moment fail. It also shows the status of the scan
	// before until a new scan begins to match.
	ProbesTakeSlot bool
}

// A History keeps what is needed of each reply, about 32 bytes. It is safe for
// concurrent use.
type History struct {
	rules Rules
	whole *Whole // nil: no scan is started

	mu       sync.Mutex
	holders  []Span   // of calls that may have had the slot for a scan
	scans    []scan   // accepted, with a result
	busy     []Span   // starts refused
	running  []moment // statuses that showed progress
	idle     []Span   // statuses that were null
	aborted  []Span   // aborts that were true
	met      []Span   // those, and those without a reply
	unmet    []Span   // aborts that were false
	slowest  time.Duration
	findings findings
}

type scan struct {
	Span
	completed bool
}

type moment struct {
	Span
	ScanStatus
}

// NewHistory returns an empty history of a node. whole may be nil when no caller
// starts scans.
func NewHistory(rules Rules, whole *Whole) *History {
	return &History{rules: rules, whole: whole, findings: findings{}}
}

// Scanned notes a start with its result.
func (h *History) Scanned(at Span, r ScanOutcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holders = append(h.holders, at)
	h.scans = append(h.scans, scan{at, r.Completed})
	if fault := h.whole.compare(r); fault != "" {
		h.findings.add(WrongResult, at, fault)
	}
}

// Busy notes a start that was refused because of another scan.
func (h *History) Busy(at Span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = append(h.busy, at)
	h.noWork(at)
}

// Failed notes a start that failed for another reason, or without a reply:
// Received is [Never] then. It may have taken the slot.
func (h *History) Failed(at Span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holders = append(h.holders, at)
}

// Running notes a status that showed progress.
func (h *History) Running(at Span, s ScanStatus) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = append(h.running, moment{at, s})
	h.noWork(at)
	if fault := h.whole.encloses(s); fault != "" {
		h.findings.add(WrongStatus, at, fault)
	}
}

// Idle notes a status that was null.
func (h *History) Idle(at Span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.idle = append(h.idle, at)
	h.noWork(at)
}

// Aborted notes the answer to an abort.
func (h *History) Aborted(at Span, met bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noWork(at)
	if met {
		h.aborted = append(h.aborted, at)
		h.met = append(h.met, at)
		return
	}
	h.unmet = append(h.unmet, at)
}

// AbortLost notes an abort without a reply, which may have ended a scan.
func (h *History) AbortLost(sent time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.met = append(h.met, Span{sent, Never})
}

// Searched notes what no search can have told.
func (h *History) Searched(at Span, fault string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.findings.add(WrongSearch, at, fault)
}

// Odd notes a reply that is wrong by itself.
func (h *History) Odd(at Span, fault string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.findings.add(WrongReply, at, fault)
}

func (h *History) noWork(at Span) { h.slowest = max(h.slowest, at.Received-at.Sent) }

// compare returns what is wrong with a result, nothing for a good one.
func (w *Whole) compare(r ScanOutcome) string {
	if w == nil {
		return "a result though no scan was started"
	}
	switch {
	case r.From != w.From:
		return fmt.Sprintf("from_height %d, want %d", r.From, w.From)
	case r.To < w.From || r.To > w.To:
		return fmt.Sprintf("to_height %d outside %d to %d", r.To, w.From, w.To)
	case r.Completed && r.To != w.To:
		return fmt.Sprintf("completed at to_height %d, want %d", r.To, w.To)
	case !r.Completed && r.To == w.From && len(r.Blocks) == 0:
		return "" // nothing was looked at yet
	}
	count, _ := slices.BinarySearch(w.Heights, r.To+1)
	if !slices.Equal(r.Blocks, w.Blocks[:count]) {
		return fmt.Sprintf(
			"%d relevant blocks up to height %d are not the %d of the undisturbed scan", len(r.Blocks), r.To, count,
		)
	}
	return ""
}

// encloses returns what is wrong with a status, nothing for a good one.
func (w *Whole) encloses(s ScanStatus) string {
	switch {
	case s.Progress < 0 || s.Progress > 100:
		return fmt.Sprintf("progress %d", s.Progress)
	case w != nil && (s.Height > w.To || s.Height < w.From):
		return fmt.Sprintf("current_height %d outside %d to %d", s.Height, w.From, w.To)
	}
	return ""
}

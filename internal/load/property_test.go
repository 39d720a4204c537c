package load

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// node is a node with a number of slots for scans: one is right.
type node struct {
	slots int
	held  []*holder
}

type holder struct {
	call  *call
	began time.Duration
}

// call is one call on its way: it takes effect at a moment between the moments
// when it is sent and when it is answered.
type call struct {
	kind         int // 0 start, 1 status, 2 abort
	sent, effect time.Duration
	back         time.Duration // how long the reply travels
}

// duration is that of a scan of the whole range.
const duration = 1000

// maxDelay is how long a call or a reply may travel.
const maxDelay = 40

func calls(t *rapid.T) []*call {
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *call {
		sent := time.Duration(rapid.IntRange(0, 5000).Draw(t, "sent"))
		return &call{
			kind: rapid.IntRange(0, 2).Draw(t, "kind"), sent: sent,
			effect: sent + time.Duration(rapid.IntRange(0, maxDelay).Draw(t, "there")),
			back:   time.Duration(rapid.IntRange(0, maxDelay).Draw(t, "back")),
		}
	}), 0, 60).Draw(t, "calls")
	// One call is as slow as any can be, so that the slack is known.
	list = append(list, &call{kind: 1, sent: 6000, effect: 6000 + maxDelay, back: maxDelay})
	slices.SortStableFunc(list, func(a, b *call) int { return int(a.effect - b.effect) })
	return list
}

// play lets a node answer calls, in the order of their effects.
func (n *node) play(h *History, list []*call) {
	for _, c := range list {
		n.finish(h, c.effect)
		at := Span{c.sent, c.effect + c.back}
		switch {
		case c.kind == 0 && len(n.held) == n.slots:
			h.Busy(at)
		case c.kind == 0:
			n.held = append(n.held, &holder{call: c, began: c.effect})
		case c.kind == 1 && len(n.held) == 0:
			h.Idle(at)
		case c.kind == 1:
			height := int32((c.effect - n.held[0].began) / 10)
			h.Running(at, ScanStatus{int(height), height})
		default:
			h.Aborted(at, len(n.held) > 0)
			for _, s := range n.held {
				s.end(h, c.effect, false)
			}
			n.held = nil
		}
	}
	n.finish(h, 1<<40)
}

// finish ends the scans that are done by a moment.
func (n *node) finish(h *History, now time.Duration) {
	n.held = slices.DeleteFunc(n.held, func(s *holder) bool {
		if s.began+duration > now {
			return false
		}
		s.end(h, s.began+duration, true)
		return true
	})
}

func (s *holder) end(h *History, now time.Duration, completed bool) {
	to := int32((now - s.began) / 10)
	count, _ := slices.BinarySearch(whole.Heights, to+1)
	outcome := ScanOutcome{To: to, Blocks: whole.Blocks[:count], Completed: completed}
	h.Scanned(Span{s.call.sent, now + s.call.back}, outcome)
}

// A node with one slot is never wrong, whatever its calls wait for.
func TestNoFalseFindingProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := NewHistory(Rules{}, whole)
		(&node{slots: 1}).play(h, calls(t))
		if found := h.Check(); len(found) > 0 {
			t.Errorf("a good node was found to be wrong: %v", found)
		}
	})
}

// A node with two slots is found out as soon as both are taken for long enough.
func TestTwoSlotsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Duration(rapid.IntRange(0, 100).Draw(t, "first"))
		second := first + time.Duration(rapid.IntRange(0, 400).Draw(t, "second"))
		list := []*call{
			{kind: 0, sent: first, effect: first + 5, back: 5},
			{kind: 0, sent: second, effect: second + 5, back: 5},
			{kind: 1, sent: 3000, effect: 3000 + maxDelay, back: maxDelay},
		}
		h := NewHistory(Rules{}, whole)
		(&node{slots: 2}).play(h, list)
		found := h.Check()
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == TwoScans }) {
			t.Errorf("two scans at a time were not found: %v", found)
		}
	})
}

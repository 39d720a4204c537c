package load

import (
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// at returns a span in milliseconds.
func at(sent, received int) Span { return Span{time.Duration(sent) * ms, time.Duration(received) * ms} }

var whole = &Whole{From: 0, To: 100, Blocks: []string{"a", "b", "c"}, Heights: []int32{0, 50, 100}}

// scanned notes a scan over the whole range, or a scan that was aborted at 60.
func scanned(h *History, span Span, completed bool) {
	if completed {
		h.Scanned(span, ScanOutcome{To: 100, Blocks: []string{"a", "b", "c"}, Completed: true})
		return
	}
	h.Scanned(span, ScanOutcome{To: 60, Blocks: []string{"a", "b"}})
}

func TestCheck(t *testing.T) {
	core := Rules{ProbesTakeSlot: true}
	tests := []struct {
		name  string
		rules Rules
		note  func(h *History)
		want  []Rule
	}{
		{"nothing", Rules{}, func(*History) {}, nil},
		{"a scan and all that may meet it", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Busy(at(10, 11))
			h.Running(at(20, 21), ScanStatus{20, 20})
			h.Aborted(at(99, 101), true) // too late to end it
			h.Idle(at(100, 101))
			h.Aborted(at(102, 103), false)
		}, nil},
		{"an aborted scan", Rules{}, func(h *History) {
			h.Aborted(at(50, 51), true)
			scanned(h, at(0, 52), false)
		}, nil},
		{"an abort without a reply", Rules{}, func(h *History) {
			h.AbortLost(40 * ms)
			scanned(h, at(0, 52), false)
		}, nil},
		{"one scan after another", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			scanned(h, at(1, 200), true) // was held up by half
			h.Idle(at(0, 30))
		}, nil},
		{"a start without a reply may run", Rules{}, func(h *History) {
			h.Failed(Span{5 * ms, Never})
			h.Busy(at(1000, 1001))
			h.Running(at(1001, 1002), ScanStatus{3, 3})
		}, nil},

		{"busy before any scan", Rules{}, func(h *History) {
			h.Busy(at(1, 2))
			scanned(h, at(3, 100), true)
		}, []Rule{NoScanToMeet}},
		{"busy between scans", Rules{}, func(h *History) {
			scanned(h, at(0, 10), true)
			h.Busy(at(11, 12))
			scanned(h, at(13, 20), true)
		}, []Rule{NoScanToMeet}},
		{"busy after a failed start", Rules{}, func(h *History) {
			h.Failed(at(0, 10))
			h.Busy(at(11, 12))
		}, []Rule{NoScanToMeet}},
		{"busy because of a status", Rules{}, func(h *History) {
			h.Idle(at(1, 3))
			h.Busy(at(2, 4))
		}, []Rule{NoScanToMeet}},
		{"busy because of a status, in Core", core, func(h *History) {
			h.Idle(at(1, 3))
			h.Busy(at(2, 4))
		}, nil},
		{"busy for no reason, in Core", core, func(h *History) {
			h.Idle(at(1, 3))
			h.Busy(at(4, 5))
		}, []Rule{NoScanToMeet}},
		{"progress without a scan", Rules{}, func(h *History) {
			h.Running(at(1, 2), ScanStatus{1, 1})
		}, []Rule{NoScanToMeet}},
		{"a true abort without a scan", Rules{}, func(h *History) {
			scanned(h, at(0, 10), true)
			h.Aborted(at(11, 12), true)
		}, []Rule{NoScanToMeet}},

		{"null in the midst of a scan", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Idle(at(50, 51))
		}, []Rule{ScanNotMet}},
		{"null where a scan may have begun late", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Idle(at(1, 2))
			h.Idle(at(98, 99))
		}, nil},
		{"a false abort in the midst of a scan", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Aborted(at(50, 51), false)
		}, []Rule{ScanNotMet}},
		{"slow calls may have met a gap", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Aborted(at(40, 70), false)
		}, nil},

		{"a scan within a scan", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			scanned(h, at(20, 80), true)
		}, []Rule{TwoScans}},
		{"two scans overlap", Rules{}, func(h *History) {
			h.Busy(at(1, 6))
			scanned(h, at(0, 100), true)
			scanned(h, at(70, 170), true)
		}, []Rule{TwoScans}},
		{"two scans overlap within the slack", Rules{}, func(h *History) {
			h.Busy(at(1, 6))
			scanned(h, at(0, 100), true)
			scanned(h, at(80, 170), true)
		}, nil},

		{"an early end", Rules{}, func(h *History) {
			scanned(h, at(0, 100), false)
		}, []Rule{NobodyAborted}},
		{"an early end, and an abort of another scan", Rules{}, func(h *History) {
			scanned(h, at(0, 100), false)
			h.Aborted(at(110, 120), true)
			scanned(h, at(105, 121), false)
		}, []Rule{NobodyAborted}},

		{"progress goes back", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(50, 51), ScanStatus{50, 50})
			h.Running(at(60, 61), ScanStatus{49, 49})
		}, []Rule{WentBack}},
		{"the percentage goes back", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(50, 51), ScanStatus{50, 50})
			h.Running(at(60, 61), ScanStatus{49, 50})
		}, []Rule{WentBack}},
		{"statuses at the same time", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(50, 60), ScanStatus{50, 50})
			h.Running(at(55, 61), ScanStatus{49, 49})
		}, nil},
		{"blocks after scripts", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(50, 51), ScanStatus{80, 0})
			h.Running(at(60, 61), ScanStatus{1, 1})
		}, nil},
		{"scripts after blocks", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(50, 51), ScanStatus{1, 1})
			h.Running(at(60, 61), ScanStatus{80, 0})
		}, []Rule{WentBack}},
		{"progress of the next scan", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(50, 51), ScanStatus{50, 50})
			h.Running(at(101, 102), ScanStatus{1, 1})
			scanned(h, at(100, 200), true)
		}, nil},
		{"progress of the scan before, in Core", core, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(10, 11), ScanStatus{100, 100})
			h.Running(at(12, 13), ScanStatus{1, 1})
			h.Running(at(14, 15), ScanStatus{2, 2})
		}, nil},
		{"late news of the scan before, in Core", core, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(10, 40), ScanStatus{1, 1})
			h.Running(at(12, 13), ScanStatus{100, 100})
			h.Running(at(14, 15), ScanStatus{100, 100})
			h.Running(at(16, 17), ScanStatus{1, 1})
			h.Running(at(41, 42), ScanStatus{1, 1})
		}, nil},
		{"progress falls twice, in Core", core, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(10, 11), ScanStatus{100, 100})
			h.Running(at(12, 13), ScanStatus{2, 2})
			h.Running(at(14, 15), ScanStatus{1, 1})
		}, []Rule{WentBack}},

		{"a height beyond the range", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(50, 51), ScanStatus{50, 101})
		}, []Rule{WrongStatus}},
		{"more than everything", Rules{}, func(h *History) {
			scanned(h, at(0, 100), true)
			h.Running(at(50, 51), ScanStatus{101, 100})
		}, []Rule{WrongStatus}},
		{"an odd reply", Rules{}, func(h *History) { h.Odd(at(1, 2), "x") }, []Rule{WrongReply}},
		{"two at once", Rules{}, func(h *History) {
			h.Busy(at(1, 2))
			h.Odd(at(1, 2), "x")
		}, []Rule{WrongReply, NoScanToMeet}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := NewHistory(test.rules, whole)
			test.note(h)
			got := h.Check()
			if again := h.Check(); len(again) != len(got) || (len(got) > 0 && again[0].Count != got[0].Count) {
				t.Errorf("second check: %v, first: %v", again, got)
			}
			var rules []Rule
			for _, f := range got {
				rules = append(rules, f.Rule)
			}
			slices.Sort(rules)
			slices.Sort(test.want)
			if !slices.Equal(rules, test.want) {
				t.Errorf("got %v, want %q", got, test.want)
			}
		})
	}
}

func TestResults(t *testing.T) {
	tests := []struct {
		name   string
		result ScanOutcome
		good   bool
	}{
		{"whole", ScanOutcome{0, 100, []string{"a", "b", "c"}, true}, true},
		{"beginning", ScanOutcome{0, 50, []string{"a", "b"}, false}, true},
		{"beginning between blocks", ScanOutcome{0, 99, []string{"a", "b"}, false}, true},
		{"the first block", ScanOutcome{0, 0, []string{"a"}, false}, true},
		{"nothing yet", ScanOutcome{0, 0, nil, false}, true},
		{"everything, yet aborted", ScanOutcome{0, 100, []string{"a", "b", "c"}, false}, true},
		{"another from_height", ScanOutcome{1, 100, []string{"b", "c"}, true}, false},
		{"beyond the end", ScanOutcome{0, 101, []string{"a", "b", "c"}, true}, false},
		{"before the begin", ScanOutcome{0, -1, nil, false}, false},
		{"completed too early", ScanOutcome{0, 99, []string{"a", "b"}, true}, false},
		{"a block is missing", ScanOutcome{0, 100, []string{"a", "c"}, true}, false},
		{"a block too many", ScanOutcome{0, 49, []string{"a", "b"}, false}, false},
		{"another order", ScanOutcome{0, 100, []string{"a", "c", "b"}, true}, false},
		{"nothing after a while", ScanOutcome{0, 10, nil, false}, false},
	}
	for _, test := range tests {
		if fault := whole.compare(test.result); (fault == "") != test.good {
			t.Errorf("%s: %q", test.name, fault)
		}
	}
	if (*Whole)(nil).compare(ScanOutcome{}) == "" {
		t.Error("a result of no scan is good")
	}
}

// Only a few examples of a rule are kept, and all are counted.
func TestExamples(t *testing.T) {
	h := NewHistory(Rules{}, whole)
	for range 3 * examples {
		h.Odd(at(1, 2), "x")
	}
	got := h.Check()
	if len(got) != 1 || got[0].Count != 3*examples || len(got[0].Examples) != examples {
		t.Errorf("got %v", got)
	}
}

package searches

import (
	"testing"

	"github.com/seed61375155/trawl/store/searchdb"
)

// The mode that was ordered last is reported, also while it is being written.
func TestReportedMode(t *testing.T) {
	t.Parallel()
	j := &job{Search: &searchdb.Search{ID: 7}, shown: &searchdb.Status{}}
	w := &modeWriter{}
	check := func(when string, mode searchdb.Mode, pending bool) {
		t.Helper()
		if got, waits := w.reported(j); got != mode || waits != pending {
			t.Errorf("%s: %v, %v", when, got, waits)
		}
	}
	shown := j.shown.Mode
	check("at rest", shown, false)
	w.writing = map[searchdb.ID]order{j.ID: {j, searchdb.ModeChange{Mode: searchdb.Paused}}}
	check("while it is written", searchdb.Paused, true)
	w.next = map[searchdb.ID]order{j.ID: {j, searchdb.ModeChange{Mode: searchdb.Running}}}
	check("ordered again", searchdb.Running, true)
}

// Data of any length counts by its digits, every other opcode by the longest name.
func TestWordsOf(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"": 0, "\xac": 23, "\x01\xaa": 2, "\x02\xaa\xbb\xac\x51": 4 + 2*23, "\x02\xaa": 0} {
		if got := wordsOf([]byte(script)); got != want {
			t.Errorf("%x: %d, want %d", script, got, want)
		}
	}
}

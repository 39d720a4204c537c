package replay

import (
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// TestLaterAnswers: each of the list stands in the place of a recorded answer, has a reason, and is not the same.
func TestLaterAnswers(t *testing.T) {
	left := make(map[string]bool)
	for name := range laterAnswers() {
		left[name] = true
	}
	if len(left) == 0 {
		t.Fatal("the list is empty")
	}
	files, err := filepath.Glob("../testdata/golden/*/*.jsonl*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for c, err := range recordedCases(file) {
			if err != nil {
				t.Fatal(err)
			}
			l, ok := LaterAnswer(c.Name)
			if !ok {
				continue
			}
			delete(left, c.Name)
			recorded, err := jsontree.Parse([]byte(*c.Response))
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			later, err := jsontree.Parse([]byte(l.Response))
			if err != nil || l.Reason == "" || l.Response == *c.Response ||
				later.Get("id").String() != recorded.Get("id").String() {
				t.Errorf("%s: not another answer, or without a reason: %v", c.Name, err)
			}
			c.correct()
			if diffs := CompareBody(l.Response, *c.Response, &c.Compare); len(diffs) > 0 {
				t.Errorf("%s: %v", c.Name, diffs)
			}
		}
	}
	for name := range left {
		t.Errorf("%s is no recorded case", name)
	}
}

package metrics_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/metrics.md anew")

const tableHead = "| metric | labels | what |\n|---|---|---|\n"

// The page of metrics has a row for each of ours.
func TestDocs(t *testing.T) {
	families := scrape(t, start(t, complete()))
	var rows strings.Builder
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if runtimes(name) {
			continue
		}
		var labels []string
		for _, label := range families[name].GetMetric()[0].GetLabel() {
			labels = append(labels, label.GetName())
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", name, strings.Join(labels, ", "), families[name].GetHelp())
	}
	const path = "../../docs/metrics.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, table, ok := strings.Cut(string(text), tableHead)
	_, after, end := strings.Cut(table, "\nBeside")
	if !ok || !end {
		t.Fatal("the page has no table")
	}
	want := before + tableHead + rows.String() + "\nBeside" + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("the table is not current: go test ./internal/metrics -run TestDocs -update")
	}
}

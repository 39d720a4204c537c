package differ_test

import (
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/differ"
)

// The statements of docs/core.md on Core's methods rest on a record of their usage lines and
// arguments, which a test of the daemon compares with ours. Here the record is compared with a
// live Core.
func TestHelp(t *testing.T) {
	p := differ.Start(t, differ.Config{})
	record, err := os.ReadFile("../../cmd/trawld/testdata/core/methods.txt")
	if err != nil {
		t.Fatal(err)
	}
	help := func(params ...any) (text string) {
		if err := p.Core.Call(t.Context(), &text, "help", params...); err != nil {
			t.Fatal(err)
		}
		return text
	}
	got, names := "", map[string]bool{}
	for line := range strings.Lines(string(record)) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(line, " ") {
			got, names[name] = got+differ.Usage(help(name)), true
		}
	}
	if got != string(record) {
		t.Errorf("the record is not what Core says:\n%s", got)
	}
	for line := range strings.Lines(help()) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); name != "" && name != "==" && !names[name] {
			t.Errorf("%s is not in the record", name)
		}
	}
}

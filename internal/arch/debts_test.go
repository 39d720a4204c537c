package arch

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var record = flag.Bool("record", false, "write testdata/debts.txt anew")

const debtsFile = "testdata/debts.txt"

// A debt is how often a rule is still broken in a room. The recorded numbers may
// only fall.
type debt struct{ rule, room string }

// tally counts where rules are broken.
type tally map[debt][]string

func (c tally) add(rule string, f *folder, at token.Pos, format string, args ...any) {
	key := debt{rule, f.name}
	c[key] = append(c[key], fmt.Sprintf("%v: ", positions.Position(at))+fmt.Sprintf(format, args...))
}

// Rules that are not kept everywhere yet are broken no more often than recorded.
func TestDebtsOnlyFall(t *testing.T) {
	found := tally{}
	for _, f := range folders(t) {
		dialectAsked(found, f)
		sizes(found, f)
		lines(t, found, f)
		words(found, f)
		sharedState(found, f)
		strayGoroutines(found, f)
		diskCalls(found, f)
		prose(found, f)
	}
	if *record {
		if err := os.WriteFile(debtsFile, []byte(found.text()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	recorded := readDebts(t)
	for key, places := range found {
		if len(places) > recorded[key] {
			t.Errorf("%s in %s: %d places, of which testdata/debts.txt allows %d\n\t%s",
				key.rule, key.room, len(places), recorded[key], strings.Join(places, "\n\t"))
		}
	}
}

func (c tally) text() string {
	var b strings.Builder
	for _, key := range slices.SortedFunc(maps.Keys(c), func(x, y debt) int {
		return cmp.Or(strings.Compare(x.rule, y.rule), strings.Compare(x.room, y.room))
	}) {
		fmt.Fprintf(&b, "%s %s %d\n", key.rule, key.room, len(c[key]))
	}
	return b.String()
}

func readDebts(t *testing.T) map[debt]int {
	t.Helper()
	file, err := os.Open(filepath.FromSlash(debtsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	recorded := map[debt]int{}
	for s := bufio.NewScanner(file); s.Scan(); {
		var key debt
		var n int
		if _, err := fmt.Sscan(s.Text(), &key.rule, &key.room, &n); err != nil {
			t.Fatalf("%s: %q: %v", debtsFile, s.Text(), err)
		}
		recorded[key] = n
	}
	return recorded
}

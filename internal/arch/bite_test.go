package arch

import (
	"go/ast"
	"go/parser"
	"strings"
	"testing"
)

// Each rule whose breaches are counted sees what it is to forbid, and no more.
func TestCountedRulesBite(t *testing.T) {
	const source = `package p
import ("os"; "sync"; "sync/atomic")
var state, other int
var counter atomic.Int64
var wg sync.WaitGroup
type wide interface { a(); b(); c(); d(); e(); f() }
type narrow interface { a(); b(); c(); d(); e() }
type merit struct { crew int }
func f(state2 int) {
	state = 1            // shared
	counter.Add(1)       // shared
	go f(1)              // goroutine
	wg.Go(nil)           // goroutine
	os.Remove("x")       // disk
	os.ReadFile("x")
	state2 = 2
	other := 3
	other = 4
	n.P2MR()             // asked
	_ = n.Dialect        // asked
}
func initTable() { state = 2 }
` + "func long() { _ = " + `"` + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" + `" }
`
	file, err := parser.ParseFile(positions, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{name: "actors/peers", files: []*ast.File{file}}
	found := tally{}
	dialectAsked(found, f)
	sizes(found, f)
	words(found, f)
	sharedState(found, f)
	strayGoroutines(found, f)
	diskCalls(found, f)
	for rule, want := range map[string]int{
		"dialect-asked": 2, "wide-interfaces": 1, "words": 2, "shared-state": 2, "goroutines": 2, "disk": 1,
	} {
		if got := found[debt{rule, f.name}]; len(got) != want {
			t.Errorf("%s: %d places, want %d: %v", rule, len(got), want, got)
		}
	}
	if len(found) != 6 {
		t.Errorf("got %d rules: %v", len(found), found)
	}
	if got := columns("\tx\té"); got != 10 {
		t.Errorf("%d columns, want 10", got)
	}
	if got, want := withoutTexts(`a("x\"y", `+"`z\\`"+`)`), "a(\"\", ``)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	word := strings.Repeat("x", 80)
	for line, want := range map[string]bool{
		`f("` + strings.Repeat("a b ", 40) + `")`: true, "f(`" + strings.Repeat("a b ", 40) + "`)": false,
		`f("` + word + `", "` + word + `")`: false, "// see " + word + word: false,
		"f(" + strings.Repeat("a, ", 40) + ")": true, strings.Repeat("\t", 31): true,
	} {
		if tooLong(line, false) != want {
			t.Errorf("%s: want %t", line, want)
		}
	}
	if !strings.Contains(found.text(), "words actors/peers 2\n") {
		t.Errorf("got %s", found.text())
	}
}

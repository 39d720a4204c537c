package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// allOfNodes is the command of `make large` that runs the tests of internal/e2e.
const allOfNodes = "\nlarge-nodes:\n\t$(GO) test $(QUICK) -shuffle=on -parallel=3 -timeout=15m ./internal/e2e\n"

// `make large` runs each test that does less under the race detector.
func TestLargeRunsWhatIsLeftToIt(t *testing.T) {
	named, makefile := map[string]bool{}, readText(t, "Makefile")
	if !strings.Contains(makefile, allOfNodes) {
		t.Error("`make large` does not run all of internal/e2e")
	}
	for line := range strings.Lines(makefile) {
		if strings.HasPrefix(line, "LARGE_") {
			_, list, _ := strings.Cut(line, ":=")
			for name := range strings.SplitSeq(strings.TrimSpace(list), "|") {
				named[name] = true
			}
		}
	}
	left := 0
	serial := strings.Fields(readText(t, "internal/arch/"+serialFile))
	for _, f := range folders(t) {
		for _, name := range leftOut(f) {
			left++
			if slices.Contains(serial, module+"/"+f.name) {
				t.Errorf("%s of %s asks for the race detector, without which the package is tested", name, f.name)
			}
			if !named[name] && f.name != "internal/e2e" {
				t.Errorf("%s of %s does less under the race detector, and `make large` does not run it", name, f.name)
			}
		}
	}
	if left < 20 {
		t.Errorf("only %d tests do less under the race detector", left)
	}
}

// leftOut returns the tests of a folder that skip themselves under the race detector, or do less: they look at
// raceEnabled, or call a function of the folder that does.
func leftOut(f *folder) (names []string) {
	asks := map[string]bool{"SkipUnderRace": true, "raceEnabled": true}
	for known := 0; known < len(asks); {
		known = len(asks)
		for _, file := range f.tests {
			for _, decl := range file.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && mentions(fn, asks) {
					asks[fn.Name.Name] = true
				}
			}
		}
	}
	for name := range asks {
		if strings.HasPrefix(name, "Test") && name != "TestMain" {
			names = append(names, name)
		}
	}
	return names
}

// mentions reports whether one of the names stands in the body of a function.
func mentions(fn *ast.FuncDecl, names map[string]bool) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id != fn.Name && names[id.Name] {
			found = true
		}
		return !found
	})
	return found
}

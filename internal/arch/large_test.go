package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// What a test leaves to `make large` has to be run by it.
func TestLargeRunsWhatIsLeftToIt(t *testing.T) {
	named := map[string]bool{}
	for line := range strings.Lines(readText(t, "Makefile")) {
		if strings.HasPrefix(line, "LARGE_") {
			_, list, _ := strings.Cut(line, ":=")
			for name := range strings.SplitSeq(strings.TrimSpace(list), "|") {
				named[name] = true
			}
		}
	}
	left := 0
	for _, f := range folders(t) {
		for _, file := range f.tests {
			for _, name := range skippedUnderRace(file) {
				left++
				if !named[name] {
					t.Errorf("%s of %s skips itself under the race detector, and `make large` does not run it", name, f.name)
				}
			}
		}
	}
	if left < 10 {
		t.Errorf("only %d tests skip themselves under the race detector", left)
	}
}

// skippedUnderRace returns the tests of a file that the race detector does not run.
func skippedUnderRace(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && lastName(call.Fun) == "SkipUnderRace" {
				names = append(names, fn.Name.Name)
			}
			return true
		})
	}
	return names
}

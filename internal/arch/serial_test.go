package arch

import (
	"go/ast"
	"os"
	"slices"
	"strings"
	"testing"
)

// serialFile lists the packages that are tested without the race detector.
const serialFile = "testdata/serial.txt"

// tools are packages that only compare with other programs, read the tree, measure or build: their tests skip
// themselves in CI, or run other programs.
var tools = []string{"deploy/release", "filters/internal/asmgen", "internal/arch", "internal/differ", "internal/soak"}

// otherModules are folders that are modules of their own.
var otherModules = []string{"bench", "deploy/grafana", "deploy/image", "deploy/validate", "internal/e2e/browser"}

// concurrent are imports of packages that run goroutines for their callers.
var concurrent = []string{
	"net", "net/http", "net/http/httptest", "testing/synctest",
	"github.com/asynkron/protoactor-go/actor",
	module + "/internal/actortest", module + "/internal/ask", module + "/internal/cores", module + "/internal/e2e",
}

// Packages that the race detector cannot help are tested without it, and no others: neither their code nor their tests
// start goroutines. Tests that run beside each other share nothing but what the packages guard (no global is written).
func TestSerialPackages(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	count := 0
	for _, f := range folders(t) {
		isTool := slices.ContainsFunc(tools, f.in)
		other := f.name == "." || slices.ContainsFunc(otherModules, f.in) // the root's node runs goroutines
		if len(f.tests) > 0 && (isTool || !f.hasGoroutines()) && !other {
			list.WriteString(module + "/" + f.name + "\n")
			count++
		}
	}
	if *record {
		if err := os.WriteFile(serialFile, []byte(list.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(serialFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != list.String() {
		t.Errorf("%s is not the list of packages without goroutines: `go test ./internal/arch -record` writes it", serialFile)
	}
	if count < 30 {
		t.Errorf("only %d packages have no goroutines", count)
	}
}

// hasGoroutines reports whether the code or the tests of a folder start goroutines, or import packages that do.
func (f *folder) hasGoroutines() bool {
	return slices.ContainsFunc(slices.Concat(f.files, f.tests), startsGoroutines)
}

func startsGoroutines(file *ast.File) bool {
	found := slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		return slices.Contains(concurrent, importPath(spec))
	})
	ast.Inspect(file, func(n ast.Node) bool {
		_, starts := n.(*ast.GoStmt)
		found = found || starts
		return !found
	})
	return found
}

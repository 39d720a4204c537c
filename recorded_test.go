package trawl

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Where a change is meant, `go test . -run TestRecorded -record` renews the recordings.
var record = flag.Bool("record", false, "write the recordings of the public packages anew")

// The exported names of the public packages are what they were.
func TestRecordedAPI(t *testing.T) {
	var b strings.Builder
	for _, dir := range []string{".", "messages", "descriptor", "filters"} {
		fmt.Fprintf(&b, "# %s\n%s\n", dir, exported(t, dir))
	}
	compare(t, "api.txt", b.String())
}

// exported returns the exported declarations of a package, sorted, without comments.
func exported(t *testing.T, dir string) string {
	t.Helper()
	packages, err := sources(dir)
	if err != nil || len(packages) != 1 {
		t.Fatalf("%s: %d packages, %v", dir, len(packages), err)
	}
	var list []string
	for _, pkg := range packages {
		for _, file := range pkg.Files {
			ast.FileExports(file)
			for _, decl := range file.Decls {
				if text := shown(t, decl); text != "" {
					list = append(list, text)
				}
			}
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "\n") + "\n"
}

// sources parses the files of a package but for tests, whatever system they are for.
func sources(dir string) (map[string]*ast.Package, error) { //nolint:staticcheck // as below
	code := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	//nolint:staticcheck // as above
	return parser.ParseDir(token.NewFileSet(), dir, code, parser.SkipObjectResolution)
}

// shown returns a declaration on as few lines as it has without comments.
func shown(t *testing.T, decl ast.Decl) string {
	t.Helper()
	switch d := decl.(type) {
	case *ast.FuncDecl:
		d.Doc, d.Body = nil, nil
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return ""
		}
		d.Doc = nil
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
	var b bytes.Buffer
	if err := format.Node(&b, token.NewFileSet(), decl); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A host links the recorded packages only: neither an unused wing nor a tool of tests adds
// any.
func TestRecordedDependencies(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	slices.Sort(packages)
	for _, tool := range []string{"pgregory.net/rapid", "go.uber.org/goleak", "github.com/rogpeppe/go-internal"} {
		if slices.ContainsFunc(packages, func(p string) bool { return strings.HasPrefix(p, tool) }) {
			t.Errorf("a host links %s, which is for tests", tool)
		}
	}
	compare(t, "deps.txt", strings.Join(packages, "\n")+"\n")
}

// compare holds a text against its recording, or records it.
func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *record {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, is := strings.Split(string(recorded), "\n"), strings.Split(got, "\n")
	for _, line := range want {
		if !slices.Contains(is, line) {
			t.Errorf("%s: gone: %s", name, line)
		}
	}
	for _, line := range is {
		if !slices.Contains(want, line) {
			t.Errorf("%s: new: %s", name, line)
		}
	}
	if !t.Failed() && string(recorded) != got {
		t.Errorf("%s: the order has changed", name)
	}
	if t.Failed() {
		t.Log("where that is meant: go test . -run TestRecorded -record")
	}
}

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/seed61375155/trawl"

// folder is one folder of the module with Go files in it. The name of the
// module's own is ".".
type folder struct {
	name         string
	files, tests []*ast.File
}

// imports returns the paths that a folder's files import, tests left out.
func (f *folder) imports() []string {
	seen := map[string]bool{}
	for _, file := range f.files {
		for _, spec := range file.Imports {
			seen[importPath(spec)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // it was parsed
	}
	return path
}

// in reports whether the folder is the named one or lies in it.
func (f *folder) in(name string) bool { return within(f.name, name) }

func within(path, parent string) bool { return path == parent || strings.HasPrefix(path, parent+"/") }

// positions are those of all parsed files.
var positions = token.NewFileSet()

// folders returns the folders of the module.
func folders(tb testing.TB) []*folder {
	tb.Helper()
	all, err := parsed()
	if err != nil || len(all) < 10 {
		tb.Fatalf("this is not the module: %d folders, %v", len(all), err)
	}
	return all
}

// parsed is the whole module, for all systems and build tags. Reading the files
// in this process also means that the result of these tests is never cached
// over a change.
var parsed = sync.OnceValues(func() (all []*folder, err error) {
	root := filepath.Join("..", "..")
	byName := map[string]*folder{}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if file != root && (strings.HasPrefix(name, ".") || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		syntax, err := parser.ParseFile(positions, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if byName[dir] == nil {
			byName[dir] = &folder{name: dir}
			all = append(all, byName[dir])
		}
		if f := byName[dir]; strings.HasSuffix(name, "_test.go") {
			f.tests = append(f.tests, syntax)
		} else {
			f.files = append(f.files, syntax)
		}
		return nil
	})
	return all, err
})

// ours returns the folder of an import path of this module, false for others'.
func ours(imported string) (name string, ok bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// calls returns where a file uses one of the named functions of a package.
func calls(file *ast.File, pkg string, functions ...string) []token.Pos {
	local := ""
	for _, spec := range file.Imports {
		if importPath(spec) != pkg {
			continue
		}
		if local = path.Base(pkg); spec.Name != nil {
			local = spec.Name.Name
		}
	}
	if local == "" {
		return nil
	}
	var found []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(functions, selector.Sel.Name) {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && x.Name == local {
			found = append(found, n.Pos())
		}
		return true
	})
	return found
}

// readLines returns the lines of a file.
func readLines(t *testing.T, name string) []string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(content), "\n")
}

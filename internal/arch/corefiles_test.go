package arch

import (
	"go/ast"
	"go/parser"
	"slices"
	"strings"
	"testing"
)

const levelDB = "github.com/syndtr/goleveldb"

// coreReaders lists who opens files of a Bitcoin Core that runs beside the node. They only
// read. The database that the follower keeps is in the node's own directory, a room apart.
var coreReaders = []string{"store/corefiles", "internal/engine/follower", "internal/corenode"}

// Core's files are read and never changed. They are not even opened with goleveldb: opening
// writes, and its lock is not Core's.
func TestCoreFilesAreOnlyRead(t *testing.T) {
	checked := 0
	for _, f := range folders(t) {
		if !slices.ContainsFunc(coreReaders, f.in) {
			continue
		}
		checked++
		for _, imported := range f.imports() {
			if within(imported, levelDB) {
				t.Errorf("%s imports %s", f.name, imported)
			}
		}
		for _, file := range f.files {
			for _, at := range writes(file) {
				t.Errorf("%v: files of Bitcoin Core are only read", positions.Position(at.Pos()))
			}
		}
	}
	if checked < len(coreReaders) {
		t.Errorf("%d folders, want %v", checked, coreReaders)
	}
	for folder := range reachable(t, "store/corefiles") {
		if within(folder, levelDB) {
			t.Errorf("store/corefiles comes to %s", folder)
		}
	}
}

// reachable returns what a folder imports, and what that imports of this module.
func reachable(t *testing.T, from string) map[string]bool {
	t.Helper()
	byName := map[string]*folder{}
	for _, f := range folders(t) {
		byName[f.name] = f
	}
	seen := map[string]bool{}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		if byName[todo[0]] == nil {
			t.Fatalf("no folder %s", todo[0])
		}
		for _, imported := range byName[todo[0]].imports() {
			if name, ok := ours(imported); ok && !seen[imported] {
				todo = append(todo, name)
			}
			seen[imported] = true
		}
	}
	return seen
}

// readingOnly are what these rooms may name of a package that could also write.
var readingOnly = map[string][]string{
	"os":      {"File", "FileInfo", "O_RDONLY", "Open", "OpenRoot", "Root", "Stat"},
	"syscall": {"O_NONBLOCK"},
}

// writes returns where a file names something that could write to files, or make some.
func writes(file *ast.File) (found []ast.Node) {
	packages := map[string][]string{}
	for _, spec := range file.Imports {
		switch pkg := importPath(spec); {
		case pkg == "golang.org/x/sys" || strings.HasPrefix(pkg, "golang.org/x/sys/") || pkg == "io/ioutil":
			found = append(found, spec)
		case readingOnly[pkg] != nil && spec.Name != nil:
			packages[spec.Name.Name] = readingOnly[pkg]
		case readingOnly[pkg] != nil:
			packages[pkg] = readingOnly[pkg]
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && flagsAreNumbers(call) {
			found = append(found, n)
		}
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok {
			if allowed, known := packages[x.Name]; known {
				if !slices.Contains(allowed, selector.Sel.Name) {
					found = append(found, n)
				}
				return true
			}
		}
		if packages["os"] != nil && slices.Contains(writingMethods, selector.Sel.Name) {
			found = append(found, n)
		}
		return true
	})
	return found
}

// flagsAreNumbers reports whether a call of OpenFile has flags that are not named.
func flagsAreNumbers(call *ast.CallExpr) bool {
	if lastName(call.Fun) != "OpenFile" || len(call.Args) != 3 {
		return false
	}
	switch call.Args[1].(type) {
	case *ast.SelectorExpr, *ast.BinaryExpr:
	default:
		return true
	}
	numbers := false
	ast.Inspect(call.Args[1], func(n ast.Node) bool {
		_, ok := n.(*ast.BasicLit)
		numbers = numbers || ok
		return true
	})
	return numbers
}

// writingMethods are those of os.File and os.Root that write. Write, which hashes have too,
// is not among them: without a flag to write a file takes none.
var writingMethods = []string{
	"Chmod", "Chown", "Chtimes", "Create", "Lchown", "Link", "Mkdir", "MkdirAll", "ReadFrom", "Remove", "RemoveAll",
	"Rename", "Symlink", "Sync", "Truncate", "WriteAt", "WriteFile", "WriteString",
}

func TestCoreFilesRuleBites(t *testing.T) {
	const source = `package p
import ("os"; sys "syscall"; "golang.org/x/sys/unix") // 1
func f(root *os.Root, file *os.File) {
	os.Open("x"); root.Open("x"); root.OpenFile("x", os.O_RDONLY|sys.O_NONBLOCK, 0); file.ReadAt(nil, 0)
	root.OpenFile("x", os.O_RDWR, 0)  // 2
	root.OpenFile("x", os.O_RDONLY|os.O_CREATE, 0) // 3
	root.Mkdir("x", 0)                // 4
	file.Truncate(1)                  // 5
	os.OpenFile("x", os.O_RDONLY, 0)  // 6
	os.WriteFile("x", nil, 0)         // 7
	sys.Open("x", 2, 0)               // 8
	sys.Flock(1, 2)                   // 9
	root.OpenFile("x", 2, 0)          // 10
	root.OpenFile("x", flags, 0)      // 11
	root.OpenFile("x", os.O_RDONLY|2, 0) // 12
}`
	file, err := parser.ParseFile(positions, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := writes(file); len(got) != 12 {
		t.Errorf("%d places, want 12", len(got))
	}
}

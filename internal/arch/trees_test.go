package arch

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const chainviewPath = module + "/internal/chainview"

// A chain that is opened again has a tree of its own, while blocks of the tree before may be held
// still: the same block is at two places of memory. So blocks are compared by [chainview.Block.Is],
// and by heights where chains part. The engines work on one tree.
func TestBlocksAreComparedByHash(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, p := range listPackages(t) {
		name, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if p.ImportPath != module && !ours || within(name, "internal/engine") || within(name, "internal/chainview") {
			continue
		}
		if c := checkPackage(t, p); c.block != nil {
			checked++
			for _, at := range c.compared() {
				t.Errorf("%s: blocks are compared by their places in memory: use Is, or ForkHeight", at)
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d packages know blocks: that is not the module", checked)
	}
}

// Every form of comparing blocks by pointer is found, and nothing else.
func TestComparedBlocksAreFound(t *testing.T) {
	t.Parallel()
	const text = `package p

type Block struct{ Parent *Block }
type pair struct{ a, b *Block }

func contains[T comparable](list []T, one T) bool          { return false }
func same[T interface{ comparable }](one T) bool           { return false }
func indexFunc[T any](list []T, holds func(T) bool) (i int) { return 0 }

func wrong(a, b *Block, list []*Block, p, q pair, n [2]*Block) {
	_ = a == b                     // want
	_ = a.Parent != b              // want
	_ = p == q                     // want
	_ = n != [2]*Block{}           // want
	_ = contains(list, a)          // want
	_ = same(pair{})               // want
	_ = map[*Block]int{}           // want
	var _ map[pair]bool            // want
	switch a {                     // want
	case b:
	}
}

func right(a, b *Block, list []*Block) {
	_ = a == nil || nil != b
	_ = contains([]int{}, 1)
	_ = indexFunc(list, func(*Block) bool { return false })
	_ = map[string]*Block{}
	switch a {
	case nil:
	}
	switch {
	case a == nil:
	}
}
`
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	c := &comparisons{files: files, parsed: []*ast.File{file}}
	if err := c.check("p", nil); err != nil {
		t.Fatal(err)
	}
	c.block = c.pkg.Scope().Lookup("Block").Type()
	lines := map[int]bool{}
	for _, at := range c.compared() {
		lines[at.Line] = true
	}
	for i, line := range strings.Split(text, "\n") {
		if want := strings.HasSuffix(line, "// want"); lines[i+1] != want {
			t.Errorf("line %d %q: found %v", i+1, line, lines[i+1])
		}
	}
}

// listed is a package as go list knows it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string

	exports map[string]string // of all packages: files with their exports
}

// listPackages returns the packages of the module and what they import.
func listPackages(t *testing.T) (all []*listed) {
	t.Helper()
	fields := "-json=ImportPath,Dir,Export,GoFiles"
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", fields, "./...")
	list.Dir, list.Stderr = filepath.Join("..", ".."), os.Stderr
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		p := &listed{exports: exports}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		all = append(all, p)
	}
}

// comparisons looks for those of blocks in a package.
type comparisons struct {
	files  *token.FileSet
	parsed []*ast.File
	info   types.Info
	pkg    *types.Package
	block  types.Type // chainview.Block; nil: the package does not know it
}

func checkPackage(t *testing.T, p *listed) *comparisons {
	t.Helper()
	c := &comparisons{files: token.NewFileSet()}
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		c.parsed = append(c.parsed, file)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(p.exports[path]) }
	from := importer.ForCompiler(c.files, "gc", open)
	if err := c.check(p.ImportPath, from); err != nil {
		t.Fatal(err)
	}
	for _, imported := range c.pkg.Imports() {
		if imported.Path() == chainviewPath {
			c.block = imported.Scope().Lookup("Block").Type()
		}
	}
	return c
}

func (c *comparisons) check(path string, from types.Importer) (err error) {
	c.info = types.Info{
		Types:     map[ast.Expr]types.TypeAndValue{},
		Instances: map[*ast.Ident]types.Instance{}, Uses: map[*ast.Ident]types.Object{},
	}
	c.pkg, err = (&types.Config{Importer: from}).Check(path, c.files, c.parsed, &c.info)
	return err
}

// compared returns where blocks are compared by pointer, or are keys of maps.
func (c *comparisons) compared() (at []token.Position) {
	found := func(n ast.Node) { at = append(at, c.files.Position(n.Pos())) }
	for _, file := range c.parsed {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if (n.Op == token.EQL || n.Op == token.NEQ) && c.holds(n.X) && c.holds(n.Y) {
					found(n)
				}
			case *ast.SwitchStmt:
				if n.Tag != nil && c.holds(n.Tag) && c.switches(n) {
					found(n)
				}
			case *ast.MapType:
				if c.holds(n.Key) {
					found(n)
				}
			}
			return true
		})
	}
	for name, instance := range c.info.Instances {
		generic, ok := c.info.Uses[name].(*types.Func)
		if !ok {
			continue
		}
		params := generic.Type().(*types.Signature).TypeParams()
		for i := range params.Len() {
			constraint := params.At(i).Constraint().Underlying().(*types.Interface)
			if constraint.IsComparable() && c.has(instance.TypeArgs.At(i)) {
				found(name)
			}
		}
	}
	return at
}

// switches reports whether a switch compares with more than nil.
func (c *comparisons) switches(s *ast.SwitchStmt) bool {
	for _, clause := range s.Body.List {
		if slices.ContainsFunc(clause.(*ast.CaseClause).List, c.holds) {
			return true
		}
	}
	return false
}

// holds reports whether to compare values of an expression is to compare pointers to blocks.
func (c *comparisons) holds(e ast.Expr) bool { return c.has(c.info.Types[e].Type) }

func (c *comparisons) has(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return types.Identical(u.Elem(), c.block)
	case *types.Struct:
		for field := range u.Fields() {
			if c.has(field.Type()) {
				return true
			}
		}
	case *types.Array:
		return c.has(u.Elem())
	}
	return false
}

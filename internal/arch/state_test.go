package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// startGoroutines lists the rooms that may start goroutines: tools that hand a panic
// to the waiting caller, and programs. All others call these tools.
var startGoroutines = []string{
	"internal/ask", "internal/cores", "internal/part", "internal/p2p", "actors/cluster/link", "actors/notify/zmqsink",
	"rpc", "cmd", "bench", "internal/load", "internal/demo", "internal/e2e", "internal/differ", "internal/actortest",
	"internal/soak",
}

// strayGoroutines finds goroutines that others start.
func strayGoroutines(found tally, f *folder) {
	if slices.ContainsFunc(startGoroutines, f.in) {
		return
	}
	groups := map[string]bool{} // names of variables that are a sync.WaitGroup
	for _, file := range f.files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				addGroups(groups, n.Type, n.Names)
			case *ast.ValueSpec:
				addGroups(groups, n.Type, n.Names)
			}
			return true
		})
	}
	for _, file := range f.files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found.add("goroutines", f, n.Pos(), "only %v may start goroutines", startGoroutines)
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" && groups[lastName(s.X)] {
					found.add("goroutines", f, n.Pos(), "only %v may start goroutines", startGoroutines)
				}
			}
			return true
		})
	}
}

func addGroups(groups map[string]bool, typ ast.Expr, names []*ast.Ident) {
	if s, ok := typ.(*ast.SelectorExpr); ok && s.Sel.Name == "WaitGroup" {
		for _, name := range names {
			groups[name.Name] = true
		}
	}
}

// writeDisk lists the rooms that may change the disk.
var writeDisk = []string{
	"store", "internal/vfs", "cmd", "bench", "rpc", // rpc: its cookie and its socket
	"internal/demo", "internal/load", "internal/e2e", "internal/differ", "internal/soak", "internal/mutate", "deploy", // help for tests
	"internal/enginetest", "internal/arch", "filters/internal/asmgen", "internal/slhdsa/internal/asmgen",
}

// diskCalls finds calls of package os that write, in all other rooms.
func diskCalls(found tally, f *folder) {
	if slices.ContainsFunc(writeDisk, f.in) {
		return
	}
	for _, file := range f.files {
		for _, at := range calls(file, "os", "WriteFile", "Create", "CreateTemp", "Rename", "Remove", "RemoveAll", "Mkdir",
			"MkdirAll", "MkdirTemp", "Chmod", "Truncate", "OpenFile", "Link", "Symlink") {
			found.add("disk", f, at, "only %v may write to the disk", writeDisk)
		}
	}
}

// pureCaches are package variables that keep what follows from the program alone: who
// writes them does not matter.
var pureCaches = map[string]string{
	"descriptor.dialects":          "functions of the grammars, made when they are first needed",
	"internal/jsontree.plans":      "the fields of a type",
	"internal/jsontree.forms":      "how to write a type",
	"internal/actortest.underTest": "the test that is running",
}

// sharedState finds package variables of libraries that are written after init: two
// nodes of one process share them.
func sharedState(found tally, f *folder) {
	if f.in("cmd") || f.in("bench") {
		return
	}
	globals := map[string]bool{}
	for _, file := range f.files {
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR {
				for _, spec := range gen.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						globals[name.Name] = name.Name != "_" && pureCaches[f.name+"."+name.Name] == ""
					}
				}
			}
		}
	}
	for _, file := range f.files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil && !strings.HasPrefix(fn.Name.Name, "init") {
				writesTo(fn, globals, func(name *ast.Ident) {
					found.add("shared-state", f, name.Pos(), "%s is written after init", name.Name)
				})
			}
		}
	}
}

// writesTo calls report for each place where a function writes to one of the globals:
// by an assignment, or by a method of an atomic or a sync.Map.
func writesTo(fn *ast.FuncDecl, globals map[string]bool, report func(*ast.Ident)) {
	local := map[string]bool{}
	for _, name := range declared(&ast.File{Decls: []ast.Decl{fn}, Name: fn.Name}) {
		local[name.Name] = true
	}
	check := func(e ast.Expr) {
		if name := root(e); name != nil && globals[name.Name] && !local[name.Name] {
			report(name)
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, left := range n.Lhs {
					check(left)
				}
			}
		case *ast.IncDecStmt:
			check(n.X)
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok &&
				slices.Contains([]string{"Store", "Swap", "CompareAndSwap", "Add", "LoadOrStore", "Delete"}, s.Sel.Name) {
				check(s.X)
			}
		}
		return true
	})
}

// root returns the variable that an expression is a part of, nil when it is of none.
func root(e ast.Expr) *ast.Ident {
	for {
		switch at := e.(type) {
		case *ast.Ident:
			return at
		case *ast.SelectorExpr:
			e = at.X
		case *ast.IndexExpr:
			e = at.X
		case *ast.StarExpr:
			e = at.X
		case *ast.ParenExpr:
			e = at.X
		default:
			return nil
		}
	}
}

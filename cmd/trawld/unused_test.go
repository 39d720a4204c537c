package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

// readers are the functions whose argument names an option that is read.
var readers = []string{
	"Bool", "Int", "String", "Strings", "Path", "IsSet", "IsNegated", "lookup", "list", "includes", "chainFlag",
	"feeOption", "number", "portOf",
}

// An option that nothing reads is marked as one without effect, and no other is.
func TestOptionsWithoutEffectAreMarked(t *testing.T) {
	read := map[string]bool{
		// by internal/options, in a way of their own
		"?": true, "h": true, "help": true, "help-debug": true, "dialect": true, "includeconf": true,
	}
	for _, pattern := range []string{"*.go", "../../internal/options/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no source", err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				for _, name := range namesIn(t, file) {
					read[name] = true
				}
			}
		}
	}
	for _, o := range table.Daemon() {
		marked := o.Flags&options.Unused != 0
		switch {
		case read[o.Name] && marked:
			t.Errorf("-%s has an effect and is marked as if it had none", o.Name)
		case !read[o.Name] && !marked:
			t.Errorf("-%s has no effect and is not marked", o.Name)
		}
	}
}

// namesIn returns the texts in the calls of readers, and in tables of option names
// that are ranged over.
func namesIn(t *testing.T, file string) []string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	texts := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if name, err := strconv.Unquote(text.Value); err == nil {
					names = append(names, name)
				}
			}
			return true
		})
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.SelectorExpr:
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			}
			if slices.Contains(readers, name) {
				for _, arg := range n.Args {
					texts(arg)
				}
			}
		case *ast.RangeStmt:
			texts(n.X)
		}
		return true
	})
	return names
}

package messages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"
)

// Every error of this package is a refusal of the request. An actor takes any other error
// for a failure of its own work.
func TestEveryErrorIsARefusal(t *testing.T) {
	isCode := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), ".", isCode, 0) //nolint:staticcheck // no build tags here
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]map[string]bool{}
	errors := 0
	for _, file := range packages["messages"].Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					of := strings.TrimPrefix(typeName(n.Recv.List[0].Type), "*")
					if methods[of] == nil {
						methods[of] = map[string]bool{}
					}
					methods[of][n.Name.Name] = true
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if strings.HasPrefix(name.Name, "Err") && i < len(n.Values) {
						errors++
						if call, ok := n.Values[i].(*ast.CallExpr); !ok || typeName(call.Fun) != "refusal" {
							t.Errorf("%s is not made by refusal", name.Name)
						}
					}
				}
			}
			return true
		})
	}
	for of, has := range methods {
		if of == "StartError" || of == "FatalError" {
			continue // they end the program, or keep it from starting
		}
		if has["Error"] && !has["AboutRequest"] {
			t.Errorf("%s is an error and no Refusal", of)
		}
	}
	if errors < 20 {
		t.Errorf("only %d errors were found", errors)
	}
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	}
	return ""
}

package arch

import (
	"go/ast"
	"path"
	"regexp"
	"testing"
)

// tours are pages that follow the program from function to function.
var tours = []string{"docs/how-a-block-becomes-a-balance.md", "docs/how-a-scan-answers.md"}

// selected are two or three names with dots between them, below a path or not.
var selected = regexp.MustCompile(`^(?:[\w/]+/)?((?:\w+\.)?\w+\.\w+)$`)

// The functions and types that the tours name are there.
func TestToursNameWhatIsThere(t *testing.T) {
	known := map[string]bool{}
	for _, f := range folders(t) {
		for _, file := range f.files {
			for _, decl := range file.Decls {
				addNames(known, file.Name.Name, decl)
			}
		}
	}
	for _, page := range tours {
		named := 0
		for _, q := range quoted.FindAllStringSubmatch(readText(t, page), -1) {
			name := selected.FindStringSubmatch(q[1])
			if name == nil || isPath(path.Base(q[1])) || notOurs[q[1]] != "" {
				continue
			}
			named++
			if !known[name[1]] {
				t.Errorf("%s names %s, which is not there", page, q[1])
			}
		}
		if named < 50 {
			t.Errorf("%s names only %d functions and types", page, named)
		}
	}
}

// addNames notes what a declaration declares: "package.Name", and "Type.Name" and "package.Type.Name" of a method.
func addNames(known map[string]bool, pkg string, decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		known[pkg+"."+decl.Name.Name] = true
		if decl.Recv != nil {
			known[receiver(decl)+"."+decl.Name.Name] = true
			known[pkg+"."+receiver(decl)+"."+decl.Name.Name] = true
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				known[pkg+"."+spec.Name.Name] = true
				if i, ok := spec.Type.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, name := range m.Names {
							known[spec.Name.Name+"."+name.Name] = true
						}
					}
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					known[pkg+"."+name.Name] = true
				}
			}
		}
	}
}

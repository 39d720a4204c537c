package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// A package has the name of its folder, and no two packages have the same name. Programs and external tests do not
// count.
func TestPackageNames(t *testing.T) {
	t.Parallel()
	var all []*folder
	for _, f := range folders(t) {
		if !slices.ContainsFunc(otherModules, f.in) {
			all = append(all, f)
		}
	}
	for _, fault := range packageNames(all) {
		t.Error(fault)
	}
}

func packageNames(all []*folder) (faults []string) {
	named := map[string]string{} // folders by the names of their packages
	for _, f := range all {
		base := path.Base(f.name)
		if f.name == "." {
			base = path.Base(module)
		}
		for _, file := range slices.Concat(f.files, f.tests) {
			name := file.Name.Name
			if name == "main" || strings.HasSuffix(name, "_test") {
				continue
			}
			if name != base {
				faults = append(faults, fmt.Sprintf("%s: package %s is not called as its folder", f.name, name))
			}
			if other := named[name]; other != "" && other != f.name {
				faults = append(faults,
					fmt.Sprintf("package %s is in %s and in %s: one needs another name", name, other, f.name))
			}
			named[name] = f.name
		}
	}
	return faults
}

func TestPackageNamesBite(t *testing.T) {
	t.Parallel()
	in := func(name string, packages ...string) *folder {
		f := &folder{name: name}
		for _, p := range packages {
			f.files = append(f.files, &ast.File{Name: ast.NewIdent(p)})
		}
		return f
	}
	got := packageNames([]*folder{
		in(".", "trawl"), in("a/x", "x", "x"), in("b/x", "x_test", "main"), in("c/x", "x"), in("y", "z"), in("z", "z"),
	})
	want := []string{
		"package x is in a/x and in c/x: one needs another name", "y: package z is not called as its folder",
		"package z is in y and in z: one needs another name",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

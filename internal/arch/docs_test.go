package arch

import (
	"strings"
	"testing"
)

// Every package says in one place what it is.
func TestPackagesAreDocumented(t *testing.T) {
	for _, f := range folders(t) {
		files := f.files
		if len(files) == 0 {
			files = f.tests // a package of tests alone
		}
		docs := 0
		for _, file := range files {
			if file.Doc == nil {
				continue
			}
			docs++
			text, _, _ := strings.Cut(file.Doc.Text(), "\n")
			if name := file.Name.Name; name != "main" && !strings.HasPrefix(text, "Package "+name+" ") {
				t.Errorf("%s: the comment of package %s begins with %q", f.name, name, text)
			}
		}
		if docs != 1 {
			t.Errorf("%s has %d package comments, want 1", f.name, docs)
		}
	}
}

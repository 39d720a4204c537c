package arch

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Sizes above which a thing should become several.
const (
	maxMethods     = 40 // of a type
	maxInterface   = 5  // methods of an interface
	maxFileLines   = 400
	maxRootLines   = 1400 // of the root package, without tests
	maxLineColumns = 120  // a tab counts as four
	maxTextLine    = 140  // bytes of a line whose length is that of a text
)

// wideInterfaces have more methods than others, for a reason.
var wideInterfaces = map[string]string{
	"internal/engine.Engine":    "all that the chain's actor has done by an engine, which is one state",
	"internal/engine.Validator": "the same for what validates",
	"internal/chainview.Reader": "all ways to read the chain, of which each reader takes some",
	"internal/match.View":       "what a pass reads of an index, in one hold",
	"messages.CoinSet":          "all ways to read a set of coins, in one hold",
	"internal/engine.Stored":    "what an engine knows of a stored block",
	"internal/txpool.relatives": "all rules about relatives, which must not be mixed with those of another Core",
	"internal/vfs.File":         "the calls of os.File that stores use",
	"internal/vfs.FS":           "the calls of package os that stores use",
}

// handlers are the methods that tables of requests list, as "Type.method". The tables say what they are for.
func handlers(f *folder) map[string]bool {
	served := map[string]bool{}
	for _, file := range f.files {
		ast.Inspect(file, func(n ast.Node) bool {
			method, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if paren, ok := method.X.(*ast.ParenExpr); ok {
				if star, ok := paren.X.(*ast.StarExpr); ok {
					if typ, ok := star.X.(*ast.Ident); ok {
						served[typ.Name+"."+method.Sel.Name] = true
					}
				}
			}
			return true
		})
	}
	return served
}

// sizes finds types with too many methods, wide interfaces, and long files.
func sizes(found tally, f *folder) {
	methods := map[string][]*ast.FuncDecl{}
	for _, file := range f.files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil {
					name := receiver(decl)
					methods[name] = append(methods[name], decl)
				}
			case *ast.GenDecl:
				wide(found, f, decl)
			}
		}
	}
	served := handlers(f)
	for name, list := range methods {
		list = slices.DeleteFunc(list, func(m *ast.FuncDecl) bool { return served[name+"."+m.Name.Name] })
		if f.in("rpc/method") && name == "methods" {
			continue // no state but what they are given
		}
		if len(list) > maxMethods {
			for _, m := range list[maxMethods:] {
				found.add("methods-beyond", f, m.Pos(), "%s has %d methods, at most %d", name, len(list), maxMethods)
			}
		}
	}
	for _, file := range slices.Concat(f.files, f.tests) {
		if n := positions.Position(file.End()).Line; n > maxFileLines && !ast.IsGenerated(file) {
			found.add("long-files", f, file.Pos(), "%d lines, at most %d", n, maxFileLines)
		}
	}
}

func wide(found tally, f *folder, decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		typ, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		if i, ok := typ.Type.(*ast.InterfaceType); ok && i.Methods.NumFields() > maxInterface {
			if wideInterfaces[f.name+"."+typ.Name.Name] == "" {
				found.add("wide-interfaces", f, typ.Pos(), "%s has %d methods, at most %d", typ.Name.Name,
					i.Methods.NumFields(), maxInterface)
			}
		}
	}
}

// receiver returns the name of the type that a method is of.
func receiver(decl *ast.FuncDecl) string {
	for typ := decl.Recv.List[0].Type; ; {
		switch at := typ.(type) {
		case *ast.Ident:
			return at.Name
		case *ast.StarExpr:
			typ = at.X
		case *ast.IndexExpr:
			typ = at.X
		case *ast.IndexListExpr:
			typ = at.X
		default:
			return ""
		}
	}
}

// The root package is the face and one table.
func TestRootStaysSmall(t *testing.T) {
	n := 0
	for _, f := range folders(t) {
		if f.name == "." {
			for _, file := range f.files {
				n += positions.Position(file.End()).Line
			}
		}
	}
	if n > maxRootLines {
		t.Errorf("the root package has %d lines without tests, at most %d: what only one part needs belongs to its package",
			n, maxRootLines)
	}
}

// lines finds lines that are too long. A line may be whose length is that of a text:
// in tests, of raw strings, and of words that have no place to break.
func lines(t *testing.T, found tally, f *folder) {
	t.Helper()
	for _, file := range slices.Concat(f.files, f.tests) {
		name := positions.File(file.Pos()).Name()
		if ast.IsGenerated(file) {
			continue
		}
		raw := rawLines(file)
		for i, line := range readLines(t, name) {
			if len(line) > maxTextLine && !raw[i+1] || tooLong(line, strings.HasSuffix(name, "_test.go")) {
				found.add("long-lines", f, positions.File(file.Pos()).LineStart(i+1), "%d columns, at most %d",
					columns(line), maxLineColumns)
			}
		}
	}
}

// rawLines has the lines of a file on which raw strings of several lines stand: their text has its own lines.
func rawLines(file *ast.File) map[int]bool {
	raw := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && strings.Contains(text.Value, "\n") {
			for i := range strings.Count(text.Value, "\n") + 1 {
				raw[positions.Position(text.Pos()).Line+i] = true
			}
		}
		return true
	})
	return raw
}

func tooLong(line string, test bool) bool {
	if (test || strings.Contains(line, "`")) && columns(withoutTexts(line)) <= maxLineColumns-30 {
		return false
	}
	n := columns(line)
	for word := range strings.FieldsSeq(line) {
		if len(word) > 50 && (strings.ContainsAny(line, "\"`") || strings.HasPrefix(strings.TrimSpace(line), "//")) {
			n -= len(word)
		}
	}
	return n > maxLineColumns
}

func columns(line string) int { return len([]rune(line)) + 3*strings.Count(line, "\t") }

// withoutTexts returns a line of Go without what stands in its string literals.
func withoutTexts(line string) string {
	var b strings.Builder
	quote := rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case quote == 0:
			b.WriteRune(r)
			if r == '"' || r == '`' {
				quote = r
			}
		case escaped:
			escaped = false
		case r == '\\' && quote == '"':
			escaped = true
		case r == quote:
			b.WriteRune(r)
			quote = 0
		}
	}
	return b.String()
}

// The names that the rules above exempt exist.
func TestExemptionsExist(t *testing.T) {
	known := map[string]bool{}
	for _, f := range folders(t) {
		for _, file := range f.files {
			for name := range typeNames(file) {
				known[filepath.ToSlash(f.name)+"."+name] = true
			}
		}
	}
	for name := range wideInterfaces {
		if !known[name] {
			t.Errorf("%s is exempted, and is not there", name)
		}
	}
}

func typeNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, decl := range file.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok {
			for _, spec := range gen.Specs {
				if typ, ok := spec.(*ast.TypeSpec); ok {
					names[typ.Name.Name] = true
				}
			}
		}
	}
	return names
}

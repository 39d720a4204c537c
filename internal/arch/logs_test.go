package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// logPage is where operators look up what a line of the log means.
const logPage = "docs/log.md"

var (
	// loud are the methods and levels of lines that ask for attention.
	loud = map[string]bool{"Warn": true, "Error": true, "LevelWarn": true, "LevelError": true}

	// notLogging are folders where methods of these names do something else.
	notLogging = []string{"internal/rawtx", "internal/actortest"}

	verb = regexp.MustCompile(`%[a-z]`)

	// explained are the lines in the first column of a table.
	explained = regexp.MustCompile("(?m)^\\| (`.*`) \\| ")
)

// warnings returns the sentences that a folder logs as warnings or errors,
// with … in the place of each verb.
func warnings(f *folder) (found []string) {
	named := constants(f)
	add := func(message ast.Expr) {
		text, ok := textOf(message, named)
		if text = verb.ReplaceAllString(text, "…"); ok && text != "…" {
			found = append(found, text)
		}
	}
	for _, file := range f.files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			switch {
			case !ok || len(call.Args) == 0:
			case loud[method.Sel.Name]:
				add(call.Args[0])
			case len(call.Args) > 2 && loud[lastName(call.Args[1])]: // a level, and the message after it
				add(call.Args[2])
			}
			return true
		})
	}
	return found
}

// constants are the texts that a folder has names for.
func constants(f *folder) map[string]ast.Expr {
	named := map[string]ast.Expr{}
	for _, file := range f.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == 1 && len(spec.Values) == 1 {
				named[spec.Names[0].Name] = spec.Values[0]
			}
			return true
		})
	}
	return named
}

// textOf returns the text of literals, added and named or not.
func textOf(e ast.Expr, named map[string]ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := textOf(e.X, named)
		right, also := textOf(e.Y, named)
		return left + right, ok && also
	case *ast.Ident:
		value, ok := named[e.Name]
		if !ok {
			return "", false
		}
		return textOf(value, nil)
	}
	return "", false
}

// Each warning and error that the daemon logs is explained, and nothing else is.
func TestLogIsExplained(t *testing.T) {
	unused := map[string]bool{}
	for _, row := range explained.FindAllStringSubmatch(readText(t, logPage), -1) {
		for line := range strings.SplitSeq(strings.Trim(row[1], "`"), "`, `") {
			unused[line] = true
		}
	}
	if len(unused) < 100 {
		t.Fatalf("only %d lines are explained", len(unused))
	}
	for _, f := range folders(t) {
		if slices.ContainsFunc(notLogging, f.in) {
			continue
		}
		for _, line := range warnings(f) {
			if _, ok := unused[line]; !ok {
				t.Errorf("%s logs %q, which %s does not explain", f.name, line, logPage)
			}
			unused[line] = false
		}
	}
	for line, is := range unused {
		if is {
			t.Errorf("%s explains %q, which nothing logs", logPage, line)
		}
	}
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
)

// A place is where a file can be broken, and how.
type place struct {
	file     string // as it was named to placesOf
	line     int
	from, to int    // bytes of the file that are replaced
	text     string // by this
	what     string // for a person, as in `< becomes <=`
	function string
	nth      int // of those of the function with this line and change, from 1
}

// name says which place it is, without the number of the line, which moves.
func (p *place) name(source []byte) string {
	name := p.function + ": " + strings.TrimSpace(lineAt(source, p.from)) + ": " + p.what
	if p.nth > 1 {
		name += " (" + strconv.Itoa(p.nth) + ")"
	}
	return name
}

// lineAt returns the line of a text that a byte is in.
func lineAt(source []byte, at int) string {
	begin := strings.LastIndexByte(string(source[:at]), '\n') + 1
	end := strings.IndexByte(string(source[at:]), '\n')
	if end < 0 {
		return string(source[begin:])
	}
	return string(source[begin : at+end])
}

// swaps are what an operator becomes.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL, token.REM: token.MUL,
}

// placesOf returns the places of a file, in its order.
func placesOf(file string) (places []place, source []byte, err error) {
	if source, err = os.ReadFile(file); err != nil { //nolint:gosec // a file of the module
		return nil, nil, err
	}
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(syntax) {
		return nil, nil, err
	}
	for _, decl := range syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Name.Name == "String" || fn.Name.Name == "Error" {
			continue
		}
		w := &walker{set: set, source: source, file: file, function: fn.Name.Name}
		ast.Inspect(fn.Body, w.visit)
		places = append(places, w.found...)
	}
	number(places, source)
	return places, source, nil
}

// number tells places apart that would have one name.
func number(places []place, source []byte) {
	seen := make(map[string]int)
	for i := range places {
		name := places[i].name(source)
		seen[name]++
		places[i].nth = seen[name]
	}
}

type walker struct {
	set      *token.FileSet
	source   []byte
	file     string
	function string
	found    []place
}

func (w *walker) add(from, to token.Pos, text, what string) {
	at := w.set.Position(from)
	w.found = append(w.found, place{
		file: w.file, line: at.Line, from: at.Offset, to: w.set.Position(to).Offset,
		text: text, what: what, function: w.function,
	})
}

func (w *walker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if other, ok := swaps[n.Op]; ok {
			was, is := n.Op.String(), other.String()
			w.add(n.OpPos, n.OpPos+token.Pos(len(was)), is, was+" becomes "+is)
		}
	case *ast.IfStmt:
		w.add(n.Cond.Pos(), n.Cond.End(), "false && ("+w.text(n.Cond)+")", "the condition is never met")
	case *ast.BasicLit:
		if n.Kind == token.INT {
			if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
				w.add(n.Pos(), n.End(), strconv.FormatInt(v+1, 10), n.Value+" becomes "+strconv.FormatInt(v+1, 10))
			}
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			w.add(n.Pos(), n.End(), "false", "true becomes false")
		case "false":
			w.add(n.Pos(), n.End(), "true", "false becomes true")
		}
	case *ast.BlockStmt:
		for _, s := range n.List {
			w.statement(s)
		}
	case *ast.CaseClause:
		for _, s := range n.Body {
			w.statement(s)
		}
	case *ast.ReturnStmt:
		return !returnsError(n) // nobody may look at the values beside it
	case *ast.CallExpr:
		if isMake(n) && len(n.Args) > 1 { // how much room there is decides nothing, the length does
			w.visitAll(lengthOf(n))
			return false
		}
		return !isLog(n) // what is logged decides nothing
	}
	return true
}

func (w *walker) visitAll(n ast.Node) {
	if n != nil {
		ast.Inspect(n, w.visit)
	}
}

// statement adds the places where a statement is left out.
func (w *walker) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok && !isLog(call) && !isPanic(call) {
			w.add(s.Pos(), s.End(), "", "left out")
		}
	case *ast.IncDecStmt, *ast.DeferStmt:
		w.add(s.Pos(), s.End(), "", "left out")
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			w.add(s.Pos(), s.End(), "", "left out")
		}
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE && s.Label == nil {
			w.add(s.Pos(), s.End(), "break", "continue becomes break")
		}
	}
}

func (w *walker) text(n ast.Node) string {
	return string(w.source[w.set.Position(n.Pos()).Offset:w.set.Position(n.End()).Offset])
}

// isLog reports whether a call writes to the log or makes an error's text.
func isLog(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch s.Sel.Name {
	case "Debug", "Info", "Warn", "Log", "printf", "debugf", "Errorf", "Sprintf", "DebugContext", "LogAttrs":
		return true
	case "Error": // of a logger; an error's takes nothing
		return len(call.Args) > 0
	}
	return false
}

// returnsError reports whether values are returned beside an error that is made or
// named there.
func returnsError(s *ast.ReturnStmt) bool {
	if len(s.Results) < 2 {
		return false
	}
	switch last := s.Results[len(s.Results)-1].(type) {
	case *ast.Ident:
		return isErrorName(last.Name)
	case *ast.SelectorExpr:
		return isErrorName(last.Sel.Name)
	case *ast.CallExpr:
		fn, ok := last.Fun.(*ast.SelectorExpr)
		return ok && (fn.Sel.Name == "Errorf" || fn.Sel.Name == "New" && isNamed(fn.X, "errors"))
	}
	return false
}

func isErrorName(name string) bool {
	return strings.HasPrefix(name, "err") || strings.HasPrefix(name, "Err")
}

func isMake(call *ast.CallExpr) bool { return isNamed(call.Fun, "make") }

func isPanic(call *ast.CallExpr) bool { return isNamed(call.Fun, "panic") }

func isNamed(n ast.Expr, name string) bool {
	id, ok := n.(*ast.Ident)
	return ok && id.Name == name
}

// lengthOf returns the length that a slice is made with, nil for a map.
func lengthOf(call *ast.CallExpr) ast.Node {
	if _, ok := call.Args[0].(*ast.MapType); ok {
		return nil
	}
	return call.Args[1]
}

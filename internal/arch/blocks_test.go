package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// parseBlocks lists the rooms that may parse serialized blocks. All others call
// chainview.Reader.Block or dialect.Network.ReadBlock, which know the bytes that a
// kind of chain has between the header and the transactions.
var parseBlocks = []string{
	"internal/dialect", "internal/engine", "internal/p2p/codec",
	// for btcd, which knows Bitcoin's blocks alone
	"store/chaindb",
	"internal/chaintest", "internal/enginetest", "internal/e2e", "internal/synth", "bench", // help for tests
}

func TestBlocksHaveOneParser(t *testing.T) {
	for _, f := range folders(t) {
		if slices.ContainsFunc(parseBlocks, f.in) {
			continue
		}
		for _, file := range f.files {
			for _, at := range blockParsers(file) {
				t.Errorf("%v: only %v may parse blocks", positions.Position(at), parseBlocks)
			}
		}
	}
}

// blockParsers returns where a file parses a block with btcd's packages: by a
// constructor, or by a method of something that it declares as a wire.MsgBlock.
func blockParsers(file *ast.File) []token.Pos {
	found := calls(file, "github.com/btcsuite/btcd/btcutil",
		"NewBlockFromBytes", "NewBlockFromReader", "NewBlockFromBlockAndBytes")
	if len(calls(file, "github.com/btcsuite/btcd/wire", "MsgBlock")) == 0 {
		return found
	}
	blocks := blockNames(file)
	ast.Inspect(file, func(n ast.Node) bool {
		method, ok := n.(*ast.SelectorExpr)
		if !ok || !strings.HasPrefix(method.Sel.Name, "Deserialize") && method.Sel.Name != "BtcDecode" {
			return true
		}
		if isBlock(method.X) || blocks[lastName(method.X)] {
			found = append(found, method.Pos())
		}
		return true
	})
	return found
}

// blockNames returns the names of variables, parameters and fields that a file
// declares to be blocks.
func blockNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	add := func(identifiers []*ast.Ident, is bool) {
		for _, name := range identifiers {
			names[name.Name] = names[name.Name] || is
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			add(n.Names, isBlock(n.Type))
		case *ast.ValueSpec:
			add(n.Names, n.Type != nil && isBlock(n.Type) || slices.ContainsFunc(n.Values, isBlock))
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if len(n.Rhs) == len(n.Lhs) && isBlock(n.Rhs[i]) {
					names[lastName(left)] = true
				}
			}
		}
		return true
	})
	delete(names, "")
	return names
}

// isBlock reports whether an expression is the type wire.MsgBlock, a pointer to it,
// or makes one.
func isBlock(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		return ok && e.Sel.Name == "MsgBlock" && x.Name == "wire"
	case *ast.StarExpr:
		return isBlock(e.X)
	case *ast.UnaryExpr:
		return isBlock(e.X)
	case *ast.ParenExpr:
		return isBlock(e.X)
	case *ast.CompositeLit:
		return e.Type != nil && isBlock(e.Type)
	case *ast.CallExpr:
		name, ok := e.Fun.(*ast.Ident)
		return ok && name.Name == "new" && len(e.Args) == 1 && isBlock(e.Args[0])
	default:
		return false
	}
}

// lastName returns the name of a variable or field, empty for other expressions.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	default:
		return ""
	}
}

package arch

import (
	"go/ast"
	"slices"
)

// askDialect lists the rooms that may ask for the kind of their chain. All
// others get the differences as values of dialect.Network.
var askDialect = []string{
	"descriptor", "internal/dialect", "internal/engine", "internal/p2mr", "internal/rawtx",
	"internal/chaintest", "internal/enginetest", "internal/synth", "bench", "internal/e2e", "internal/differ", // help for tests
}

// nameDialect lists the rooms with a setting of that name, which chooses the
// network.
var nameDialect = []string{".", "cmd", "internal/options"}

// dialectAsked finds the rooms above the engines that ask for the dialect.
func dialectAsked(found tally, f *folder) {
	if slices.ContainsFunc(askDialect, f.in) {
		return
	}
	for _, file := range f.files {
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if ok && (s.Sel.Name == "P2MR" || s.Sel.Name == "Dialect" && !slices.ContainsFunc(nameDialect, f.in)) {
				found.add("dialect-asked", f, s.Sel.Pos(), "only %v may ask for the dialect", askDialect)
			}
			return true
		})
	}
}

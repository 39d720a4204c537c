package arch

import (
	"go/ast"
	"strings"
)

// refusedWords are identifiers that say less than the field's own term, by the
// folder in which the term is known: a newcomer knows Bitcoin, not our jargon.
var refusedWords = map[string]string{
	"": "crew bell gonefor ofmine orwrong",
	"actors/peers": "merit guest guests guestcount makeroom spare crowded shunned transit roomy goeson gossip gossiped " +
		"hear heard share passon remember mostpassedon saver",
	"actors/sync": "flight flights parked park fed feed lookup lookups chosen caughtup toldprogress accepting exhaust " +
		"twice heard told",
	"actors/relay":      "mirror wants offer pooled packed settled twice heard told",
	"actors/mempool":    "returned giveback stuck judged judgment concluding worth twice heard told tell lend lent",
	"actors/corepool":   "heard told lend lent",
	"internal/txpool":   "judged judgment worth twice heard told",
	"actors/indexer":    "lay laid layer unlaid healer heal healed took news keeper wantedbranch twice heard told",
	"actors/blockindex": "took news keeper twice heard told",
	"store/segment":     "lay laid layer unlaid healer heal healed lineslost twice",
	"messages":          "unlaid lineslost told heard",
	"actors/scanner":    "late ending hidden orphan twice told",
	"actors/coins":      "late ending sweep sweepplan tally twice told",
	"actors/wallets": "aside asides maker whenmade wantskeys keyring relock flying pooling joinpool handover blind timeline twice told " +
		"home purchase outside news hear leaves moving lanes",
	"internal/wallet":      "misfiled settle bornby funds twice told",
	"internal/engine":      "parked park unpark bare stepback lacksnonce oldscript twice told",
	"actors/alerts":        "told",
	"actors/chain":         "parked park unpark twice told heard",
	"actors/cluster":       "front member loan loans lend lent lending settle settled crowded told heard",
	"actors/notify":        "told tell",
	"actors/searches":      "union unions gather gathers gathered gathering crowd told tell heard hear",
	"internal/cores":       "crew hand bell ring spread ahead",
	"internal/ask":         "over dead postbox goby settle settled keeper news told heard topic",
	"internal/match":       "narrow goby lending loans lent settle ahead",
	"internal/metrics":     "crowd",
	"internal/rawtx":       "member members",
	"filters":              "tools toolbox seek narrow",
	"internal/poolview":    "mirror told",
	"internal/follow":      "took news told",
	"store/nodefiles":      "saver",
	"internal/p2p":         "shunned gossip twice heard told",
	"internal/rangefilter": "twice told",
	"rpc":                  "gather lend",
	"rpc/eventstream":      "told tell hear heard",
	"rpc/forward":          "told heard lends",
	"rpc/rest":             "told",
}

// words finds declared names that are refused in a folder.
func words(found tally, f *folder) {
	refused := map[string]bool{}
	for folder, list := range refusedWords {
		if folder == "" || f.in(folder) {
			for word := range strings.FieldsSeq(list) {
				refused[word] = true
			}
		}
	}
	for _, file := range f.files {
		for _, name := range declared(file) {
			if refused[strings.ToLower(name.Name)] {
				found.add("words", f, name.Pos(), "%s: say it in the field's term", name.Name)
			}
		}
	}
}

// declared returns the names that a file declares, parameters and fields included.
func declared(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.AssignStmt:
			if n.Tok.String() == ":=" {
				for _, left := range n.Lhs {
					if name, ok := left.(*ast.Ident); ok {
						names = append(names, name)
					}
				}
			}
		}
		return true
	})
	return names
}

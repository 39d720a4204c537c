package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
	"github.com/seed61375155/trawl/rpc/command"
)

// The lists of Bitcoin Core 30.2: its methods with their usage lines and arguments, as its
// help has them, and its options. internal/differ compares the methods with a live Core.
const (
	coreMethods = "testdata/core/methods.txt"
	coreOptions = "testdata/core/options.txt"
)

// otherMethods are the methods of Core whose usage line or arguments are others here, and why.
var otherMethods = map[string]string{
	"scanblocks": "the option `activity` adds what happened in the blocks that were found",
	"send":       "`idempotency_key`: the same payment asked for twice is made once",
	"sendall":    "`idempotency_key`: the same payment asked for twice is made once",
	"sendmany": "`idempotency_key`: the same payment asked for twice is made once; the usage line names the argument " +
		"`dummy`, where Core has an empty text",
	"sendtoaddress":             "`idempotency_key`: the same payment asked for twice is made once",
	"signrawtransactionwithkey": "`prevtxs` take what spends of P2MR outputs need",
	"importmempool":             "the usage line has the members of the options",
}

// otherAnswers are the methods of Core that are called alike, but for arguments that later releases of Core have
// too, and do not answer alike.
var otherAnswers = map[string]string{
	"createrawtransaction": "no output at all is refused, but with `-deprecatedrpc=emptyoutputs`",
	"createpsbt": "no output at all is refused, but with `-deprecatedrpc=emptyoutputs`; makes packets of version 2 " +
		"(BIP370), if wanted",
	"converttopsbt":          "makes packets of version 2 (BIP370), if wanted",
	"psbtbumpfee":            "makes packets of version 2 (BIP370), if wanted",
	"walletcreatefundedpsbt": "makes packets of version 2 (BIP370), if wanted",
	"analyzepsbt":            "reads packets of version 2 (BIP370)",
	"combinepsbt":            "reads packets of version 2 (BIP370)",
	"decodepsbt":             "reads packets of version 2 (BIP370)",
	"descriptorprocesspsbt":  "reads packets of version 2 (BIP370)",
	"finalizepsbt":           "reads packets of version 2 (BIP370)",
	"joinpsbts":              "refuses packets of version 2 (BIP370) as Core 32 does",
	"utxoupdatepsbt":         "reads packets of version 2 (BIP370)",
	"walletprocesspsbt":      "reads packets of version 2 (BIP370)",
	"getmemoryinfo":          "numbers of the whole heap, for there is no pool of locked memory; no mallocinfo",
	"dumptxoutset": "`rollback` takes blocks back in memory alone, as many as fit into twice `-dbcache`: no " +
		"reorganisation is seen, the network is not suspended, a kill leaves nothing invalidated",
	"echoipc":               "no other process is asked",
	"gettxspendingprevout":  "`options` and `-txospenderindex`, as in Core 31",
	"migratewallet":         "`load_wallet`, as in Core 32",
	"combinerawtransaction": "refuses different transactions, and fewer than two",
	"scanblocks":            "what could not be looked at is never called completed; an abort ends a scan at once",
	"help":                  "the texts are our own",
}

// absentMethods are the methods of Core that are not here.
var absentMethods = map[string]string{}

// otherOptions are the options of Core that are not used alike.
var otherOptions = map[string]string{
	"dbbatchsize": "is how often `-dbcrashratio` counts: what is written becomes visible in one step",
	"maxorphantx": "in no help: it has no effect in either, and a warning says so",
}

// idleOptions are the options of Core that have no effect, and why.
var idleOptions = map[string]string{
	"blockreconstructionextratxn": "compact blocks are completed from the memory pool alone: transactions that were " +
		"refused or replaced are not kept for them",
	"checkblockindex": "tests hold the tree of blocks against a slow one instead; a running node does not check it",
	"checkmempool":    "tests hold the memory pool against a slow one instead; a running node does not check it",
	"maxsigcachesize": "the size of the cache is fixed: it holds the last 65,536 P2MR signatures or more of the memory pool. Blocks " +
		"verify all other signatures again, on all cores",
	"natpmp": "no port is opened at a router; open it there by hand, and name the address with `-externalip` if the " +
		"node does not find it",
}

// TestCoreDocs: docs/core.md lists every method and option of Core, and its claims about
// sameness are true.
func TestCoreDocs(t *testing.T) {
	page := coreIntroduction + methodRows(t, servedTable(t)) + optionRows(t)
	const path = "../../docs/core.md"
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != page {
		t.Errorf("%s is not current: run go generate ./cmd/trawld (%v)", path, err)
	}
}

const coreIntroduction = `# Bitcoin Core 30.2 beside Trawl

Every method and every option of Bitcoin Core 30.2. This page is made from what Core's help lists and from the tables of
this program: ` + "`go generate ./cmd/trawld`" + ` writes it, and a test that keeps it current compares usage
lines and arguments.

`

func methodRows(t *testing.T, served *command.Table) string {
	t.Helper()
	var rows strings.Builder
	core := readCoreMethods(t)
	same := 0
	for _, name := range core.names {
		theirs, ours := core.texts[name], differ.Usage(helpBefore32(served, name))
		absent, different, answers := absentMethods[name], otherMethods[name], otherAnswers[name]
		has := !strings.HasPrefix(ours, "help: unknown command")
		switch {
		case has == (absent != ""):
			t.Errorf("%s: here: %v, and absentMethods says %q", name, has, absent)
		case has && (ours == theirs) == (different != ""):
			t.Errorf("%s: otherMethods says %q of\n%s\nCore:\n%s", name, different, ours, theirs)
		}
		state := "same"
		why := strings.Join(slices.DeleteFunc([]string{different, answers, absent}, isEmpty), "; ")
		switch {
		case absent != "":
			state = "absent"
		case why != "":
			state = "different"
		default:
			same++
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", name, state, why)
	}
	for _, reasons := range []map[string]string{absentMethods, otherMethods, otherAnswers} {
		for name := range reasons {
			if core.texts[name] == "" {
				t.Errorf("%s is no method of Core", name)
			}
		}
	}
	const head = "## Methods\n\n%d of %d are called as in Core, with no difference known in what they answer.\n\n" +
		"| Method | Here | How, or why not |\n|---|---|---|\n"
	return fmt.Sprintf(head, same, len(core.names)) + rows.String()
}

func isEmpty(s string) bool { return s == "" }

// helpBefore32 is the help of a method without the parameters that Core 30.2 does not have.
func helpBefore32(served *command.Table, name string) string {
	method := served.Lookup(name)
	if method == nil {
		return served.Help(name)
	}
	old := *method
	old.Params = before32(old.Params)
	return old.Help()
}

func before32(params []command.Param) []command.Param {
	var old []command.Param
	for _, p := range params {
		if p.Since == 0 {
			p.Inner = before32(p.Inner)
			old = append(old, p)
		}
	}
	return old
}

// coreList is the methods of Core, by name, with what differ.Usage makes of their help.
type coreList struct {
	names []string
	texts map[string]string
}

func readCoreMethods(t *testing.T) coreList {
	t.Helper()
	content, err := os.ReadFile(coreMethods)
	if err != nil {
		t.Fatal(err)
	}
	list := coreList{texts: map[string]string{}}
	var name string
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, " ") {
			name = strings.Fields(line)[0]
			list.names = append(list.names, name)
		}
		list.texts[name] += line
	}
	return list
}

func optionRows(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(coreOptions)
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]options.Option{}
	for _, o := range table.Daemon() {
		ours[o.Name] = o
	}
	var rows strings.Builder
	rows.WriteString("\n## Options\n\nAn option without effect is accepted, and a warning at start names it.\n\n" +
		"| Option | Here | How, or why not |\n|---|---|---|\n")
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "-"), "=")
		o, has := ours[name]
		state, why := "same", otherOptions[name]
		if idle := has && o.Flags&options.Unused != 0; idle != (idleOptions[name] != "") {
			t.Errorf("option %s: without effect: %v, and idleOptions says %q", name, idle, idleOptions[name])
		}
		switch {
		case !has && why == "":
			t.Errorf("option %s is not here, and otherOptions does not say why", name)
		case !has:
			state = "absent"
		case o.Flags&options.Unused != 0:
			state, why = "without effect", idleOptions[name]
		case why != "":
			state = "different"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", strings.ReplaceAll(line, "|", "\\|"), state, why)
	}
	return rows.String()
}

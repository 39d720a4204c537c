package differ_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/differ"
)

// notCalled are methods that are not called at random. A call may wait for ever, end
// the node, reach out, or change the state for later calls in ways that do not
// depend on arguments.
var notCalled = []string{
	"stop", "waitfornewblock", "waitforblock", "waitforblockheight", "setmocktime", "addnode", "addconnection", "setnetworkactive",
	"generatetoaddress", "generatetodescriptor", "generateblock", "createwallet", "restorewallet", "loadwallet", "importmempool",
	"savemempool", "rpc.discover", "getopenrpcinfo", "addpeeraddress", "setban",
	"exportasmap", // which has nothing to write here, and leaves files there
}

// Some methods, named in takingMore, take more here: further arguments, or more of
// previous outputs.
var takingMore = []string{"signrawtransactionwithkey", "send", "sendall", "sendmany", "sendtoaddress"}

// takingLater take an argument here that Core has since a later version than 30.
var takingLater = []string{
	"gettxspendingprevout", "migratewallet", "createpsbt", "converttopsbt", "walletcreatefundedpsbt", "dumptxoutset",
}

// takingIn32 take an argument here that Core has since 32.0, and 31.99 not yet.
var takingIn32 = []string{"estimatesmartfee"}

// notOfArguments are differences that have nothing to do with arguments, or with
// what the methods are.
var notOfArguments = []differ.Exception{
	{Reason: "what a call returns is compared elsewhere", Is: func(_ differ.Call, r differ.Replies) bool {
		return r.Trawl.OK() && r.Core.OK()
	}},
	{
		Reason: "the description of a method, with its first line as Core's, is in words of our own",
		Is: func(_ differ.Call, r differ.Replies) bool {
			trawl, core := errorOf(r.Trawl), errorOf(r.Core)
			ours, _, _ := strings.Cut(trawl.Message, "\n")
			theirs, _, described := strings.Cut(core.Message, "\n\n")
			return trawl.Code == core.Code && described &&
				strings.Join(strings.Fields(ours), " ") == strings.Join(strings.Fields(theirs), " ")
		},
	},
	{Reason: "some methods take more here than at Core, so that their first line is longer", Is: func(c differ.Call, r differ.Replies) bool {
		return slices.Contains(append(slices.Clip(takingMore), takingIn32...), c.Method) &&
			errorOf(r.Trawl).Code == -1 && errorOf(r.Core).Code == -1 &&
			strings.HasPrefix(errorOf(r.Core).Message, c.Method+" ") &&
			strings.HasPrefix(errorOf(r.Trawl).Message, c.Method+" ")
	}},
	{
		Reason: "disconnectnode by two names: later Cores read the number first",
		Is: func(c differ.Call, r differ.Replies) bool {
			return c.Method == "disconnectnode" && errorOf(r.Trawl).Code == -32602 && errorOf(r.Core).Code == -1
		},
	},
	{
		Reason: "by its notes 32.0 takes no true or false in place of options; 31.99 takes it",
		Is: func(c differ.Call, r differ.Replies) bool {
			const options = "Position 2 (options)"
			return c.Method == "fundrawtransaction" && strings.Contains(errorOf(r.Trawl).Message, options) &&
				!strings.Contains(errorOf(r.Core).Message, options)
		},
	},
	{Reason: "Core does not take the argument before a later version", Is: func(c differ.Call, r differ.Replies) bool {
		return slices.Contains(takingLater, c.Method) && errorOf(r.Core).Code == -1 &&
			strings.HasPrefix(errorOf(r.Core).Message, c.Method+" ")
	}},
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func errorOf(r differ.Reply) failure {
	var f failure
	_ = json.Unmarshal(r.Error, &f) // nothing was wrong otherwise
	return f
}

type param struct {
	Name string `json:"name"`
}

// A method is a method of both nodes, as trawld describes it.
type method struct {
	Name   string  `json:"name"`
	Params []param `json:"params"`

	extended bool // it takes more than at Core, which Params leave out
}

// methodsOfBoth returns the methods of both nodes: Core's are recorded beside the daemon,
// and TestHelp compares the record.
func methodsOfBoth(t *testing.T, p *differ.Pair) []method {
	t.Helper()
	more := takingMore
	if p.Later {
		more = append(slices.Clip(more), takingIn32...)
	}
	known, name := map[string][]string{}, ""
	for line := range strings.Lines(usagesOf(t, p)) {
		words := strings.Fields(line)
		if !strings.HasPrefix(line, " ") {
			name = words[0]
			known[name] = []string{}
			continue
		}
		known[name] = append(known[name], strings.Split(words[1], "|")...)
	}
	var described struct {
		Methods []method `json:"methods"`
	}
	p.Trawl.Get(&described, "getopenrpcinfo", true)
	var both []method
	for _, m := range described.Methods {
		params, ok := known[m.Name]
		if !ok || slices.Contains(notCalled, m.Name) {
			continue
		}
		all := len(m.Params)
		m.Params = slices.DeleteFunc(m.Params, func(p param) bool { return !slices.Contains(params, p.Name) })
		m.extended = len(m.Params) < all && (p.Later || !slices.Contains(takingLater, m.Name))
		if m.extended && !slices.Contains(more, m.Name) {
			t.Errorf("%s takes more than at Core: say it in the list of such methods", m.Name)
		}
		both = append(both, m)
	}
	return both
}

// usagesOf returns the usage lines of Core's methods: as they are recorded, or as a later Core tells them.
func usagesOf(t *testing.T, p *differ.Pair) string {
	t.Helper()
	record, err := os.ReadFile("../../cmd/trawld/testdata/core/methods.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !p.Later {
		return string(record)
	}
	help := func(params ...any) (text string) {
		if err := p.Core.Call(t.Context(), &text, "help", params...); err != nil {
			t.Fatal(err)
		}
		return text
	}
	const unlisted = "getmempoolfeeratediagram"
	var text strings.Builder
	seen := map[string]bool{"==": true, "": true}
	for line := range strings.Lines(string(record) + unlisted + "\n" + help()) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, " ") || seen[name] {
			continue
		}
		seen[name] = true
		if usage := help(name); !strings.Contains(usage, "unknown command") {
			text.WriteString(differ.Usage(usage))
		}
	}
	return text.String()
}

// TestArguments calls the methods that both know with arguments by chance: of wrong
// types, too few and too many, out of range, by position and by name. No wallet is
// loaded, so that those of wallets get no further than their arguments.
func TestArguments(t *testing.T) {
	p := differ.Start(t, differ.Config{}, notOfArguments...)
	r, all := differ.Random(t), methodsOfBoth(t, p)
	if len(all) < 90 {
		t.Fatalf("%d methods are known to both", len(all))
	}
	few := 4000
	if differ.Recorded() {
		few = 1500
	}
	for left := differ.Cases(t, few); left > 0; {
		calls := make([]differ.Call, min(left, 100))
		for i := range calls {
			m := all[r.IntN(len(all))]
			calls[i] = differ.Call{Method: m.Name, Params: json.RawMessage(randomArguments(r, m))}
		}
		p.Send(calls...)
		left -= len(calls)
	}
	p.Alive()
}

// randomArguments writes the params of a call.
func randomArguments(r *rand.Rand, m method) string {
	if r.IntN(3) > 0 {
		n := r.IntN(len(m.Params) + 2)
		if m.extended {
			n = min(n, len(m.Params))
		}
		values := make([]string, n)
		for i := range values {
			values[i] = randomValue(r, 2)
		}
		return "[" + strings.Join(values, ",") + "]"
	}
	// Several unknown names are named by chance.
	names := []string{}
	for _, p := range m.Params {
		if r.IntN(2) == 0 {
			names = append(names, p.Name)
		}
	}
	if r.IntN(4) == 0 {
		names = append(names, oneOf(r, "args", "nosuch", "", "Args"))
	}
	if len(names) > 0 && r.IntN(10) == 0 {
		names = append(names, names[0])
	}
	members := make([]string, len(names))
	for i, name := range names {
		members[i] = strconv.Quote(name) + ":" + randomValue(r, 2)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func oneOf(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// randomValue writes a value, of so many levels at most.
func randomValue(r *rand.Rand, levels int) string {
	switch r.IntN(8) {
	case 0:
		return oneOf(r, "null", "true", "false")
	case 1, 2:
		return oneOf(
			r, "0", "1", "-1", "2", "6", "100", "1.5", "1.0", "1e3", "-0", "2147483647", "2147483648", "4294967296", "9223372036854775807",
			"9223372036854775808", "-2147483649", "21000001", "0.00000001", "0.000000001", "1e-9", "1e30", strconv.Itoa(r.IntN(1000)-500),
		)
	case 3, 4, 5:
		return strconv.Quote(oneOf(
			r, "", "x", "0", "1", "-1", "true", "start", "status", "abort", "basic", "add", "remove", "hash_serialized_3", "none", "all", "bech32",
			"00", "zz", "0g", strings.Repeat("00", 32), strings.Repeat("ab", 32), strings.Repeat("0", 63),
			strings.Repeat("A", 65),
			"0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206", "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b",
			"bcrt1q0xcqpzrky6eff2g52qdye53xkk9jxkvrh6yhyw", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn", "1BitcoinEaterAddressDontSendf59kuE",
			"wpkh(0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798)", "raw(51)", "127.0.0.1", "127.0.0.1:18444", "1.2.3.4/24",
			"02000000000000000000", "cHNidP8BAAA=", "ALL", "SINGLE|ANYONECANPAY", "ü", "\t",
		))
	case 6:
		return randomList(r, levels, "[", "]", func() string { return randomValue(r, levels-1) })
	default:
		return randomList(r, levels, "{", "}", func() string {
			return fmt.Sprintf("%q:%s", oneOf(
				r, "txid", "vout", "amount", "desc", "range", "type", "data", "rules", "mode", "x", "",
			), randomValue(r, levels-1))
		})
	}
}

func randomList(r *rand.Rand, levels int, begin, end string, element func() string) string {
	var elements []string
	for levels > 0 && r.IntN(3) > 0 {
		elements = append(elements, element())
	}
	return begin + strings.Join(elements, ",") + end
}

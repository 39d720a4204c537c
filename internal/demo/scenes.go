package main

import (
	"fmt"
	"strings"
)

// firstKey received the coinbase of block 9, the first that was ever spent: in
// block 170, by the first payment from one person to another.
const firstKey = "0411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bf" +
	"a9b8b64f9d4c03f999b8643f656b412a3"

// someXpub is the first test vector's master key of BIP32: its wallets are
// empty, but looking for them takes as long as if they were not.
const someXpub = "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"

// A scene is one call and what it shows.
type scene struct {
	title string
	args  []string
}

var scenes = []scene{
	{
		"Every block that touches the key of block 9's coinbase, which paid block 170's famous transaction:",
		[]string{"scanblocks", "start", `["pk(` + firstKey + `)"]`},
	},
	{
		"The same for all forms of payment to that key, each match checked in its block:",
		[]string{
			"-named", "scanblocks", "action=start", `scanobjects=["combo(` + firstKey + `)"]`,
			"filter_false_positives=true",
		},
	},
	{
		"A wallet of 2 x 1,001 keys, derived and searched for:",
		[]string{"scanblocks", "start", `[{"desc":"pkh(` + someXpub + `/<0;1>/*)","range":1000}]`},
	},
	{
		"The filter of block 170:",
		[]string{"getblockfilter", "00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee"},
	},
	{"No scan is running now, so there is none to abort:", []string{"scanblocks", "abort"}},
}

// quote writes arguments as one would type them.
func quote(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if strings.ContainsAny(a, `"[]{}()<>;* `) {
			words[i] = "'" + a + "'"
		}
	}
	return strings.Join(words, " ")
}

// shorten leaves the middle of a long answer out.
func shorten(out string) string {
	const keep = 6
	lines := strings.Split(out, "\n")
	if len(lines) <= 3*keep {
		return out
	}
	left := fmt.Sprintf("    … %d more lines …", len(lines)-2*keep)
	return strings.Join(append(append(lines[:keep:keep], left), lines[len(lines)-keep:]...), "\n")
}

package dialect

import "strings"

// Example addresses of qbit's main chain, for help texts.
const (
	qbitExample      = "qb1zqqqsyqcyq5rqwzqfpg9scrgwpugpzysnzs23v9ccrydpk8qarc0sjq57mw"
	qbitOtherExample = "qb1zyqsjygeyy5nzw2pf9g4jctfw9ucrzv3nxs6nvdec8yark0pa8clsj9cmtx"
)

// qbitHelpWords are the words in help texts of methods that are others on qbit's networks, in pairs: Bitcoin's word,
// and the one in its place.
func (n *Network) qbitHelpWords() []string {
	var names []string
	for _, t := range n.Wallet().Types {
		names = append(names, `"`+t.Kind.String()+`"`)
	}
	last := len(names) - 1
	choice, keys := names[last], "1 active ranged descriptor"
	if last > 0 {
		choice = strings.Join(names[:last], ", ") + " or " + names[last]
		keys = "5 active ranged descriptors"
	}
	const refill = "Derives addresses ahead for each active descriptor."
	words := []string{
		"trawl-cli", "qbit-cli", "http://127.0.0.1:8332/", "http://127.0.0.1:8352/",
		"given bitcoin address", "given qbit address", "sat/vB", "bits/vB",
		"1D1ZrZNe3JUo7ZycKEYQQiQAWd9y54F4XX", qbitExample,
		"bc1q09vm5lfy0j5reeulh4x5752q25uqqvz34hufdl", qbitExample,
		"bc1q02ad21edsxd23d32dfgqqsz4vv4nmtfzuklhy3", qbitOtherExample,
		"bc1qzl6nsgqzu89a66l50cvwapnkw5shh23zarqkw9", qbitExample,
		`"legacy", "p2sh-segwit", "bech32" or "bech32m"`, choice,
		refill, refill + "\nBy default, descriptor wallets on this chain have " + keys + " (" +
			strings.Join(names, ", ") + ") with 1000 entries.",
	}
	if last == 0 {
		words = append(words, `"bech32m"`, names[0]) // the only type
	}
	return words
}

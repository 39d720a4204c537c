package main

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
)

// secretTexts are the arguments and results that hold, or may hold, passphrases or
// private keys: method, then the names down to the text. Results are in brackets.
var secretTexts = []string{
	"addhdkey hdkey",
	"createsearch scanobjects",
	"createwallet passphrase",
	"deriveaddresses descriptor",
	"derivehdkey [xprv]",
	"descriptorprocesspsbt descriptors",
	"discoveraccounts [accounts] [descriptors] [desc]", "discoveraccounts passphrase", "discoveraccounts source",
	"encryptwallet passphrase",
	"extendsearch scanobjects",
	"fundrawtransaction options solving_data descriptors descriptor",
	"generateblock output",
	"generatetodescriptor descriptor",
	"getdescriptoractivity scanobjects",
	"getdescriptorinfo descriptor",
	"gethdkeys [xprv]",
	"importdescriptors requests desc",
	"listdescriptors [descriptors] [desc]",
	"migratewallet passphrase",
	"scanblocks scanobjects",
	"scantxoutset scanobjects",
	"send options solving_data descriptors descriptor",
	"sendall options solving_data descriptors descriptor",
	"signmessagewithprivkey privkey",
	"signrawtransactionwithkey privkeys",
	"utxoupdatepsbt descriptors", "verifyreceipt scanobjects",
	"walletcreatefundedpsbt options solving_data descriptors descriptor",
	"walletpassphrase passphrase",
	"walletpassphrasechange newpassphrase",
	"walletpassphrasechange oldpassphrase",
}

// publicTexts are others whose names could be those of secrets. Descriptors in results
// of other methods than a wallet's are inferred from scripts.
var publicTexts = []string{
	"checkwallet [descriptors] [desc]", "checkwallet [receipt] [descriptors] [desc]",
	"createwalletdescriptor options hdkey", "derivehdkey options hdkey",
	"discoveraccounts [pass]", "discoveraccounts [passes]", // over the filters
	"estimaterawfee [long] [pass]", "estimaterawfee [medium] [pass]", "estimaterawfee [short] [pass]", // a bucket that passes
	"getaddressinfo [desc]", "getaddressinfo [parent_desc]",
	"gethdkeys [descriptors] [desc]",
	"listunspent [desc]",
	"previewrestore [descriptors] [desc]",
	"scanblocks [pass]", // over the filters
}

// madeOfScripts are results that no wallet gives.
var madeOfScripts = regexp.MustCompile(`\[(desc|descriptor)\]$`)

// mayBeSecret are names of which one has to say whether they are secret.
var mayBeSecret = regexp.MustCompile(`(?i)pass|priv|desc$|descriptor$|seed$|secret|prv|wif|mnemonic|hdkey$|scanobjects`)

// TestSecretsAreMarked holds the methods to what their tables say of secrets, so that
// a new one has to say so too: what is not marked stays in memory.
func TestSecretsAreMarked(t *testing.T) {
	found, unclear := map[string]bool{}, map[string]bool{}
	category := ""
	note := func(path string, name string, kind command.Type, secret bool) {
		switch {
		case secret:
			found[path] = true
		case category != command.Wallet && madeOfScripts.MatchString(path):
		case kind != command.Bool && mayBeSecret.MatchString(name) && !slices.Contains(publicTexts, path):
			unclear[path] = true
		}
	}
	var params func(path string, list []command.Param)
	params = func(path string, list []command.Param) {
		for i := range list {
			p := &list[i]
			inner := path
			if p.Name != "" {
				inner += " " + p.Name
				note(inner, p.Name, p.Type, p.Secret)
			}
			if !p.Secret { // all within is
				params(inner, p.Inner)
			}
		}
	}
	var results func(path string, list []command.Result)
	results = func(path string, list []command.Result) {
		for i := range list {
			r := &list[i]
			inner := path
			if r.Key != "" {
				inner += " [" + r.Key + "]"
				note(inner, r.Key, r.Type, r.Secret)
			}
			results(inner, r.Inner)
		}
	}
	for _, c := range servedTable(t).Commands() {
		category = c.Category
		params(c.Name, c.Params)
		results(c.Name, c.Results)
	}
	for _, path := range slices.Sorted(maps.Keys(unclear)) {
		t.Errorf("%s: is it a secret? It is neither marked nor in the list of public ones", path)
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, secretTexts) {
		t.Errorf("marked are\n%q\nwant\n%q", got, secretTexts)
	}
}

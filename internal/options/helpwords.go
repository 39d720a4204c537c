package options

import (
	"cmp"
	"strings"
)

// qbitHelp are the words in the help texts of options that are others on qbit's networks, by the name of the option:
// Bitcoin's words, and those in their place.
var qbitHelp = map[string][2]string{
	"addresstype": {
		"bech32 or bech32m (default: bech32)", "bech32, bech32m or p2mr (default: p2mr, with -p2mronly=0 bech32)",
	},
	"blockmaxweight":      {"4000000", "2000000"},
	"blockreservedweight": {"8000", "4000"},
	"conf":                {"bitcoin.conf", "qbit.conf"},
	"datacarriersize":     {"100000", "200000"},
	"dustrelayfee":        {"0.00003", "0.0000075"},
	"incrementalrelayfee": {"0.000001", "0.0000025"},
	"limitancestorsize":   {"101", "404"},
	"limitdescendantsize": {"101", "404"},
	"minrelaytxfee":       {"0.000001", "0.0000025"},
	"pid":                 {"bitcoind.pid", "qbitd.pid"},
	"rpcallowhost":        {":8332", ":8352"},
	"rpcport": {
		"8332, testnet: 18332, testnet4: 48332, signet: 38332, regtest: 18443",
		"8352, testnet: 18352, testnet4: 48352, signet: 38352, regtest: 18452",
	},
}

// qbitArgs are the values that qbit's help texts name where Bitcoin's name none.
var qbitArgs = map[string]string{"addresstype": "<type>", "changetype": "<type>"}

// arg returns what stands for the value of an option in the help text of a dialect; empty: nothing.
func (d *dialect) arg(o *Option) string { return cmp.Or(o.Arg, d.args[o.Name]) }

// helpText is what an option does on the networks of a dialect.
func (d *dialect) helpText(o *Option) string {
	text := strings.ReplaceAll(o.text(), MoneyOf(defaultDialect).Unit, d.money.Unit)
	if words, ok := d.help[o.Name]; ok {
		return strings.ReplaceAll(text, words[0], words[1])
	}
	return text
}

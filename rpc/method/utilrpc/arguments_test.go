package utilrpc_test

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
)

func TestArguments(t *testing.T) {
	const (
		single = `"pkh(0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798)#e48zzw02"`
		ranged = `"wpkh(xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJ` +
			`hkJ8UB7WEGuduB/0/*)#fmv2q5y2"`
		form = `{"code":-8,"message":"Range must be specified as end or as [begin,end]"}`
	)
	tests := []struct{ name, method, params, want string }{
		{"range of the wrong kind", "deriveaddresses", `[` + ranged + `, "0"]`, form},
		{"range of one", "deriveaddresses", `[` + ranged + `, [0]]`, form},
		{"range of texts", "deriveaddresses", `[` + ranged + `, ["0", "1"]]`, form},
		{"range of fractions", "deriveaddresses", `[` + ranged + `, [0, 1.5]]`, `{"code":-1,"message":"JSON integer out of range"}`},
		{"range before descriptor", "deriveaddresses", `["", 1.5]`, `{"code":-1,"message":"JSON integer out of range"}`},
		{
			"range the wrong way round", "deriveaddresses", `[` + ranged + `, [1, 0]]`,
			`{"code":-8,"message":"Range specified as [begin,end] must not have begin after end"}`,
		},
		{"negative begin", "deriveaddresses", `[` + ranged + `, [-1, 0]]`, `{"code":-8,"message":"Range should be greater or equal than 0"}`},
		{"negative end", "deriveaddresses", `[` + ranged + `, -1]`, `{"code":-8,"message":"End of range is too high"}`},
		{"end beyond all indices", "deriveaddresses", `[` + ranged + `, 2147483648]`, `{"code":-8,"message":"End of range is too high"}`},
		{"too many", "deriveaddresses", `[` + ranged + `, [5, 1000005]]`, `{"code":-8,"message":"Range is too large"}`},
		{"no range", "deriveaddresses", `[` + ranged + `]`, `{"code":-8,"message":"Range must be specified for a ranged descriptor"}`},
		{
			"range for one", "deriveaddresses", `[` + single + `, null]`,
			`{"code":-8,"message":"Range should not be specified for an un-ranged descriptor"}`,
		},
		{"null is index 0", "deriveaddresses", `[` + ranged + `, null]`, `["bc1q7ypnz7ulpd6c5ckt8pujs8fruwcaawgdgg7luh"]`},
		{"last index", "deriveaddresses", `{"range": [2147483647, 2147483647], "descriptor": ` + ranged + `}`, `["bc1q`},
		{"without checksum", "deriveaddresses", `["raw(51)"]`, `{"code":-5,"message":"Missing checksum"}`},
		{
			"without address", "deriveaddresses", `["raw(51)#8lvh9jxk"]`,
			`{"code":-5,"message":"Descriptor does not have a corresponding address"}`,
		},
		{
			"named", "getdescriptorinfo", `{"descriptor": "raw(51)"}`,
			`{"descriptor":"raw(51)#8lvh9jxk","checksum":"8lvh9jxk","isrange":false,"issolvable":false,"hasprivatekeys":false}`,
		},
		{"unknown name", "getdescriptorinfo", `{"desc": "raw(51)"}`, `{"code":-8,"message":"Unknown named parameter desc"}`},
		{"number for text", "getdescriptorinfo", `[51]`, `{"code":-3,"message":"Wrong type passed:`},
		{"null for text", "validateaddress", `[null]`, `{"code":-3,"message":"Wrong type passed:`},
		{"too many arguments", "validateaddress", `["", 1]`, `{"code":-1,"message":"validateaddress \"address\"`},
		{
			"no address", "validateaddress", `[]`,
			`{"code":-1,"message":"validateaddress \"address\"\n\nReturn information about the given bitcoin address.\n`,
		},
		{"too few", "getdescriptorinfo", `[]`, `{"code":-1,"message":"getdescriptorinfo \"descriptor\"`},
	}
	table := newTable(t, &chaincfg.MainNetParams)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := reply(t, table, test.method, parse(t, test.params))
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

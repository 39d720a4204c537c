package descriptor_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

const offCurveKey = "020000000000000000000000000000000000000000000000000000000000000000"

// scriptForms are scripts of every form with what Core says of them on main.
var scriptForms = []struct {
	hex, form, address, infer string
}{
	{"", "nonstandard", "", "raw()"},
	{"51", "nonstandard", "", "raw(51)"},
	{"6a", "nulldata", "", "raw(6a)"},
	{"6a0568656c6c6f", "nulldata", "", "raw(6a0568656c6c6f)"},
	{"6a05", "nonstandard", "", "raw(6a05)"},
	{"6aac", "nonstandard", "", "raw(6aac)"},
	{"51024e73", "anchor", "bc1pfeessrawgf", "addr(bc1pfeessrawgf)"},
	{"21" + testKey + "ac", "pubkey", "", "pk(" + testKey + ")"},
	{"21" + offCurveKey + "ac", "pubkey", "", "pk(" + offCurveKey + ")"},
	{"4107" + strings.Repeat("11", 64) + "ac", "pubkey", "", "raw(4107" + strings.Repeat("11", 64) + "ac)"},
	{"2105" + strings.Repeat("11", 32) + "ac", "nonstandard", "", "raw(2105" + strings.Repeat("11", 32) + "ac)"},
	{
		"76a914751e76e8199196d454941c45d1b3a323f1433bd688ac", "pubkeyhash", "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH",
		"addr(1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH)",
	},
	{
		"a914bcfeb728b584253d5f3f70bcb780e9ef218a68f487", "scripthash", "3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN",
		"addr(3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN)",
	},
	{
		"0014751e76e8199196d454941c45d1b3a323f1433bd6", "witness_v0_keyhash", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
		"addr(bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4)",
	},
	{
		"00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262", "witness_v0_scripthash",
		"bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3", "addr(bc1qrp33g0q5c5txsp9arys" +
			"rx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3)",
	},
	{"0002abcd", "nonstandard", "", "raw(0002abcd)"},
	{
		"512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", "witness_v1_taproot",
		"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", "rawtr(79be667ef9dcbbac55a06295ce870b07029bfcdb" +
			"2dce28d959f2815b16f81798)",
	},
	{
		"5120" + strings.Repeat("00", 32), "witness_v1_taproot",
		"bc1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpqqenm", "addr(bc1pqqqqqqqqqqqqqqqqqqq" +
			"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpqqenm)",
	},
	{
		"5210751e76e8199196d454941c45d1b3a323", "witness_unknown", "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs",
		"addr(bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs)",
	},
	{"6002751e", "witness_unknown", "bc1sw50qgdz25j", "addr(bc1sw50qgdz25j)"},
	{"5121" + testKey + "51ae", "multisig", "", "multi(1," + testKey + ")"},
	{"514c21" + testKey + "51ae", "multisig", "", "multi(1," + testKey + ")"},
	{"5121" + testKey + "52ae", "nonstandard", "", "raw(5121" + testKey + "52ae)"},
	{"5121" + testKey + "51ac51ae", "nonstandard", "", "raw(5121" + testKey + "51ac51ae)"},
	{"01" + "11" + strings.Repeat("21"+testKey, 17) + "0111ae", "multisig", "", "multi(17" + strings.Repeat(","+
		testKey, 17) + ")"},
	{
		"51" + strings.Repeat("21"+testKey, 21) + "0115ae", "nonstandard", "",
		"raw(51" + strings.Repeat("21"+testKey, 21) + "0115ae)",
	},
	{"0101" + "21" + testKey + "51ae", "nonstandard", "", "raw(010121" + testKey + "51ae)"},
	{"51ae", "nonstandard", "", "raw(51ae)"},
	{"ae", "nonstandard", "", "raw(ae)"},
}

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestScriptForms(t *testing.T) {
	for _, test := range scriptForms {
		script := unhex(t, test.hex)
		if got := descriptor.ScriptType(script); got != test.form {
			t.Errorf("%s: form %s, want %s", test.hex, got, test.form)
		}
		address, ok := descriptor.AddressOf(script, mainNet)
		if address != test.address || ok != (test.address != "") {
			t.Errorf("%s: address %q, want %q", test.hex, address, test.address)
		}
		if got, want := descriptor.Infer(script, mainNet), descriptor.AddChecksum(test.infer); got != want {
			t.Errorf("%s: inferred %s, want %s", test.hex, got, want)
		}
		if !ok {
			continue
		}
		if back, err := descriptor.ScriptOfAddress(address, mainNet); err != nil || string(back) != string(script) {
			t.Errorf("%s: %s stands for %x, %v", test.hex, address, back, err)
		}
	}
}

func TestScriptOfAddress(t *testing.T) {
	for address, want := range map[string]string{
		"BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4": "0014751e76e8199196d454941c45d1b3a323f1433bd6",
		" 1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH ":       "76a914751e76e8199196d454941c45d1b3a323f1433bd688ac",
		"":                                           "",
		"1":                                          "",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5": "",
		"bc1qW508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": "",
		"tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx": "",
		"bc1q":                                  "",
		"bc1gmk9yu":                             "",
		"bc1pw5dgrnzv":                          "",
		"BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P":  "",
		"bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du": "",
		"bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4": "",
		"bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj":                           "", // bech32, not bech32m
		"mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r":                             "",
		"1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH1":                            "",
		strings.Repeat("1", 1<<20):                                       "",
	} {
		script, err := descriptor.ScriptOfAddress(address, mainNet)
		if got := hex.EncodeToString(script); got != want || (want == "") != errors.Is(err, descriptor.ErrAddress) {
			t.Errorf("%.70q: got %s, %v, want %s", address, got, err, want)
		}
	}
}

func TestProperties(t *testing.T) {
	for _, test := range []struct {
		text                     string
		output                   descriptor.OutputType
		ranged, solvable, single bool
	}{
		{"pk(" + testKey + ")", descriptor.Unknown, false, true, true},
		{"pkh(" + testXpub + "/*)", descriptor.Legacy, true, true, true},
		{"combo(" + testXpub + "/*)", descriptor.Unknown, true, true, false},
		{"sh(multi(1," + testKey + "))", descriptor.Legacy, false, true, true},
		{"sh(wpkh(" + testKey + "))", descriptor.P2SHSegwit, false, true, true},
		{"sh(wsh(pk(" + testKey + ")))", descriptor.P2SHSegwit, false, true, true},
		{"wsh(pk(" + testKey + "))", descriptor.Bech32, false, true, true},
		{"tr(" + testKey + ",pk(" + testXpub + "/*))", descriptor.Bech32m, true, true, true},
		{"addr(bc1pfeessrawgf)", descriptor.Unknown, false, false, true},
		{"addr(1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH)", descriptor.Legacy, false, false, true},
		{"raw(6002751e)", descriptor.Bech32m, false, false, true},
		{"raw(51)", descriptor.Unknown, false, false, true},
	} {
		d := parse(t, test.text, mainNet)
		if d.OutputType() != test.output || d.IsRanged() != test.ranged ||
			d.IsSolvable() != test.solvable || d.IsSingleType() != test.single {
			t.Errorf("%s: %v, ranged %v, solvable %v, single %v",
				test.text, d.OutputType(), d.IsRanged(), d.IsSolvable(), d.IsSingleType())
		}
	}
}

func TestPrivateString(t *testing.T) {
	const wif = "L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1"
	const longWIF = "5KYZdUEo39z3FPrtuX2QbbwGnNP5zTd7yyr2SC1j299sBCnWjss"
	for _, test := range []struct {
		text    string
		want    string // empty: the text itself
		private bool
	}{
		{"pkh(" + wif + ")", "", true},
		{"pkh(" + longWIF + ")", "", true},
		{"tr(" + wif + ",pk([deadbeef/1']" + testXprv + "/2'/*'))", "", true},
		{"wpkh(" + testXpub + "/*)", "", false},
		{"sh(multi(1," + wif + "," + testXpub + "/*))", "", true},
		{"raw(51)", "", false},
		// A private key serves every expression with its public key.
		{"sh(multi(1," + wif + "," + testKey + "))", "sh(multi(1," + wif + "," + wif + "))", true},
		{"sh(multi(1," + testXpub + "/0h," + testXprv + "/1h))", "sh(multi(1," + testXprv + "/0h," + testXprv + "/1h))", true},
		{"tr(" + testKey[2:] + ",pk(" + wif + "))", "tr(" + wif + ",pk(" + wif + "))", true},
	} {
		d := parse(t, test.text, mainNet)
		want := test.want
		if want == "" {
			want = test.text
		}
		text, private := d.PrivateText()
		got := string(text)
		if got != descriptor.AddChecksum(want) || private != test.private {
			t.Errorf("%s: got %s, %v", test.text, got, private)
		}
		if _, err := d.Expand(0); err != nil {
			t.Errorf("%s: %v", test.text, err)
		}
	}
}

func TestCheckRange(t *testing.T) {
	for _, test := range []struct {
		begin, end int64
		want       error
	}{
		{0, 0, nil},
		{descriptor.MaxIndex, descriptor.MaxIndex, nil},
		{5, descriptor.MaxRange + 4, nil},
		{5, descriptor.MaxRange + 5, descriptor.ErrRangeSize},
		{3, 2, descriptor.ErrRangeOrder},
		{0, -1, descriptor.ErrRangeOrder},
		{-1, 1, descriptor.ErrRangeNegative},
		{-5, -1, descriptor.ErrRangeNegative},
		{-1 << 63, 1<<63 - 1, descriptor.ErrRangeNegative},
		{0, 1 << 31, descriptor.ErrRangeEnd},
		{0, 1<<63 - 1, descriptor.ErrRangeEnd},
	} {
		if got := descriptor.CheckRange(test.begin, test.end); !errors.Is(got, test.want) {
			t.Errorf("[%d,%d]: got %v, want %v", test.begin, test.end, got, test.want)
		}
	}
	if got := descriptor.CheckRangeEnd(-1); !errors.Is(got, descriptor.ErrRangeEnd) {
		t.Errorf("end -1: %v", got)
	}
	if got := descriptor.CheckRangeEnd(descriptor.MaxRange); !errors.Is(got, descriptor.ErrRangeSize) {
		t.Errorf("end %d: %v", descriptor.MaxRange, got)
	}
}

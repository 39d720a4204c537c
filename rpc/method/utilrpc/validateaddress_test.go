package utilrpc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

func validate(tb testing.TB, table *command.Table, address string) string {
	tb.Helper()
	return reply(tb, table, "validateaddress", jsontree.NewArray(jsontree.NewString(address)))
}

func TestValidAddresses(t *testing.T) {
	tests := []struct {
		params        *chaincfg.Params
		address, want string // want: all members but isvalid
	}{
		{
			&chaincfg.MainNetParams, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
			`"address":"1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2","scriptPubKey":"76a91477bff20c60e522dfaa3350c39b030a5d004e839a88ac",` +
				`"isscript":false,"iswitness":false`,
		},
		{
			&chaincfg.MainNetParams, " 3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy\n",
			`"address":"3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy","scriptPubKey":"a914b472a266d0bd89c13706a4132ccfb16f7c3b9fcb87",` +
				`"isscript":true,"iswitness":false`,
		},
		{
			&chaincfg.MainNetParams, "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
			`"address":"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4","scriptPubKey":"0014751e76e8199196d454941c45d1b3a323f1433bd6",` +
				`"isscript":false,"iswitness":true,"witness_version":0,"witness_program":"751e76e8199196d454941c45d1b3a323f1433bd6"`,
		},
		{
			&chaincfg.MainNetParams, "bc1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvses5wp4dt",
			`"address":"bc1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvses5wp4dt",` +
				`"scriptPubKey":"0020000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433","isscript":true,"iswitness":true,` +
				`"witness_version":0,"witness_program":"000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433"`,
		},
		{
			&chaincfg.MainNetParams, "bc1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvses7epu4h",
			`"address":"bc1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvses7epu4h",` +
				`"scriptPubKey":"5120000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433","isscript":true,"iswitness":true,` +
				`"witness_version":1,"witness_program":"000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433"`,
		},
		{
			&chaincfg.MainNetParams, "bc1pfeessrawgf",
			`"address":"bc1pfeessrawgf","scriptPubKey":"51024e73","isscript":true,"iswitness":true`,
		},
		{
			&chaincfg.MainNetParams, "BC1SW50QGDZ25J",
			`"address":"bc1sw50qgdz25j","scriptPubKey":"6002751e","iswitness":true,"witness_version":16,"witness_program":"751e"`,
		},
		{
			&chaincfg.RegressionNetParams, "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
			`"address":"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn","scriptPubKey":"76a914243f1394f44554f4ce3fd68649c19adc483ce92488ac",` +
				`"isscript":false,"iswitness":false`,
		},
	}
	for _, test := range tests {
		t.Run(strings.TrimSpace(test.address), func(t *testing.T) {
			got := validate(t, newTable(t, test.params), test.address)
			if want := `{"isvalid":true,` + test.want + "}"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestInvalidAddresses(t *testing.T) {
	const (
		noAddress  = "Invalid or unsupported Segwit (Bech32) or Base58 encoding."
		badBase58  = "Invalid checksum or length of Base58 address (P2PKH or P2SH)"
		needsM     = "Version 1+ witness address must use Bech32m checksum"
		needsPlain = "Version 0 witness address must use Bech32 checksum"
		manyErrors = "049edschfnwystcqnsvyfpj23mpsg3jcedq9xv"
	)
	type row struct{ address, text, locations string }
	tests := map[*chaincfg.Params][]row{
		&chaincfg.MainNetParams: {
			{"", badBase58, ""},
			{"tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty", noAddress, ""},
			{"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "Invalid Bech32 checksum", "41"},
			{"BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2", needsM, ""},
			{"bc1rw5uspcuh", needsM, ""},
			{"BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P", "Invalid Bech32 v0 address program size (16 bytes), per BIP141", ""},
			{"BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3t4", "Invalid character or mixed case", "40"},
			{"bc1gmk9yu", "Empty Bech32 data section", ""},
			{"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", needsM, ""},
			{"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh", needsPlain, ""},
			{"bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4", "Invalid Base 32 character", "59"},
			{"BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R", "Invalid Bech32 address witness version", ""},
			{"bc1pw5dgrnzv", "Invalid Bech32 address program size (1 byte)", ""},
			{
				"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav",
				"Invalid Bech32 address program size (41 bytes)", "",
			},
			{"bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf", "Invalid padding in Bech32 data section", ""},
			{
				"bcrt1qtmp74ayg7p24uslctssvjm06q5phz4yrxucgnv",
				"Invalid or unsupported prefix for Segwit (Bech32) address (expected bc, got bcrt).", "",
			},
			{"bc1", "Invalid separator position", "2"},
			{"bc\x7f1é", "Invalid character or mixed case", "2,4,5"},
		},
		&chaincfg.RegressionNetParams: {
			{"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kqqq5k3my", "Invalid Bech32 v0 address program size (21 bytes), per BIP141", ""},
			{
				"bcrt1q" + manyErrors + manyErrors[2:] + manyErrors[2:30], "Bech32 string too long",
				"90,91,92,93,94,95,96,97,98,99,100,101,102,103,104,105,106,107",
			},
			{"bcrt1q" + manyErrors, "Invalid Bech32 checksum", "9"},
			{"BCRT1QPLMTZKC2XHARPPZDLNPAQL78RSHJ68U32RAH7R", "Invalid Bech32 checksum", "38"},
			{"bcrt1qax9suht3qv95sw33xavx8crpxduefdrsvgsklu", "Invalid Bech32 checksum", "22,43"},
			{"bcrt1qdg3myrgvzw7ml8q0ejxhlkyxn7vl9r56yzkfgvzclrf4hkpx9yfqhpsuks", "Invalid Bech32 checksum", "19,30"},
			{"bcrt1ptmp74ayg7p24uslctssvjm06q5phz4yrxucgnv", "Invalid Bech32 checksum", "5"},
			{"bcrtq049ldschfnwystcqnsvyfpj23mpsg3jcedq9xv", "Missing separator", ""},
			{"bcrt1q04oldschfnwystcqnsvyfpj23mpsg3jcedq9xv", "Invalid Base 32 character", "8"},
			{"17VZNX1SN5NtKa8UQFxwQbFeFc3iqRYhem", "Invalid or unsupported Base58-encoded address.", ""},
			{"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJJfn", badBase58, ""},
			{"2VKf7XKMrp4bVNVmuRbyCewkP8FhGLP2E54LHDPakr9Sq5mtU2", badBase58, ""},
			{"asfah14i8fajz0123f", noAddress, ""},
			{"1q049ldschfnwystcqnsvyfpj23mpsg3jcedq9xv", noAddress, ""},
			{strings.Repeat("1", 100), badBase58, ""},
			{strings.Repeat("1", 101), noAddress, ""},
		},
	}
	for params, rows := range tests {
		table := newTable(t, params)
		for _, test := range rows {
			t.Run(params.Name+"/"+test.address, func(t *testing.T) {
				got := validate(t, table, test.address)
				want := `{"isvalid":false,"error_locations":[` + test.locations + `],"error":"` + test.text + `"}`
				if got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// One or two wrong characters of an address are found, unless the text can be
// explained by fewer errors in the other encoding.
func TestErrorsAreLocated(t *testing.T) {
	const (
		address = "bc1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvses5wp4dt"
		digits  = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	)
	table := newTable(t, &chaincfg.MainNetParams)
	rapid.Check(t, func(rt *rapid.T) {
		places := rapid.SliceOfNDistinct(rapid.IntRange(3, len(address)-1), 1, 2, rapid.ID).Draw(rt, "places")
		text := []byte(address)
		for _, place := range places {
			shift := rapid.IntRange(1, len(digits)-1).Draw(rt, "shift")
			text[place] = digits[(strings.IndexByte(digits, text[place])+shift)%len(digits)]
		}
		slices.Sort(places)
		got := parse(t, validate(t, table, string(text))).Get("error_locations")
		want, err := jsontree.Append(nil, places)
		if err != nil {
			rt.Fatal(err)
		}
		if got.String() != string(want) && got.Len() >= len(places) {
			rt.Fatalf("%s: got %v, want %s", text, got, want)
		}
	})
}

func FuzzValidateAddress(f *testing.F) {
	for _, seed := range []string{"", "bc1pfeessrawgf", "bc1", "BC1SW50QGDZ25J", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "111"} {
		f.Add(seed)
	}
	table := newTable(f, &chaincfg.MainNetParams)
	f.Fuzz(func(t *testing.T, text string) {
		got := validate(t, table, text)
		valid := strings.Contains(got, `"isvalid":true`)
		if explained := !strings.Contains(got, `"error":""`) && strings.Contains(got, `"error":"`); valid == explained {
			t.Errorf("%q: %s", text, got)
		}
	})
}

package txjson_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/txjson"
)

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestAsm(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"empty", "", ""},
		{"zero", "00", "0"},
		{"small numbers", "4f5160", "-1 1 16"},
		{"reserved", "50", "OP_RESERVED"},
		{"one byte", "0111 0180 0181 01ff", "17 0 -1 -127"},
		{"needless zeros", "04 01000000 04 01000080", "1 -1"},
		{"largest number", "04 ffffff7f 04 ffffffff", "2147483647 -2147483647"},
		{"five bytes are hex", "05 0100000000", "0100000000"},
		{"push of nothing", "4c00 4d0000 4e00000000", "0 0 0"},
		{"long way of pushing", "4c0111 4d0500aabbccddee", "17 aabbccddee"},
		{"push past the end", "76 05 aabb", "OP_DUP [error]"},
		{"only that", "01", "[error]"},
		{"length past the end", "4d01", "[error]"},
		{"length beyond int32", "4effffffff", "[error]"},
		{"names", "61b1b2ba", "OP_NOP OP_CHECKLOCKTIMEVERIFY OP_CHECKSEQUENCEVERIFY OP_CHECKSIGADD"},
		{"no opcodes", "bbfe ff", "OP_UNKNOWN OP_UNKNOWN OP_INVALIDOPCODE"},
		{
			"pay to pubkey hash", "76a914 dc863734a218bfe83ef770ee9d41a27f824a6e56 88ac",
			"OP_DUP OP_HASH160 dc863734a218bfe83ef770ee9d41a27f824a6e56 OP_EQUALVERIFY OP_CHECKSIG",
		},
		{"like a signature", "6a 09 300602010002010001", "OP_RETURN 300602010002010001"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := txjson.Asm(unhex(t, strings.ReplaceAll(test.script, " ", "")))
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestOpcodeNames compares the names with btcd's, for all opcodes that have
// the same in both.
func TestOpcodeNames(t *testing.T) {
	older := map[string]bool{"OP_FALSE": true, "OP_TRUE": true, "OP_NOP2": true, "OP_NOP3": true}
	compared := 0
	for name, op := range txscript.OpcodeByName {
		if op < txscript.OP_NOP || op > txscript.OP_CHECKSIGADD || older[name] {
			continue
		}
		compared++
		if got := txjson.Asm([]byte{op}); got != name {
			t.Errorf("%#x: got %s, want %s", op, got, name)
		}
	}
	if want := txscript.OP_CHECKSIGADD - txscript.OP_NOP + 1; compared != want {
		t.Errorf("compared %d opcodes, want %d", compared, want)
	}
}

func TestScriptSig(t *testing.T) {
	const (
		der = "3045022100ae3b4e589dfc9d48cb82d41008dc5fa6a86f94d5c54f9935531924602730ab80" +
			"02202f88cf464414c4ed9fa11b773c5ee944f66e9b05cc1e51d97abc22ce098937ea"
		short = "3006020100020100" // two zeros
		zeros = "0000000000000000000000000000000000000000000000000000000000000000"
		long  = "3047022101" + zeros + "02220100" + zeros // a byte more than any
	)
	push := func(data string) string { return hex.EncodeToString([]byte{byte(len(data) / 2)}) + data }
	tests := []struct{ name, script, want string }{
		{"all", push(der + "01"), der + "[ALL]"},
		{"none", push(der + "02"), der + "[NONE]"},
		{"single", push(der + "03"), der + "[SINGLE]"},
		{"all, anyone can pay", push(der + "81"), der + "[ALL|ANYONECANPAY]"},
		{"none, anyone can pay", push(der + "82"), der + "[NONE|ANYONECANPAY]"},
		{"single, anyone can pay", push(der + "83"), der + "[SINGLE|ANYONECANPAY]"},
		{"unknown hash types", push(der+"00") + push(der+"04"), der + "00 " + der + "04"},
		{"multisig", "00" + push(der+"01") + push(der+"82"), "0 " + der + "[ALL] " + der + "[NONE|ANYONECANPAY]"},
		{"shortest", push(short + "01"), short + "[ALL]"},
		{"unspendable script", "6a" + push(short+"01"), "OP_RETURN " + short + "01"},
		{"wrong length", push("3007020100020100" + "01"), "300702010002010001"},
		{"no sequence", push("3106020100020100" + "01"), "310602010002010001"},
		{"no integer", push("3006030100020100" + "01"), "300603010002010001"},
		{"negative", push("3006020180020100" + "01"), "300602018002010001"},
		{"integer without digits", push("300702000203010101" + "01"), "30070200020301010101"},
		{"needless zero", push("300702020001020100" + "01"), "30070202000102010001"},
		{"needed zero", push("300702020080020100" + "01"), "300702020080020100[ALL]"},
		{"integer too long", push("3006020500020100" + "01"), "300602050002010001"},
		{"second integer too long", push("3006020100020500" + "01"), "300602010002050001"},
		{"something left over", push("300702010002010000" + "01"), "30070201000201000001"},
		{"too long", push(long + "01"), long + "01"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := txjson.NewScriptSig(unhex(t, test.script))
			if got.Asm != test.want || got.Hex.String() != test.script {
				t.Errorf("got  %+v\nwant %s", got, test.want)
			}
		})
	}
}

func TestScriptPubKey(t *testing.T) {
	const key = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
	tests := []struct{ name, script, want string }{
		{"empty", "", `{"asm":"","desc":"raw()#58lrscpx","hex":"","type":"nonstandard"}`},
		{
			"pay to pubkey has no address", "21" + key + "ac",
			`{"asm":"` + key + ` OP_CHECKSIG","desc":"pk(` + key + `)#gn28ywm7","hex":"21` + key + `ac","type":"pubkey"}`,
		},
		{
			"anchor", "51024e73",
			`{"asm":"1 29518","desc":"addr(bc1pfeessrawgf)#d6x2lh3c","hex":"51024e73","address":"bc1pfeessrawgf","type":"anchor"}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := text(t, printer(&chaincfg.MainNetParams).ScriptPubKey(unhex(t, test.script)))
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func FuzzScript(f *testing.F) {
	for _, seed := range []string{"", "76a914dc863734a218bfe83ef770ee9d41a27f824a6e5688ac", "09300602010002010001", "4effffffff", "51024e73"} {
		f.Add(unhex(f, seed))
	}
	p := printer(&chaincfg.MainNetParams)
	f.Fuzz(func(t *testing.T, script []byte) {
		if got := p.ScriptPubKey(script); got.Hex.String() != hex.EncodeToString(script) || got.Desc == "" {
			t.Errorf("%+v", got)
		}
		txjson.NewScriptSig(script)
	})
}

package rawtxrpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
)

const payment = `[{"txid":"` + txid + `","vout":1,"sequence":7}],[{"data":"00"}],3`

// made makes a packet that it must be possible to make.
func made(tb testing.TB, table *command.Table, method, params string) string {
	tb.Helper()
	result, fault := call(tb, table, method, parse(tb, params))
	if fault != "null" {
		tb.Fatalf("%s %s: %s", method, params, fault)
	}
	return strings.Trim(result, `"`)
}

// Packets are made of the wanted version, by default of the network's first.
func TestPSBTVersion(t *testing.T) {
	table := rig(t, "regtest", true)
	later := rig(t, "regtest", true, func(d *rawtxrpc.Deps) { d.Network.PSBTVersions = []uint32{2, 0} })
	raw := made(t, table, "createrawtransaction", "["+payment+"]")
	for _, test := range []struct {
		table   *command.Table
		version string
		want    uint32
	}{{table, "null", 0}, {table, "0", 0}, {table, "2", 2}, {later, "null", 2}, {later, "0", 0}, {later, "2", 2}} {
		created := made(t, test.table, "createpsbt", `[`+payment+`,true,2,`+test.version+`]`)
		converted := made(t, test.table, "converttopsbt", `["`+raw+`",false,null,`+test.version+`]`)
		p, err := psbt.Decode(created)
		if err != nil || created != converted || p.Version != test.want {
			t.Errorf("%s: %s, %s, %v", test.version, created, converted, err)
		}
		if p.Tx.LockTime != 3 || p.Tx.TxIn[0].Sequence != 7 {
			t.Errorf("%s: %+v", test.version, p.Tx)
		}
	}
	for version, want := range map[string]string{
		"1":  `{"code":-8,"message":"The PSBT version can only be 2 or 0"}`,
		"3":  `{"code":-8,"message":"The PSBT version can only be 2 or 0"}`,
		"-2": `{"code":-1,"message":"JSON integer out of range"}`,
		`"2"`: `{"code":-3,"message":"Wrong type passed:\n{\n    \"Position %s (psbt_version)\": ` +
			`\"JSON value of type string is not of expected type number\"\n}"}`,
	} {
		for position, params := range map[string]string{
			"6": `[` + payment + `,true,2,` + version + `]`, "4": `["` + raw + `",false,null,` + version + `]`,
		} {
			method, want := map[string]string{"6": "createpsbt", "4": "converttopsbt"}[position], want
			if strings.Contains(want, "%s") {
				want = fmt.Sprintf(want, position)
			}
			if _, fault := call(t, table, method, parse(t, params)); fault != want {
				t.Errorf("%s %s: got %s, want %s", method, version, fault, want)
			}
		}
	}
}

// A network without version 2 neither makes nor reads it.
func TestNoPSBTVersion2(t *testing.T) {
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	table := rig(t, "regtest", true, func(d *rawtxrpc.Deps) { on(d, chaintest.NewOn(network), network) })
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(new(wire.OutPoint), nil, nil))
	for method, test := range map[string]struct{ params, want string }{
		"createpsbt": {`[` + payment + `,true,2,2]`, `{"code":-8,"message":"The PSBT version can only be 0"}`},
		"decodepsbt": {
			`["` + psbt.New(tx, 2).Encode() + `"]`,
			`{"code":-22,"message":"TX decode failed Unsupported version number: iostream error"}`,
		},
	} {
		if _, fault := call(t, table, method, parse(t, test.params)); fault != test.want {
			t.Errorf("%s: got %s, want %s", method, fault, test.want)
		}
	}
}

// decodepsbt shows of version 2 what its maps have, in Core's order.
func TestDecodeV2(t *testing.T) {
	table := rig(t, "regtest", true).CheckResults()
	const (
		// A packet that BIP370 publishes, with all fields.
		all = "cHNidP8BAgQCAAAAAQMEAAAAAAEEAQEBBQECAQYBBwH7BAIAAAAAAQBSAgAAAAHBqiVuIUuWoYIvk95Cv/O18/+NBRkwbjUV11FaXoBbEgAAAA" +
			"AA/////wEYxpo7AAAAABYAFLCjrxRCCEEmk8p9FmhStS2wrvBuAAAAAAEBHxjGmjsAAAAAFgAUsKOvFEIIQSaTyn0WaFK1LbCu8G4BDiALCtkh" +
			"QZwchxlzXXLcc5+eqeBjjR/kwe7w+ZRAhIFfyAEPBAAAAAABEAT+////AREEjI3EYgESBBAnAAAAIgIC1gH4SEamdV93a+AOPZ3o+xCsyTX7g8" +
			"RfsBYtTK1at5IY9p2HPlQAAIABAACAAAAAgAAAAAAqAAAAAQMIAAivLwAAAAABBBYAFMQw9kxHVtoxDb0aCFVy7ymZJicsACICAuNvv/U91TQH" +
			"DPj9OWYUaA81epuF23NAvxz6dF0q17NAGPadhz5UAACAAQAAgAAAAIABAAAAZAAAAAEDCIu96wsAAAAAAQQWABRN0ZOslkpWrBueHMqEVP4vR0" +
			"+FEwA="
		globals = `{"global_xpubs":[],"tx_version":2,"fallback_locktime":0,"input_count":1,"output_count":2,` +
			`"inputs_modifiable":true,"outputs_modifiable":true,"has_sighash_single":true,"psbt_version":2,` +
			`"proprietary":[],"unknown":{},"inputs":[{"witness_utxo":`
		input = `"previous_txid":"c85f81844094f9f0eec1e41f8d63e0a99e9f73dc725d7319871c9c4121d90a0b","previous_vout":0,` +
			`"sequence":4294967294,"time_locktime":1657048460,"height_locktime":10000}],"outputs":[{"bip32_derivs":`
		output = `"amount":8.00000000,"script":{"asm":"0 c430f64c4756da310dbd1a085572ef299926272c",`
	)
	got := made(t, table, "decodepsbt", `["`+all+`"]`)
	for _, want := range []string{globals, input, output} {
		if !strings.Contains(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if !strings.HasPrefix(got, globals) || strings.Contains(got, `"tx":`) {
		t.Errorf("got %s", got)
	}
	plain := made(t, table, "createpsbt", `[`+payment+`,true,2,2]`)
	const want = `{"global_xpubs":[],"tx_version":2,"fallback_locktime":3,"input_count":1,"output_count":1,"psbt_version":2,` +
		`"proprietary":[],"unknown":{},"inputs":[{"previous_txid":"` + txid + `","previous_vout":1,"sequence":7}],"outputs":[` +
		`{"amount":0.00000000,"script":{"asm":"OP_RETURN 0","desc":"raw(6a0100)#`
	if got := made(t, table, "decodepsbt", `["`+plain+`"]`); !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Each method answers packets of version 2, and also packets that no transaction can be made of.
func TestRolesOfV2(t *testing.T) {
	table := rig(t, "regtest", true).CheckResults()
	second := made(t, table, "createpsbt", `[`+payment+`,true,2,2]`)
	first := made(t, table, "createpsbt", `[`+payment+`,true,2,0]`)
	tx := wire.NewMsgTx(2)
	for range 2 {
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(len(tx.TxIn))}, nil, nil))
	}
	apart := psbt.New(tx, 2)
	apart.Inputs[0].Put(psbt.HeightLock, nil, []byte{1, 0, 0, 0})
	apart.Inputs[1].Put(psbt.TimeLock, nil, []byte{0, 0, 0, 0x60})
	none := apart.Encode()
	const (
		different = `{"code":-8,"message":"PSBTs not compatible (different transactions)"}`
		only0     = `{"code":-8,"message":"joinpsbts only operates on version 0 PSBTs"}`
		invalid   = `{"code":-25,"message":"The transaction cannot be valid"}`
	)
	quoted := func(texts ...string) string { return `["` + strings.Join(texts, `","`) + `"]` }
	for _, test := range []struct{ method, params, want string }{
		{"combinepsbt", `[` + quoted(second, second) + `]`, `"` + second + `"null`},
		{"combinepsbt", `[` + quoted(first, second) + `]`, "null" + different},
		{"combinepsbt", `[` + quoted(none, none) + `]`, "null" + different},
		{"combinepsbt", `[` + quoted(none) + `]`, `"` + none + `"null`},
		{"joinpsbts", `[` + quoted(first, second) + `]`, "null" + only0},
		{"joinpsbts", `[` + quoted(second, "x") + `]`, "null" + only0},
		{"finalizepsbt", quoted(second), `{"psbt":"` + second + `","complete":false}null`},
		{"finalizepsbt", quoted(none), `{"psbt":"` + none + `","complete":false}null`},
		{"analyzepsbt", quoted(second), `{"inputs":[{"has_utxo":false,"is_final":false,"next":"updater"}],"next":"updater"}null`},
		{"analyzepsbt", quoted(none), `{"next":"creator","error":"PSBT cannot be made into a valid transaction"}null`},
		{"utxoupdatepsbt", quoted(second), `"` + second + `"null`},
		{"utxoupdatepsbt", quoted(none), "null" + invalid},
		{"descriptorprocesspsbt", `["` + second + `",[]]`, `{"psbt":"` + second + `","complete":false}null`},
		{"descriptorprocesspsbt", `["` + none + `",[]]`, "null" + invalid},
	} {
		if result, fault := call(t, table, test.method, parse(t, test.params)); result+fault != test.want {
			t.Errorf("%s: got  %s%s\nwant %s", test.method, result, fault, test.want)
		}
	}
	if got := made(t, table, "decodepsbt", quoted(none)); !strings.Contains(got, `"time_locktime":1610612736`) {
		t.Errorf("got %s", got)
	}
}

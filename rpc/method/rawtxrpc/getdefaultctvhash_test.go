package rawtxrpc_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
)

// qbitRig is the methods of a network that pays to P2MR outputs.
func qbitRig(tb testing.TB) *command.Table {
	tb.Helper()
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		tb.Fatal(err)
	}
	return rig(tb, "regtest", true, func(d *rawtxrpc.Deps) { d.Network = network })
}

// ctvVectors were made with the functions of qbit's own functional tests.
var ctvVectors = []struct {
	tx    string
	input int
	hash  string
}{
	{
		"020000000138b4e652e44da7f2370d9e260e27136550a4a3a6d07f5c0c332f8b1224083fd2080000000011e81818017e72671700" +
			"000000257504d90e945de2e8f54ee781cc75f636d85099095aa300165a67036f9b540d6b8f0be2113d00000000", 0,
		"a012fc8d59b54d3243f51f685b928eef463dfb38a5de2602172f88f91af71b3d",
	},
	{
		"ffffffff000102d9f73817ce6e118d264aad6cb6dd210faf94acd3cf92c190237cb11f5d108cf20300000005f1483f95f238b370" +
			"a1f130d60fcf04bd93f50ae69514da8c659ce2b10cccdaebf990d19838b0d7ec0b08000000014acb96c4db01902cd31a00" +
			"00000009ec636a8ac0a1271e9201020102000065cd1d", 1,
		"5f3201197cf00acac1341d7be636c6340c1dc41edecef049380f2a3110a2c3ea",
	},
	{
		"0000000000010338aaf84e58056d8f2fa8edd094ba97ae8b15442ee2db611a91bfe39469733a9203000000000372555fd235f118" +
			"29fb388c22e44cb637f01210c3707a90b405420fb169779edfb5b934070000000054b12eae62d11e887eb0766d1877f8c6" +
			"eff26b5010af3177d161e79587a766ec30e403740500000000ad87bd4c049d38e60f000000000b944cf1b220eaa2c71b7d" +
			"3ecf1c3d0500000000245520dd4c2147738606f2bf7ec70209e0cd05ee5720edbcba3acce672084ab649fcbce49bb352af" +
			"040000000007bc070e83180a6b35bd8e0a00000000155575e826e2cbeaee82af2c7d696cf46b977c090af6010201020000" +
			"07000000", 2,
		"8b9ccbae018dc1fdae7f2b8e9e929c02cdf5187ffd803d344cc2669b57ac496e",
	},
}

func TestDefaultCTVHash(t *testing.T) {
	table := qbitRig(t)
	for _, v := range ctvVectors {
		params := `["` + v.tx + `",` + strconv.Itoa(v.input) + `]`
		got, fault := call(t, table, "getdefaultctvhash", parse(t, params))
		if got != `"`+v.hash+`"` || fault != "null" {
			t.Errorf("%s: %s %s", params, got, fault)
		}
	}
	const scripted, bare = 1, 0
	hashes := func(v int, format string) string {
		return strings.ReplaceAll(format, "HASH", ctvVectors[v].hash)
	}
	for _, test := range []struct{ params, result, fault string }{
		{`["` + ctvVectors[scripted].tx + `",1,true]`, hashes(scripted, `{"ctvhash":"HASH","version":4294967295,`+
			`"locktime":500000000,"script_sigs_hash_included":true,`+
			`"script_sigs_hash":"SCRIPTS","input_count":2,"sequences_hash":"SEQUENCES","output_count":1,`+
			`"outputs_hash":"OUTPUTS","input_index":1}`), "null"},
		{`["` + ctvVectors[bare].tx + `",0,true]`, hashes(bare, `{"ctvhash":"HASH","version":2,"locktime":0,`+
			`"script_sigs_hash_included":false,"input_count":1,"sequences_hash":"SEQUENCES","output_count":1,`+
			`"outputs_hash":"OUTPUTS","input_index":0}`), "null"},
		{`["` + ctvVectors[bare].tx + `",1]`, "null", `{"code":-8,"message":` +
			`"Input index 1 is out of range for transaction with 1 inputs"}`},
		{`["` + ctvVectors[bare].tx + `",4294967295]`, "null", `{"code":-8,"message":` +
			`"Input index 4294967295 is out of range for transaction with 1 inputs"}`},
		{`["` + ctvVectors[bare].tx + `",4294967296]`, "null", `{"code":-1,"message":"JSON integer out of range"}`},
		{`["` + ctvVectors[bare].tx + `",-1]`, "null", `{"code":-1,"message":"JSON integer out of range"}`},
		{`["` + ctvVectors[bare].tx + `",0.0]`, "null", `{"code":-1,"message":"JSON integer out of range"}`},
		{`["zz",-1]`, "null", `{"code":-22,"message":"TX decode failed"}`},
		{`["",0]`, "null", `{"code":-22,"message":"TX decode failed"}`},
	} {
		result, fault := call(t, table, "getdefaultctvhash", parse(t, test.params))
		if want := partHashes(t, test.result); result != want || fault != test.fault {
			t.Errorf("%s\ngot  %s %s\nwant %s %s", test.params, result, fault, want, test.fault)
		}
	}
	for _, wrong := range []string{`["00","0"]`, `[0,0]`, `["00",0,0]`} {
		if _, fault := call(t, table, "getdefaultctvhash", parse(t, wrong)); !strings.Contains(fault, `"code":-3`) {
			t.Errorf("%s: %s", wrong, fault)
		}
	}
}

// partHashes fills the hashes of the parts into the reply for the vector that it names.
func partHashes(t *testing.T, reply string) string {
	t.Helper()
	for _, v := range ctvVectors {
		if strings.Contains(reply, v.hash) {
			tx, _ := rawtx.Decode(unhex(t, v.tx), rawtx.AnyForm)
			scripts, sequences, outputs, _ := ctvOracle(tx, 0)
			reply = strings.NewReplacer("SCRIPTS", scripts, "SEQUENCES", sequences, "OUTPUTS", outputs).Replace(reply)
		}
	}
	return reply
}

// ctvOracle follows BIP119 step by step.
func ctvOracle(tx *wire.MsgTx, input uint32) (scripts, sequences, outputs, hash string) {
	number := func(b *bytes.Buffer, n uint32) { _ = binary.Write(b, binary.LittleEndian, n) }
	sum := func(b *bytes.Buffer) []byte { h := sha256.Sum256(b.Bytes()); return h[:] }
	var inScripts, inSequences, outs, all bytes.Buffer
	empty := true
	for _, in := range tx.TxIn {
		_ = wire.WriteVarInt(&inScripts, 0, uint64(len(in.SignatureScript)))
		inScripts.Write(in.SignatureScript)
		number(&inSequences, in.Sequence)
		empty = empty && len(in.SignatureScript) == 0
	}
	for _, out := range tx.TxOut {
		_ = binary.Write(&outs, binary.LittleEndian, out.Value)
		_ = wire.WriteVarInt(&outs, 0, uint64(len(out.PkScript)))
		outs.Write(out.PkScript)
	}
	number(&all, uint32(tx.Version))
	number(&all, tx.LockTime)
	if !empty {
		all.Write(sum(&inScripts))
	}
	number(&all, uint32(len(tx.TxIn)))
	all.Write(sum(&inSequences))
	number(&all, uint32(len(tx.TxOut)))
	all.Write(sum(&outs))
	number(&all, input)
	text := func(b *bytes.Buffer) string { return hex.EncodeToString(sum(b)) }
	return text(&inScripts), text(&inSequences), text(&outs), text(&all)
}

// FuzzDefaultCTVHash: any text has the hash that BIP119 gives, or an error in the reference's words.
func FuzzDefaultCTVHash(f *testing.F) {
	for _, v := range ctvVectors {
		f.Add(v.tx, int64(v.input))
	}
	f.Add("00", int64(-1))
	table := qbitRig(f)
	f.Fuzz(func(t *testing.T, text string, input int64) {
		params := jsontree.NewArray(jsontree.NewString(text), jsontree.NewInt(input))
		got, fault := call(t, table, "getdefaultctvhash", params)
		raw, err := hex.DecodeString(text)
		tx, ok := rawtx.Decode(raw, rawtx.AnyForm)
		switch {
		case err != nil || !ok:
			if !strings.Contains(fault, "-22") {
				t.Error(fault)
			}
		case input < 0 || input >= int64(len(tx.TxIn)):
			if !strings.Contains(fault, `"code":-1`) && !strings.Contains(fault, `"code":-8`) {
				t.Error(fault)
			}
		default:
			if _, _, _, want := ctvOracle(tx, uint32(input)); got != `"`+want+`"` {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

// The first dialect has no such method.
func TestCTVHashOfOneDialect(t *testing.T) {
	_, fault := call(t, rig(t, "regtest", true), "getdefaultctvhash", parse(t, `["00",0]`))
	if !strings.Contains(fault, "-32601") {
		t.Error(fault)
	}
}

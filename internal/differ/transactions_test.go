package differ_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

// TestTransactions compares what is made of transactions, scripts, PSBTs and
// addresses by chance: built, decoded, converted, combined.
func TestTransactions(t *testing.T) {
	p := differ.Start(t, differ.Config{})
	x := transactions{keys: keys{differ.Random(t)}}
	for left := differ.Cases(t, 4000); left > 0; left -= batch {
		calls := make([]differ.Call, batch)
		for i := range calls {
			calls[i] = x.call()
		}
		for _, replies := range p.Send(calls...) {
			x.keep(replies.Core)
		}
	}
	p.Alive()
}

// transactions makes calls about transactions by chance.
type transactions struct {
	keys

	psbts []string // that Core has made
}

// keep remembers a PSBT among the replies, so that later calls decode and change it.
func (x *transactions) keep(reply differ.Reply) {
	var text string
	if json.Unmarshal(reply.Result, &text) != nil || !strings.HasPrefix(text, "cHNidP") {
		return
	}
	if len(x.psbts) < 50 {
		x.psbts = append(x.psbts, text)
		return
	}
	x.psbts[x.IntN(len(x.psbts))] = text
}

func (x *transactions) call() differ.Call {
	switch x.IntN(10) {
	case 0, 1:
		return differ.Call{Method: "createrawtransaction", Params: x.building()}
	case 2:
		return differ.Call{Method: "createpsbt", Params: x.building()}
	case 3, 4:
		params := []any{x.damagedHex(x.transaction())}
		if x.IntN(3) == 0 {
			params = append(params, x.IntN(2) == 0)
		}
		return differ.Call{Method: "decoderawtransaction", Params: params}
	case 5:
		params := []any{x.damagedHex(x.transaction())}
		for range x.IntN(3) {
			params = append(params, x.IntN(2) == 0)
		}
		return differ.Call{Method: "converttopsbt", Params: params}
	case 6:
		return differ.Call{Method: "decodescript", Params: []any{x.damagedHex(x.script())}}
	case 7:
		return differ.Call{Method: "decodepsbt", Params: []any{x.psbt()}}
	case 8:
		return differ.Call{Method: "validateaddress", Params: []any{x.address()}}
	default:
		return differ.Call{Method: "createmultisig", Params: x.multisig()}
	}
}

func (x *transactions) building() []any {
	inputs := make([]any, x.IntN(3))
	for i := range inputs {
		in := map[string]any{"txid": hex.EncodeToString(x.bytes(32)), "vout": x.IntN(5) - min(1, x.IntN(30))/30}
		switch x.IntN(8) {
		case 0:
			in["sequence"] = x.IntN(1 << 33)
		case 1:
			in["weight"] = x.IntN(500)
		case 2:
			in["txid"] = hex.EncodeToString(x.bytes(31))
		}
		inputs[i] = in
	}
	var outputs []string
	for range 1 + x.IntN(3) {
		outputs = append(outputs, x.output())
	}
	text := "[" + strings.Join(outputs, ",") + "]"
	if x.IntN(3) == 0 && len(outputs) == 1 {
		text = outputs[0]
	}
	params := []any{inputs, json.RawMessage(text)}
	if x.IntN(3) == 0 {
		params = append(params, x.IntN(1<<33)-5)
	}
	if len(params) == 3 && x.IntN(2) == 0 {
		params = append(params, x.IntN(2) == 0)
	}
	if len(params) == 4 && x.IntN(2) == 0 {
		params = append(params, x.IntN(5))
	}
	return params
}

func (x *transactions) output() string {
	if x.IntN(5) == 0 {
		return fmt.Sprintf(`{"data":%q}`, x.damagedHex(x.bytes(x.IntN(90))))
	}
	return fmt.Sprintf(`{%q:%s}`, x.address(), x.amount())
}

func (x *transactions) amount() string {
	switch x.IntN(12) {
	case 0:
		return fmt.Sprintf(`"%d.%d"`, x.IntN(3), x.IntN(1e9))
	case 1:
		return fmt.Sprintf("%de-%d", x.IntN(1000), x.IntN(12))
	case 2:
		return "-0.1"
	case 3:
		return "21000000.00000001"
	case 4:
		return [...]string{"null", "true", `""`, `"1e"`, "[]", "0", "1E+2", "0.123456789"}[x.IntN(8)]
	default:
		return fmt.Sprintf("%d.%08d", x.IntN(100), x.IntN(1e8))
	}
}

func (x *transactions) address() string {
	net := &chaincfg.RegressionNetParams
	if x.IntN(12) == 0 {
		net = &chaincfg.MainNetParams
	}
	var address btcutil.Address
	var err error
	switch x.IntN(5) {
	case 0:
		address, err = btcutil.NewAddressPubKeyHash(x.bytes(20), net)
	case 1:
		address, err = btcutil.NewAddressScriptHashFromHash(x.bytes(20), net)
	case 2:
		address, err = btcutil.NewAddressWitnessPubKeyHash(x.bytes(20), net)
	case 3:
		address, err = btcutil.NewAddressWitnessScriptHash(x.bytes(32), net)
	default:
		address, err = btcutil.NewAddressTaproot(x.bytes(32), net)
	}
	if err != nil {
		panic(err) // the lengths are right
	}
	text := address.EncodeAddress()
	if x.IntN(8) == 0 {
		text = descriptors{x.keys}.damage(text)
	}
	return text
}

func (x *transactions) multisig() []any {
	list := make([]string, x.IntN(5))
	for i := range list {
		list[i] = x.public()
	}
	params := []any{x.IntN(len(list) + 2), list}
	if x.IntN(2) == 0 {
		params = append(params, [...]string{"legacy", "p2sh-segwit", "bech32", "bech32m", "x"}[x.IntN(5)])
	}
	return params
}

// transaction returns a serialized transaction, with or without witnesses.
func (x *transactions) transaction() []byte {
	tx := wire.NewMsgTx(int32(x.Uint32() >> x.IntN(32)))
	tx.LockTime = x.Uint32() >> x.IntN(32)
	for range x.IntN(4) {
		in := &wire.TxIn{SignatureScript: x.script(), Sequence: x.Uint32()}
		copy(in.PreviousOutPoint.Hash[:], x.bytes(32))
		in.PreviousOutPoint.Index = x.Uint32() >> x.IntN(32)
		if x.IntN(3) == 0 {
			for range x.IntN(4) {
				in.Witness = append(in.Witness, x.bytes(x.IntN(80)))
			}
		}
		tx.AddTxIn(in)
	}
	for range x.IntN(4) {
		tx.AddTxOut(&wire.TxOut{Value: x.Int64() >> x.IntN(64), PkScript: x.script()})
	}
	var out bytes.Buffer
	if err := tx.Serialize(&out); err != nil {
		panic(err) // a buffer takes all
	}
	return out.Bytes()
}

// script returns a script of a known form, of opcodes, or of noise.
func (x *transactions) script() []byte {
	key := x.private().PubKey()
	build := txscript.NewScriptBuilder()
	switch x.IntN(9) {
	case 0:
		build.AddData(key.SerializeCompressed()).AddOp(txscript.OP_CHECKSIG)
	case 1:
		build.AddOp(txscript.OP_DUP).AddOp(txscript.OP_HASH160).AddData(x.bytes(20)).AddOp(
			txscript.OP_EQUALVERIFY,
		).AddOp(txscript.OP_CHECKSIG)
	case 2:
		build.AddOp(txscript.OP_HASH160).AddData(x.bytes(20)).AddOp(txscript.OP_EQUAL)
	case 3:
		build.AddInt64(int64(x.IntN(18) - 1)).AddData(x.bytes([...]int{2, 20, 32, 33, 40, 41}[x.IntN(6)]))
	case 4:
		build.AddOp(txscript.OP_RETURN).AddData(x.bytes(x.IntN(90)))
	case 5:
		n := 1 + x.IntN(3)
		build.AddInt64(int64(1 + x.IntN(n)))
		for range n {
			build.AddData(x.private().PubKey().SerializeCompressed())
		}
		build.AddInt64(int64(n)).AddOp(txscript.OP_CHECKMULTISIG)
	case 6:
		return x.bytes(x.IntN(60))
	case 7:
		return nil
	default:
		for range x.IntN(12) {
			if x.IntN(3) == 0 {
				build.AddData(x.bytes(x.IntN(40)))
				continue
			}
			build.AddOp(byte(0x4f + x.IntN(0x70)))
		}
	}
	script, err := build.Script()
	if err != nil {
		panic(err) // far below the limits
	}
	return script
}

// psbt returns a packet that Core has made, often damaged.
func (x *transactions) psbt() string {
	if len(x.psbts) == 0 {
		return base64.StdEncoding.EncodeToString(x.bytes(20))
	}
	text := x.psbts[x.IntN(len(x.psbts))]
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || x.IntN(3) == 0 {
		return text
	}
	switch at := x.IntN(len(raw)); x.IntN(4) {
	case 0:
		raw = raw[:at]
	case 1:
		raw[at] ^= 1 << x.IntN(8)
	case 2:
		raw = append(raw[:at:at], append([]byte{1, byte(x.IntN(32)), byte(x.IntN(3))}, raw[at:]...)...)
	default:
		raw = append(raw, x.bytes(x.IntN(3))...)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// damagedHex writes bytes as text, sometimes with an error.
func (x *transactions) damagedHex(raw []byte) string {
	text := hex.EncodeToString(raw)
	if x.IntN(10) != 0 || text == "" {
		return text
	}
	switch at := x.IntN(len(text)); x.IntN(4) {
	case 0:
		return text[:at]
	case 1:
		return text[:at] + "g" + text[at+1:]
	case 2:
		return text + hex.EncodeToString(x.bytes(1))
	default:
		return text[:at] + fmt.Sprintf("%x", x.IntN(16)) + text[at+1:]
	}
}

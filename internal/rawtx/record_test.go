package rawtx_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// record makes the recording of [TestLikeCore] anew, with a Bitcoin Core that runs on regtest:
//
//	TRAWL_RECORD_CORE='bitcoin-cli -regtest' go test -run '^TestLikeCore$' ./internal/rawtx
func record(t *testing.T, cli string) {
	t.Helper()
	var plain bytes.Buffer
	r := &recorder{t: t, cli: strings.Fields(cli), to: json.NewEncoder(&plain), rand: rand.New(rand.NewPCG(30, 2))}
	for range 56 {
		r.packet()
	}
	for range 60 {
		r.transaction()
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = w.Write(plain.Bytes())
	_ = w.Close()
	if err := os.WriteFile(coreRecording, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// recorder calls Core, and notes its replies.
type recorder struct {
	t    *testing.T
	cli  []string
	to   *json.Encoder
	rand *rand.Rand
}

func pick[T any](r *recorder, from ...T) T { return from[r.rand.IntN(len(from))] }

// call returns a member of the reply, "" where there is none.
func (r *recorder) call(member, method string, params ...any) string {
	r.t.Helper()
	call := coreCall{Method: method}
	args := append(slices.Clone(r.cli[1:]), method)
	for _, p := range params {
		raw, err := json.Marshal(p)
		if err != nil {
			r.t.Fatal(err)
		}
		call.Params = append(call.Params, raw)
		if text, ok := p.(string); ok {
			raw = []byte(text)
		}
		args = append(args, string(raw))
	}
	out, err := exec.CommandContext(r.t.Context(), r.cli[0], args...).CombinedOutput()
	if err != nil {
		_, message, ok := strings.Cut(string(out), "error message:\n")
		if !ok {
			r.t.Fatalf("%s: %v: %s", method, err, out)
		}
		call.Error = strings.TrimSpace(message)
		_ = r.to.Encode(call)
		return ""
	}
	call.Result = out
	if err := r.to.Encode(call); err != nil {
		r.t.Fatal(err)
	}
	var reply map[string]any
	_ = json.Unmarshal(out, &reply)
	text, _ := reply[member].(string)
	return text
}

// recordKinds are descriptors of outputs, with letters for the keys of three signers; U is a key that none has.
var recordKinds = []string{
	"pk(A)", "pkh(A)", "wpkh(A)", "sh(wpkh(A))", "sh(pkh(A))", "wsh(pkh(B))", "wsh(pk(B))", "sh(wsh(pk(A)))", "pkh(L)",
	"multi(2,A,B,C)", "sh(multi(2,A,B,C))", "wsh(multi(2,A,B,C))", "sh(wsh(sortedmulti(2,A,B,C)))", "sh(multi(1,L,A))",
	"wsh(multi(3,A,B,C))", "wsh(and_v(v:pk(A),older(5)))", "wsh(and_v(v:pk(B),after(100)))",
	"wsh(or_d(pk(A),and_v(v:pkh(B),older(4))))", "wsh(andor(pk(C),after(500000100),pk(A)))",
	"tr(A)", "tr(A,pk(B))", "tr(U,{pk(A),multi_a(2,A,B)})", "tr(U,and_v(v:pk(A),older(5)))", "tr(U,{pk(B),pkh(A)})",
	"tr(U,and_v(v:pk(A),after(99)))", "rawtr(A)", "rawtr(U)", "wpkh(U)", "raw(51)", "raw(51024e73)", "raw(6a)", "raw(52020102)",
}

// signerKeys are the private keys that letters stand for: extended ones of A to C, L in the long form.
var signerKeys = map[string]string{
	"A": extendedKey + "/1/2", "B": extendedKey + "/3h/4", "C": wif(12, true), "L": wif(13, false),
	"U": hex.EncodeToString(public(14)),
}

const extendedKey = "tprv8ZgxMBicQKsPePp3ijiziJAMKBsqkvsffzma4GKW89KeM5ST9iGaTweUb6iy6dCJjadASj9As5Em13WxqwhK82Rpmt5snsfbiadVYryvKBT"

func wif(number int, compressed bool) string {
	payload := keys[number].Serialize()
	if compressed {
		payload = append(payload, 1)
	}
	return base58.CheckEncode(payload, net.PrivateKeyID)
}

// of returns a kind as a signer knows it: with the private keys of some letters, and the public ones of the rest.
func (r *recorder) of(kind, letters string) string {
	r.t.Helper()
	name, args, _ := strings.Cut(kind, "(")
	if name == "raw" {
		return descriptor.AddChecksum(kind)
	}
	var text strings.Builder
	for i, c := range args {
		key, isKey := signerKeys[string(c)]
		before := byte('(')
		if i > 0 {
			before = args[i-1]
		}
		switch {
		case !isKey || before != '(' && before != ',':
			text.WriteRune(c)
		case strings.ContainsRune(letters, c) || c == 'U':
			text.WriteString(key)
		default:
			text.WriteString(publicOf(r.t, key))
		}
	}
	return descriptor.AddChecksum(name + "(" + text.String())
}

// publicOf returns the public key of a private one.
func publicOf(tb testing.TB, key string) string {
	tb.Helper()
	parsed, err := descriptor.Parse("pkh("+key+")", net, descriptor.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	text, err := parsed[0].NormalizedString()
	if err != nil {
		tb.Fatal(err)
	}
	body, _, _ := strings.Cut(text, "#")
	return strings.TrimSuffix(strings.TrimPrefix(body, "pkh("), ")")
}

func (r *recorder) script(kind string) []byte {
	r.t.Helper()
	parsed, err := descriptor.Parse(r.of(kind, "ABCL"), net, descriptor.Options{})
	if err != nil {
		r.t.Fatal(kind, err)
	}
	scripts, err := parsed[0].Expand(0)
	if err != nil {
		r.t.Fatal(err)
	}
	return scripts[0]
}

// spendingTx makes a transaction that spends an output of each kind, and the transactions that these are of.
func (r *recorder) spendingTx(kinds, paid []string, values func() int64) (tx *wire.MsgTx, from []*wire.MsgTx) {
	r.t.Helper()
	tx = wire.NewMsgTx(pick(r, int32(2), 2, 2, 1, 3))
	tx.LockTime = pick(r, uint32(0), 100, 99, 101, 500000100, 500000099)
	for i, kind := range kinds {
		funding := wire.NewMsgTx(2)
		funding.LockTime = r.rand.Uint32()
		funding.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(i)}, nil, nil))
		at := r.rand.IntN(3)
		for range at {
			funding.AddTxOut(wire.NewTxOut(5000, []byte{txscript.OP_TRUE}))
		}
		funding.AddTxOut(wire.NewTxOut(values(), r.script(kind)))
		hash := funding.TxHash()
		in := wire.NewTxIn(wire.NewOutPoint(&hash, uint32(at)), nil, nil)
		in.Sequence = pick(r, uint32(0xfffffffe), 0xffffffff, 5, 4, 0x400005, 0x80000005, 6)
		tx.AddTxIn(in)
		from = append(from, funding)
	}
	for _, kind := range paid {
		tx.AddTxOut(wire.NewTxOut(pick(r, int64(1000), 20000, 70000), r.script(kind)))
	}
	return tx, from
}

func (r *recorder) kinds(n int) (all []string) {
	for range n {
		all = append(all, pick(r, recordKinds...))
	}
	return all
}

// packet lets the roles of BIP174 work on a packet: two signers side by side or one after the other, each analyzed.
func (r *recorder) packet() {
	r.t.Helper()
	inputs, paid := r.kinds(1+r.rand.IntN(3)), r.kinds(1+r.rand.IntN(2))
	tx, from := r.spendingTx(inputs, paid, func() int64 {
		return pick(r, int64(100_000), 100_000, 100_000, 100_000, 100_000, maxMoney, maxMoney+1, -2)
	})
	if r.rand.IntN(12) == 0 {
		tx.TxOut[0].Value = pick(r, int64(maxMoney), maxMoney+1)
	}
	p := psbt.New(tx, 0)
	for i, in := range tx.TxIn {
		shown := r.rand.IntN(8) // mostly the whole transaction
		if shown > 1 {
			p.Inputs[i].Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(from[i], true))
		}
		if shown == 1 || shown == 7 {
			p.Inputs[i].PutOutput(psbt.WitnessUTXO, from[i].TxOut[in.PreviousOutPoint.Index])
		}
	}
	of := func(letters string) (all []string) {
		for _, kind := range slices.Concat(inputs, paid) {
			all = append(all, r.of(kind, letters))
		}
		return all
	}
	hashType := pick(r, "DEFAULT", "DEFAULT", "DEFAULT", "ALL", "NONE", "SINGLE", "ALL|ANYONECANPAY", "SINGLE|ANYONECANPAY")
	if hashType == "DEFAULT" && r.rand.IntN(2) == 0 {
		hashType = "ALL"
	}
	base := p.Encode()
	r.call("", "analyzepsbt", base)
	if slices.ContainsFunc(from, func(tx *wire.MsgTx) bool { return tx.TxOut[len(tx.TxOut)-1].Value < 0 }) {
		return // taproot is not signed beside a negative amount here
	}
	known := r.call("psbt", "descriptorprocesspsbt", base, of(""), hashType, pick(r, true, true, false), false)
	if known == "" {
		known = base
	}
	r.call("", "analyzepsbt", known)
	signed := known
	for _, letters := range pick(r, []string{"A", "BC"}, []string{"ABCL"}, []string{"C", "A"}, []string{"B", "L"}) {
		derivations, finalize := pick(r, true, false), pick(r, false, false, true)
		next := r.call("psbt", "descriptorprocesspsbt", signed, of(letters), hashType, derivations, finalize)
		if next != "" {
			signed = next
		}
		r.call("", "analyzepsbt", signed)
	}
	if other := pick(r, "NONE", "ALL"); r.rand.IntN(4) == 0 {
		r.call("psbt", "descriptorprocesspsbt", signed, of("A"), other, true, true)
	}
	if final := r.call("psbt", "finalizepsbt", signed); final != "" {
		r.call("", "analyzepsbt", final)
	}
}

// transaction has a transaction signed by one signer after the other.
func (r *recorder) transaction() {
	r.t.Helper()
	inputs := slices.DeleteFunc(r.kinds(1+r.rand.IntN(3)), func(kind string) bool {
		return kind == "tr(A)" // beyond Core, a key also signs for the output that BIP86 makes of it
	})
	tx, from := r.spendingTx(inputs, r.kinds(r.rand.IntN(3)), func() int64 { return 100_000 })
	if len(tx.TxOut) == 0 {
		tx.AddTxOut(wire.NewTxOut(0, []byte{txscript.OP_RETURN}))
	}
	var spent []prevOut
	for i, in := range tx.TxIn {
		at := in.PreviousOutPoint
		out := from[i].TxOut[at.Index]
		prev := prevOut{TxID: at.Hash.String(), Vout: at.Index, ScriptPubKey: hex.EncodeToString(out.PkScript)}
		parsed, _ := descriptor.Parse(r.of(inputs[i], "ABCL"), net, descriptor.Options{})
		s, err := parsed[0].SpendingAt(0)
		if err != nil {
			r.t.Fatal(err)
		}
		if n := len(s.Inner); n > 0 && rawtx.HashKindOf(out.PkScript) != rawtx.NoHash {
			if inner := hex.EncodeToString(s.Inner[n-1]); n > 1 || rawtx.HashKindOf(out.PkScript) == rawtx.WitnessHash {
				prev.WitnessScript = inner
			} else {
				prev.RedeemScript = inner
			}
		}
		if r.rand.IntN(6) > 0 {
			prev.Amount = amount(out.Value)
		}
		if r.rand.IntN(8) > 0 {
			spent = append(spent, prev)
		}
	}
	if spent == nil {
		spent = []prevOut{}
	}
	hashType := pick(r, "DEFAULT", "DEFAULT", "ALL", "NONE", "SINGLE", "ALL|ANYONECANPAY", "NONE|ANYONECANPAY", "SINGLE|ANYONECANPAY")
	text := hex.EncodeToString(psbt.Serialize(tx, true))
	for _, letters := range pick(r, []string{"A", "BC"}, []string{"ABCL"}, []string{"C", "A"}, []string{"B", "L"}) {
		next := r.call("hex", "signrawtransactionwithkey", text, r.wifs(letters), spent, hashType)
		if next != "" {
			text = next
		}
	}
}

// wifs returns private keys in wallet import format.
func (r *recorder) wifs(letters string) []string {
	r.t.Helper()
	all := []string{}
	for _, c := range letters {
		parsed, err := descriptor.Parse("pkh("+signerKeys[string(c)]+")", net, descriptor.Options{})
		if err != nil {
			r.t.Fatal(err)
		}
		for _, key := range parsed[0].PrivateKeysAt(0) {
			payload := slices.Clone(key.Scalar[:])
			if key.Compressed {
				payload = append(payload, 1)
			}
			all = append(all, base58.CheckEncode(payload, net.PrivateKeyID))
		}
	}
	return all
}

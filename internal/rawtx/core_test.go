package rawtx_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// coreRecording has calls of a Bitcoin Core 30.2, with its replies: see record_test.go.
const coreRecording = "testdata/core-30.2.jsonl.gz"

// coreCall is a call of the recording.
type coreCall struct {
	Method string
	Params []json.RawMessage
	Result json.RawMessage `json:",omitempty"`
	Error  string          `json:",omitempty"` // its message
}

// TestLikeCore does what the methods of the server do with this package: each reply is Core's. Packets of version 2
// get the same replies as packets of version 0.
func TestLikeCore(t *testing.T) {
	if cli := os.Getenv("TRAWL_RECORD_CORE"); cli != "" {
		record(t, cli)
	}
	played := map[string]int{}
	for call := range readCalls(t) {
		played[call.Method]++
		for _, version := range []uint32{0, 2} {
			result, err := playCall(&call, version)
			switch {
			case call.Error != "":
				if err == nil || err.Error() != call.Error {
					t.Errorf("version %d, %s %s\n got %s, %v\nwant the error %s", version, call.Method, call.Params,
						result, err, call.Error)
				}
			case err != nil || !sameJSON(t, result, call.Result):
				t.Errorf("version %d, %s %s\n got %s, %v\nwant %s", version, call.Method, call.Params, result, err,
					call.Result)
			}
		}
	}
	for _, method := range []string{"analyzepsbt", "descriptorprocesspsbt", "finalizepsbt", "signrawtransactionwithkey"} {
		if played[method] < 40 {
			t.Errorf("only %d calls of %s", played[method], method)
		}
	}
}

func readCalls(tb testing.TB) func(yield func(coreCall) bool) {
	tb.Helper()
	packed, err := os.Open(coreRecording)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { packed.Close() })
	plain, err := gzip.NewReader(packed)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 1<<20)
	return func(yield func(coreCall) bool) {
		for lines.Scan() {
			var call coreCall
			if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
				tb.Fatal(err)
			}
			if !yield(call) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			tb.Fatal(err)
		}
	}
}

// sameJSON compares replies, whatever the order of their members.
func sameJSON(tb testing.TB, got any, want json.RawMessage) bool {
	tb.Helper()
	raw, err := json.Marshal(got)
	if err != nil {
		tb.Fatal(err)
	}
	var texts [2]string
	for i, text := range [][]byte{raw, want} {
		var value any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&value); err != nil {
			tb.Fatal(err)
		}
		again, _ := json.Marshal(value)
		texts[i] = string(again)
	}
	return texts[0] == texts[1]
}

// param reads a parameter, the zero value where it is not given.
func param[T any](call *coreCall, i int) (value T) {
	if i < len(call.Params) {
		if err := json.Unmarshal(call.Params[i], &value); err != nil {
			panic(err)
		}
	}
	return value
}

func playCall(call *coreCall, version uint32) (any, error) {
	if call.Method == "signrawtransactionwithkey" {
		return playSign(call)
	}
	p, err := psbt.Decode(param[string](call, 0))
	if err == nil {
		p, err = psbt.Decode(as(version, p).Encode())
	}
	if err != nil {
		return nil, err
	}
	switch call.Method {
	case "analyzepsbt":
		return playAnalyze(p), nil
	case "finalizepsbt":
		complete := rawtx.NewPacketSigning(p, newSigning).Finalize()
		reply := map[string]any{"complete": complete}
		if complete {
			reply["hex"] = hex.EncodeToString(psbt.Serialize(p.Extract(), true))
		} else {
			reply["psbt"] = as(0, p).Encode()
		}
		return reply, nil
	}
	return playProcess(call, p)
}

// amount prints satoshis as Core prints them, in coins with eight places.
func amount(satoshis int64) json.Number {
	return json.Number(new(big.Rat).SetFrac64(satoshis, 1e8).FloatString(8))
}

func playAnalyze(p *psbt.Packet) any {
	a := rawtx.Analyze(p, newSigning, analysisRules)
	reply := map[string]any{"next": a.Next.String()}
	if a.Error != "" {
		reply["error"] = a.Error
	}
	if a.Fee != nil {
		reply["fee"] = amount(*a.Fee)
	}
	if a.Size != nil {
		reply["estimated_vsize"], reply["estimated_feerate"] = a.Size.VSize, amount(a.Size.FeeRate)
	}
	var inputs []any
	for _, in := range a.Inputs {
		shown := map[string]any{"has_utxo": in.HasCoin, "is_final": in.Final, "next": in.Next.String()}
		missing := map[string]any{}
		for name, ids := range map[string][][20]byte{"pubkeys": in.Missing.Keys, "signatures": in.Missing.Signatures} {
			var texts []string
			for _, id := range ids {
				texts = append(texts, hex.EncodeToString(id[:]))
			}
			if texts != nil {
				missing[name] = texts
			}
		}
		if in.Missing.Redeem != nil {
			missing["redeemscript"] = hex.EncodeToString(in.Missing.Redeem)
		}
		if in.Missing.Witness != nil {
			missing["witnessscript"] = hex.EncodeToString(in.Missing.Witness)
		}
		if len(missing) > 0 {
			shown["missing"] = missing
		}
		inputs = append(inputs, shown)
	}
	if inputs != nil {
		reply["inputs"] = inputs
	}
	return reply
}

// hashTypes are the hash types by Core's names.
var hashTypes = map[string]txscript.SigHashType{
	"": txscript.SigHashDefault, "DEFAULT": txscript.SigHashDefault, "ALL": txscript.SigHashAll,
	"NONE": txscript.SigHashNone, "SINGLE": txscript.SigHashSingle,
	"ALL|ANYONECANPAY":    txscript.SigHashAll | txscript.SigHashAnyOneCanPay,
	"NONE|ANYONECANPAY":   txscript.SigHashNone | txscript.SigHashAnyOneCanPay,
	"SINGLE|ANYONECANPAY": txscript.SigHashSingle | txscript.SigHashAnyOneCanPay,
}

func playProcess(call *coreCall, p *psbt.Packet) (any, error) {
	known := newSigning(new(wire.MsgTx), nil)
	for _, text := range param[[]string](call, 1) {
		branches, err := descriptor.Parse(text, net, descriptor.Options{})
		if err != nil {
			return nil, err
		}
		for _, d := range branches {
			if err := known.AddDescriptor(d, 0, true); err != nil {
				return nil, err
			}
		}
		known.AddRoots(branches[0])
	}
	role := rawtx.PacketRole{Known: known, Finalize: param[bool](call, 4)}
	if hashType := param[string](call, 2); hashType != "" {
		role.HashType = new(int32(hashTypes[hashType]))
	}
	if !param[bool](call, 3) {
		known.Origins = nil
	}
	s := rawtx.NewPacketSigning(p, newSigning)
	for i := range p.Inputs {
		if p.Final(i) {
			continue
		}
		if _, _, err := s.Input(i, role); errors.Is(err, rawtx.ErrHashType) {
			return nil, err
		}
	}
	complete := true
	for i := range p.Outputs {
		s.Output(i, known)
	}
	p.DropTransactions()
	for i := range p.Inputs {
		complete = complete && p.Final(i)
	}
	reply := map[string]any{"psbt": as(0, p).Encode(), "complete": complete}
	if complete && rawtx.NewPacketSigning(p, newSigning).Finalize() {
		reply["hex"] = hex.EncodeToString(psbt.Serialize(p.Extract(), true))
	}
	return reply, nil
}

// prevOut is a spent output in the form that signrawtransactionwithkey takes.
type prevOut struct {
	TxID          string      `json:"txid"`
	Vout          uint32      `json:"vout"`
	ScriptPubKey  string      `json:"scriptPubKey"`
	RedeemScript  string      `json:"redeemScript,omitempty"`
	WitnessScript string      `json:"witnessScript,omitempty"`
	Amount        json.Number `json:"amount,omitempty"`
}

func playSign(call *coreCall) (any, error) {
	raw, err := hex.DecodeString(param[string](call, 0))
	if err != nil {
		return nil, err
	}
	tx, ok := rawtx.Decode(raw, rawtx.WitnessForm)
	if !ok {
		return nil, errors.New("no transaction")
	}
	s := newSigning(tx, map[wire.OutPoint]*wire.TxOut{})
	for _, wif := range param[[]string](call, 1) {
		if !s.Keys.AddWIF(wif, net) {
			return nil, errors.New("no private key")
		}
	}
	for _, prev := range param[[]prevOut](call, 2) {
		if err := addPrevOut(s, prev); err != nil {
			return nil, err
		}
	}
	s.HashType = hashTypes[param[string](call, 3)]
	failed, err := rawtx.Sign(context.Background(), s)
	if err != nil {
		return nil, err
	}
	reply := map[string]any{"complete": len(failed) == 0}
	var failures []any
	for _, f := range failed {
		in := tx.TxIn[f.Index]
		if errors.Is(f.Err, rawtx.ErrNoAmount) {
			return nil, errors.New("Missing amount for " + shownOutput(s.Coins[in.PreviousOutPoint]))
		}
		witness := []string{}
		for _, item := range in.Witness {
			witness = append(witness, hex.EncodeToString(item))
		}
		failures = append(failures, map[string]any{
			"txid": in.PreviousOutPoint.Hash.String(), "vout": in.PreviousOutPoint.Index, "witness": witness,
			"scriptSig": hex.EncodeToString(in.SignatureScript), "sequence": in.Sequence, "error": f.Err.Error(),
		})
	}
	if failures != nil {
		reply["errors"] = failures
	}
	reply["hex"] = hex.EncodeToString(psbt.Serialize(tx, true))
	return reply, nil
}

func addPrevOut(s *rawtx.Signing, prev prevOut) error {
	hash, err := chainhash.NewHashFromStr(prev.TxID)
	if err != nil {
		return err
	}
	pkScript, err := hex.DecodeString(prev.ScriptPubKey)
	if err != nil {
		return err
	}
	coin := &wire.TxOut{Value: maxMoney, PkScript: pkScript}
	if prev.Amount != "" {
		coins, _ := new(big.Rat).SetString(string(prev.Amount))
		coin.Value = new(big.Rat).Mul(coins, big.NewRat(1e8, 1)).Num().Int64()
	}
	s.Coins[wire.OutPoint{Hash: *hash, Index: prev.Vout}] = coin
	inner := prev.WitnessScript
	if inner == "" {
		inner = prev.RedeemScript
	}
	if inner == "" {
		return nil
	}
	script, err := hex.DecodeString(inner)
	if err != nil {
		return err
	}
	s.Scripts.Add(script)
	s.Scripts.Add(rawtx.WitnessScriptHash(script))
	return nil
}

// shownOutput prints an output as Core's errors do.
func shownOutput(out *wire.TxOut) string {
	shown := hex.EncodeToString(out.PkScript)[:min(30, 2*len(out.PkScript))]
	return "CTxOut(nValue=" + string(amount(out.Value)) + ", scriptPubKey=" + shown + ")"
}

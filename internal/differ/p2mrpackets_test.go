package differ_test

import (
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// TestP2MRPackets has the same wallets of P2MR keys here and in qbitd update, sign, combine and complete the same
// packets, some of which take two wallets. Each node goes on with packets that the other has made.
func TestP2MRPackets(t *testing.T) {
	p := differ.Start(t, differ.Config{Qbit: true, Args: []string{"-keypool=4"}})
	x := &pqcPlay{keys: keys{differ.QbitRandom(t)}, t: t, pair: p}
	x.begin()
	complete, cases := 0, differ.QbitCases(t, 24)
	for range cases {
		complete += x.play(false)
		complete += x.play(true)
	}
	if complete < cases {
		t.Errorf("%d packets were completed of %d that can be", complete, cases)
	}
	p.Alive()
}

// pqcPlay makes packets that spend P2MR outputs.
type pqcPlay struct {
	keys

	t       *testing.T
	pair    *differ.Pair
	wallets []string
	outs    []p2mrOut // that wallets can spend or know of
}

// A p2mrOut is an output, and the descriptor that it is of.
type p2mrOut struct {
	pkScript  []byte
	text      string
	spendable bool // by the wallets together
}

// receiving returns the first two keys of a wallet's receiving addresses. They are of the same descriptor, since
// qbit has descriptors sign an input one after the other in an arbitrary order. With keys of several descriptors
// the signatures could not be predicted.
func (x *pqcPlay) receiving(wallet string) []string {
	x.t.Helper()
	var exported struct {
		PubKeys []struct {
			PubKey string
			Change bool
		}
	}
	x.core(&exported, wallet, "exportpubkeydb")
	var public []string
	for _, key := range exported.PubKeys {
		if !key.Change {
			public = append(public, key.PubKey)
		}
	}
	return public[:2]
}

// begin makes wallets with qbitd and copies them: two with keys, and a wallet that watches outputs of both
// wallets together.
func (x *pqcPlay) begin() {
	x.t.Helper()
	var public []string
	for _, name := range []string{"a", "b"} {
		x.core(nil, "", "createwallet", name)
		public = append(public, x.receiving(name)...)
	}
	a, b, other := public[0], public[2], hex.EncodeToString(x.bytes(32))
	var shared []string
	for _, form := range []string{
		"mr(pk(" + a + "))", "mr(pk(" + b + "))", "mr(multi_a(2," + a + "," + b + "," + other + "))",
		"mr({pk(" + public[1] + "),multi_a(2," + a + "," + b + ")})", "mr({pk(" + other + "),{pk(" + a + "),pk(" + b + ")}})",
		"mr(multi_a(3," + a + "," + b + "," + other + "))", "mr(pk(" + other + "))", // the last two take another's key
	} {
		shared = append(shared, descriptor.AddChecksum(form))
	}
	x.core(nil, "", "createwallet", "watch", true, true)
	for _, text := range shared {
		var got []struct {
			Success bool
			Error   any
		}
		x.core(&got, "watch", "importdescriptors", []any{map[string]any{"desc": text, "timestamp": "now"}})
		if !got[0].Success {
			x.t.Fatal(text, got[0].Error)
		}
		x.note(text, len(x.outs) < len(shared)-2)
	}
	for _, name := range []string{"a", "b", "watch"} {
		backup := filepath.Join(x.t.TempDir(), name+".dat")
		x.core(nil, name, "backupwallet", backup)
		x.pair.Trawl.Get(nil, "restorewallet", name, backup)
		x.wallets = append(x.wallets, name)
	}
	for _, name := range x.wallets {
		e2e.Eventually(x.t, time.Minute, "the keys are checked", func() bool {
			var info struct {
				PQC struct{ Status string } `json:"pqc_key_validation"`
			}
			err := x.pair.Trawl.CallWallet(x.t.Context(), name, &info, "getwalletinfo")
			return err == nil && info.PQC.Status != "running"
		})
	}
}

func (x *pqcPlay) core(result any, wallet, method string, params ...any) {
	x.t.Helper()
	if err := x.pair.Core.CallWallet(x.t.Context(), wallet, result, method, params...); err != nil {
		x.t.Fatalf("qbitd: %s %v: %v", method, params, err)
	}
}

func (x *pqcPlay) note(text string, spendable bool) {
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		x.t.Fatal(err)
	}
	branches, err := descriptor.Parse(text, network.Descriptors(), descriptor.Options{})
	if err != nil {
		x.t.Fatal(text, err)
	}
	scripts, err := branches[0].Expand(0)
	if err != nil {
		x.t.Fatal(text, err)
	}
	x.outs = append(x.outs, p2mrOut{scripts[0], text, spendable})
}

// packet makes a packet that spends some of the outputs, such as can be spent where it is to be completed.
func (x *pqcPlay) packet(completed bool) *psbt.Packet {
	outs := x.outs
	if completed {
		outs = slices.DeleteFunc(slices.Clone(outs), func(out p2mrOut) bool { return !out.spendable })
	}
	tx := wire.NewMsgTx(2)
	var previous []*wire.MsgTx
	for range 1 + x.IntN(3) {
		from := wire.NewMsgTx(2)
		from.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: [32]byte(x.bytes(32))}, nil, wire.TxWitness{{1}}))
		from.AddTxOut(wire.NewTxOut(x.Int64N(1e9), pick(x.Rand, outs, p2mrOut{}).pkScript))
		previous = append(previous, from)
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: from.TxHash()}, nil, nil))
	}
	for range 1 + x.IntN(2) {
		tx.AddTxOut(wire.NewTxOut(x.Int64N(1e8), pick(x.Rand, x.outs, p2mrOut{}).pkScript))
	}
	p := psbt.New(tx, 0)
	for i, from := range previous {
		if x.IntN(3) > 0 {
			p.Inputs[i].Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(from, true))
		} else if completed || x.IntN(8) > 0 {
			p.Inputs[i].PutOutput(psbt.WitnessUTXO, from.TxOut[0])
		}
	}
	return p
}

// play has a packet worked on, until it is completed or not. It returns 1 where the end is a transaction.
func (x *pqcPlay) play(completed bool) int {
	texts := []string{x.packet(completed).Encode()}
	for range 2 + x.IntN(4) {
		from := texts[len(texts)-1]
		if x.IntN(4) == 0 {
			from = texts[x.IntN(len(texts))]
		}
		texts = append(texts, x.send(x.work(from))...)
		x.look(texts[len(texts)-1])
	}
	if completed {
		texts = append(texts, x.complete(texts[0])...)
	}
	texts = append(texts, x.send(differ.Call{Method: "combinepsbt", Params: []any{texts}})...)
	last := texts[len(texts)-1]
	x.look(last)
	x.spoil(last)
	got := x.pair.Send(
		differ.Call{Method: "finalizepsbt", Params: []any{last, false}},
		differ.Call{Method: "finalizepsbt", Params: []any{last}},
	)
	var end struct{ Complete bool }
	if json.Unmarshal(got[1].Core.Result, &end) == nil && end.Complete {
		return 1
	}
	return 0
}

// complete has both wallets sign a packet, after the watching wallet, which knows all outputs, has updated it.
func (x *pqcPlay) complete(text string) (texts []string) {
	for _, wallet := range []string{"watch", "a", "b"} {
		for _, done := range x.send(differ.Call{
			Method: "walletprocesspsbt", Params: []any{text, true, nil, x.IntN(2) == 0, x.IntN(2) == 0}, Wallet: wallet,
		}) {
			text = done
			texts = append(texts, done)
		}
	}
	return texts
}

// work is a call that updates or signs.
func (x *pqcPlay) work(text string) differ.Call {
	types := []any{nil, nil, nil, nil, "ALL", "DEFAULT", "SINGLE|ANYONECANPAY", "NONE", "bad"}
	kind := pick(x.Rand, types, nil)
	switch x.IntN(6) {
	case 0:
		return differ.Call{Method: "utxoupdatepsbt", Params: []any{text, x.some()}}
	case 1:
		params := []any{text, x.some(), kind, x.IntN(2) == 0, x.IntN(2) == 0}
		return differ.Call{Method: "descriptorprocesspsbt", Params: params}
	default:
		params := []any{text, x.IntN(4) > 0, kind, x.IntN(3) > 0, x.IntN(2) == 0}
		return differ.Call{Method: "walletprocesspsbt", Params: params, Wallet: pick(x.Rand, x.wallets, "")}
	}
}

// some are descriptors of some outputs.
func (x *pqcPlay) some() []any {
	list := []any{}
	for _, out := range x.outs {
		if x.IntN(2) == 0 {
			list = append(list, out.text)
		}
	}
	return list
}

// send has both answer, and returns the packet of one of both.
func (x *pqcPlay) send(call differ.Call) []string {
	got := x.pair.Send(call)[0]
	result := pick(x.Rand, []json.RawMessage{got.Trawl.Result, got.Core.Result}, nil)
	var text string
	var processed struct{ PSBT string }
	switch {
	case !got.Core.OK() || !got.Trawl.OK():
	case json.Unmarshal(result, &text) == nil:
		return []string{text}
	case json.Unmarshal(result, &processed) == nil && processed.PSBT != "":
		return []string{processed.PSBT}
	}
	return nil
}

// look has both analyze and decode a packet.
func (x *pqcPlay) look(text string) {
	x.pair.Send(
		differ.Call{Method: "analyzepsbt", Params: []any{text}},
		differ.Call{Method: "decodepsbt", Params: []any{text}},
	)
}

// spoil changes a field of an input, and has both look at that and go on.
func (x *pqcPlay) spoil(text string) {
	p, err := psbt.DecodeP2MR(text)
	if err != nil {
		x.t.Fatal(err)
	}
	in := &p.Inputs[x.IntN(len(p.Inputs))]
	if len(*in) == 0 {
		return
	}
	at := x.IntN(len(*in))
	switch e := &(*in)[at]; x.IntN(4) {
	case 0:
		*in = slices.Delete(*in, at, at+1)
	case 1:
		if len(e.Value) > 0 {
			e.Value = slices.Clone(e.Value)
			e.Value[x.IntN(len(e.Value))] ^= 1 << x.IntN(8)
		}
	case 2:
		if len(e.Data) > 0 {
			e.Key = slices.Clone(e.Key)
			e.Key[len(e.Key)-1-x.IntN(len(e.Data))] ^= 1 << x.IntN(8)
		}
	default:
		e.Value = e.Value[:x.IntN(len(e.Value)+1)]
	}
	spoiled := p.Encode()
	x.look(spoiled)
	x.pair.Send(
		differ.Call{Method: "finalizepsbt", Params: []any{spoiled}},
		differ.Call{Method: "walletprocesspsbt", Params: []any{spoiled, true, "DEFAULT", true, false}, Wallet: "a"},
		differ.Call{Method: "combinepsbt", Params: []any{[]string{spoiled, text}}},
	)
}

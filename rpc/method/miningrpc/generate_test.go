package miningrpc_test

import (
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

const (
	p2pk  = "21" + key + "ac"
	p2pkh = "76a914751e76e8199196d454941c45d1b3a323f1433bd688ac"
	zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	xpub  = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"
)

func TestGenerate(t *testing.T) {
	hash := chainhash.Hash{1}
	tests := []struct {
		name, method, params, script string
		count                        int
		tries                        uint64
	}{
		{"to an address", "generatetoaddress", `[11, "` + address + `"]`, script, 11, 1_000_000},
		{"with few tries", "generatetoaddress", `[1, "` + address + `", 5]`, script, 1, 5},
		{"without end", "generatetoaddress", `{"maxtries": -1, "nblocks": -1, "address": "` + address + `"}`, script, -1, math.MaxUint64},
		{"to a descriptor", "generatetodescriptor", `[2, "pk(` + key + `)"]`, p2pk, 2, 1_000_000},
		{"to combo()", "generatetodescriptor", `[2, "combo(` + key + `)", 18446744073709551615]`, script, 2, math.MaxUint64},
		{
			"to combo() of a long key", "generatetodescriptor",
			`[2, "combo(0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd` +
				`17b448a68554199c47d08ffb10d4b8)"]`,
			"76a91491b24bf9f5288532960ac687abb035127b1d28a588ac", 2, 1_000_000,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, "regtest")
			request := serve[messages.Generate](r, []chainhash.Hash{hash}, nil)
			if got, want := r.call(test.method, test.params), `["`+hash.String()+`"]`; got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			got := <-request
			if hex.EncodeToString(got.Script) != test.script || got.Count != test.count || got.Tries != test.tries {
				t.Errorf("asked for %d blocks to %x with %d tries", got.Count, got.Script, got.Tries)
			}
		})
	}
}

// The transactions of the pool are for the first block, if there is to be one.
func TestGenerateOfPool(t *testing.T) {
	for asked, count := range map[string]int{"-1": -1, "0": 0, "1": 1, "2": 1} {
		r := newRig(t, "regtest")
		r.best = messages.BlockTxs{Txs: []messages.BlockTx{{Tx: wire.NewMsgTx(2)}}, Fees: 7}
		request := serve[messages.Generate](r, []chainhash.Hash(nil), nil)
		if got := r.call("generatetodescriptor", `[`+asked+`, "raw(51)"]`); got != `[]` {
			t.Errorf("%s: got %s", asked, got)
		}
		if got := <-request; got.Count != count || got.Fees != 7 || len(got.Txs) != 1 {
			t.Errorf("%s: asked for %+v", asked, got)
		}
	}
}

func TestGenerateNothing(t *testing.T) {
	r := newRig(t, "main")
	serve[messages.Generate](r, []chainhash.Hash(nil), nil)
	if got := r.call("generatetodescriptor", `[1, "raw(51)"]`); got != `[]` {
		t.Errorf("got %s", got)
	}
	reject := &messages.RejectError{Reason: "time-too-old", Debug: "too early"}
	serve[messages.Generate](r, []chainhash.Hash(nil), error(reject))
	const want = `{"code":-1,"message":"TestBlockValidity failed: time-too-old, too early"}`
	if got := r.call("generatetodescriptor", `[1, "raw(51)"]`); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	serve[messages.Generate](r, []chainhash.Hash(nil), messages.ErrNotAccepted)
	const refused = `{"code":-32603,"message":"ProcessNewBlock, block not accepted"}`
	if got := r.call("generatetodescriptor", `[1, "raw(51)"]`); got != refused {
		t.Errorf("got %s, want %s", got, refused)
	}
}

func TestGenerateRefuses(t *testing.T) {
	tests := []struct{ name, method, params, want string }{
		{"no address", "generatetoaddress", `[1, "x"]`, `{"code":-5,"message":"Error: Invalid address"}`},
		{"other network", "generatetoaddress", `[1, "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"]`, `{"code":-5,"message":"Error: Invalid address"}`},
		{"number before address", "generatetoaddress", `[1.5, "x"]`, `{"code":-1,"message":"JSON integer out of range"}`},
		{"tries before address", "generatetoaddress", `[1, "x", 2147483648]`, `{"code":-1,"message":"JSON integer out of range"}`},
		{"tries before descriptor", "generatetodescriptor", `[1, "x", -1]`, `{"code":-1,"message":"JSON integer out of range"}`},
		{"no descriptor", "generatetodescriptor", `[1, "x"]`, `{"code":-5,"message":"'x' is not a valid descriptor function"}`},
		{
			"multipath", "generatetodescriptor", `[1, "wpkh(` + xpub + `/<0;1>)"]`,
			`{"code":-8,"message":"Multipath descriptor not accepted"}`,
		},
		{
			"range", "generatetodescriptor", `[1, "wpkh(` + xpub + `/*)"]`,
			`{"code":-8,"message":"Ranged descriptor not accepted. Maybe pass through deriveaddresses first?"}`,
		},
		{
			"hardened", "generatetodescriptor", `[1, "wpkh(` + xpub + `/0h)"]`,
			`{"code":-5,"message":"Cannot derive script without private keys"}`,
		},
		{"neither", "generateblock", `["x", []]`, `{"code":-5,"message":"Error: Invalid address or descriptor"}`},
		{
			"range for a block", "generateblock", `["wpkh(` + xpub + `/*)", []]`,
			`{"code":-8,"message":"Ranged descriptor not accepted. Maybe pass through deriveaddresses first?"}`,
		},
		{
			"no mempool", "generateblock", `["` + address + `", ["` + zeros + `"]]`,
			`{"code":-5,"message":"Transaction ` + zeros + ` not in mempool."}`,
		},
		{
			"no transaction", "generateblock", `["` + address + `", ["00"]]`,
			`{"code":-22,"message":"Transaction decode failed for 00. Make sure the tx has at least one input."}`,
		},
		{
			"no text", "generateblock", `["` + address + `", [1]]`,
			`{"code":-3,"message":"JSON value of type number is not of expected type string"}`,
		},
	}
	r := newRig(t, "regtest")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := r.call(test.method, test.params); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestGenerateBlock(t *testing.T) {
	made := messages.MinedBlock{Hash: chainhash.Hash{1}, Raw: []byte{0xab}}
	tx := spendingTx(t)
	tests := []struct {
		name, params, script string
		err                  error
		want                 string
	}{
		{"to an address", `["` + address + `", []]`, script, nil, `{"hash":"` + made.Hash.String() + `"}`},
		{"to a descriptor", `["pkh(` + key + `)", [], null]`, p2pkh, nil, `{"hash":"` + made.Hash.String() + `"}`},
		{"only shown", `["raw(51)", ["` + tx + `"], false]`, "51", nil, `{"hash":"` + made.Hash.String() + `","hex":"ab"}`},
		{
			"broken rule", `["raw(51)", ["` + tx + `"]]`, "51",
			&messages.RejectError{Reason: "bad-txns-inputs-missingorspent", Debug: "CheckTxInputs: inputs missing/spent"},
			`{"code":-25,"message":"TestBlockValidity failed: bad-txns-inputs-missingorspent, CheckTxInputs: inputs missing/spent"}`,
		},
		{
			"invalidated before", `["raw(51)", []]`, "51", messages.ErrNotAccepted,
			`{"code":-32603,"message":"ProcessNewBlock, block not accepted"}`,
		},
		{"not found", `["raw(51)", []]`, "51", messages.ErrNotMineable, `{"code":-1,"message":"Failed to make block."}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, "regtest")
			request := serveBlock(r, made, test.err)
			if got := r.call("generateblock", test.params); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			got := <-request
			if hex.EncodeToString(got.Script) != test.script || got.Tries != 1_000_000 {
				t.Errorf("asked for a block to %x with %d tries", got.Script, got.Tries)
			}
			if len(got.Txs) > 0 && hex.EncodeToString(got.Txs[0]) != tx {
				t.Errorf("asked for a block of %x", got.Txs)
			}
		})
	}
}

func TestGenerateFails(t *testing.T) {
	r := newRig(t, "regtest")
	broken := errors.New("disk full")
	serveBlock(r, messages.MinedBlock{}, broken)
	if _, err := r.run("generateblock", `["raw(51)", []]`); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// serveBlock lets the probe answer for a block without transactions, then for that of a request.
func serveBlock(r *rig, made messages.MinedBlock, err error) <-chan messages.GenerateBlock {
	request := make(chan messages.GenerateBlock, 1)
	go func() {
		actortest.Expect[*ask.Call[messages.MakeTemplate, []byte]](r.chain).Answer(nil, nil)
		call := actortest.Expect[*ask.Call[messages.GenerateBlock, messages.MinedBlock]](r.chain)
		request <- call.Req
		call.Answer(made, err)
	}()
	return request
}

// A rule that a block without transactions breaks is told as in Core, where that block is made first.
func TestGenerateBlockOfNothing(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{
			&messages.RejectError{Reason: "bad-version(0x00000001)", Debug: "rejected nVersion=0x00000001 block"},
			`{"code":-1,"message":"TestBlockValidity failed: bad-version(0x00000001), rejected nVersion=0x00000001 block"}`,
		},
		{
			&messages.RejectError{Reason: "time-too-new", Debug: "block timestamp too far in the future"},
			`{"code":-1,"message":"TestBlockValidity failed: time-too-new, block timestamp too far in the future"}`,
		},
	}
	for _, test := range tests {
		r := newRig(t, "regtest")
		request := serve[messages.MakeTemplate](r, nil, test.err)
		if got := r.call("generateblock", `["raw(51)", ["`+spendingTx(t)+`"]]`); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
		if got := <-request; hex.EncodeToString(got.Script) != "51" || len(got.Txs) != 0 {
			t.Errorf("asked for a block to %x of %d transactions", got.Script, len(got.Txs))
		}
	}
}

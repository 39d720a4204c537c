package miningrpc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/miningrpc"
)

func qbit(t *testing.T, c dialect.Choices) *dialect.Network {
	t.Helper()
	n, err := dialect.Named(dialect.NameQbit, "regtest", c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Of the blocks 1 to 6, 2 and 5 are mined together with those of another chain; the times are of all blocks.
func TestLanes(t *testing.T) {
	const outside = `{"code":-8,"message":"Block does not exist at specified height"}`
	const unknown = `{"code":-8,"message":"Invalid lane, expected one of: all, permissionless, auxpow"}`
	r := newRigOn(t, qbit(t, dialect.Choices{}), 100, 200, 300, 400, 500, 600)
	for _, test := range []struct{ name, params, want string }{
		{"all", `[]`, `0.02`},
		{"all by name", `[120, -1, "all"]`, `0.02`},
		{"all by null", `[120, -1, null]`, `0.02`},
		{"permissionless", `[120, -1, "permissionless"]`, `0.01333333333333333`},
		{"merge-mined", `{"lane": "auxpow"}`, `0.006666666666666667`},
		{"two blocks of one lane each", `[2, -1, "auxpow"]`, `0.01`},
		{"no block of the lane", `[1, 4, "auxpow"]`, `0`},
		{"at the first block", `[120, 0, "auxpow"]`, `0`},
		{"since the last change of difficulty", `[-1, -1, "auxpow"]`, `0.006666666666666667`},
		{"unknown", `[120, -1, "both"]`, unknown},
		{"upper case", `[120, -1, "All"]`, unknown},
		{"empty", `[120, -1, ""]`, unknown},
		{"unknown before blocks", `[0, 99, "both"]`, unknown},
		{"outside", `[120, 7, "auxpow"]`, outside},
		{"type before lane", `[1.5, -1, "both"]`, `{"code":-1,"message":"JSON integer out of range"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := r.call("getnetworkhashps", test.params); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if got := newRig(t, "regtest").call("getnetworkhashps", `[120, -1, "all"]`); strings.HasPrefix(got, "0") {
		t.Errorf("Bitcoin's networks have lanes: %s", got)
	}
	asert := newRigOn(t, qbit(t, dialect.Choices{ASERT: true}), 100, 200, 300, 400, 500, 650)
	if one, last := asert.call("getnetworkhashps", `[1]`), asert.call("getnetworkhashps", `[-1]`); one != last || one == `0.02` {
		t.Errorf("with ASERT: %s, the last block: %s", last, one)
	}
}

// Coinbases pay to P2MR outputs, or to what else the rules let them.
func TestCoinbaseOutputs(t *testing.T) {
	const (
		noP2MR = `{"code":-5,"message":"Coinbase payout address must be P2MR"}`
		others = `{"code":-5,"message":"Coinbase output must be P2MR or an allowed restricted-output exemption"}`
	)
	n := qbit(t, dialect.Choices{Activation: map[string]int32{"outerwitness": 5}})
	anchor, ok := descriptor.AddressOf([]byte{txscript.OP_1, 2, 0x4e, 0x73}, n.Descriptors())
	if !ok {
		t.Fatal("the anchor has no address")
	}
	program := strings.Repeat("00", 32)
	for _, test := range []struct{ name, method, params, want string }{
		{"anchor", "generatetoaddress", `[1, "` + anchor + `"]`, noP2MR},
		{"anchor for a block", "generateblock", `["` + anchor + `", []]`, noP2MR},
		{
			"txs before the address", "generateblock", `["` + anchor + `", ["00"]]`,
			`{"code":-22,"message":"Transaction decode failed for 00. Make sure the tx has at least one input."}`,
		},
		{"anyone", "generatetodescriptor", `[1, "raw(51)"]`, others},
		{"anyone for a block", "generateblock", `["raw(51)", []]`, others},
		{"none made", "generatetodescriptor", `[0, "raw(51)"]`, others},
		{"a version too early", "generateblock", `["raw(5320` + program + `)", []]`, others},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := newRigOn(t, n).call(test.method, test.params); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	for _, test := range []struct{ name, output string }{
		{"nobody", "raw(6a)"},
		{"anchor", "raw(51024e73)"},
		{"P2MR", "raw(5220" + program + ")"},
		{"a version in time", "raw(5320" + program + ")"},
	} {
		r := newRigOn(t, n, 1, 2, 3, 4)
		request := serveBlock(r, messages.MinedBlock{}, nil)
		if got := r.call("generateblock", `["`+test.output+`", []]`); !strings.HasPrefix(got, `{"hash"`) {
			t.Errorf("%s: %s", test.name, got)
			continue
		}
		<-request
	}
}

// A template whose time no node takes yet is not given out, which is logged.
func TestTemplateFromTheFuture(t *testing.T) {
	n := qbit(t, dialect.Choices{Activation: map[string]int32{"futuretime": 5}})
	r := newTemplateRig(t, n, miningrpc.Blocks{})
	first := r.call("getblocktemplate", ask4)
	made := r.now
	r.now = made.Add(-2*time.Hour - time.Second)
	want := `{"code":-1,"message":"time-too-new: no valid block timestamp is currently available at height 4; ` +
		`median time past requires 1738717202 but the future-time limit permits at most 1738717201"}`
	if got := r.call("getblocktemplate", ask4); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	wantLog := "Unable to create a block template at height 4: minimum timestamp 1738717202 exceeds maximum timestamp 1738717201"
	if !strings.Contains(r.log.String(), wantLog) || !strings.Contains(r.log.String(), "level=WARN") {
		t.Errorf("the log says %s", &r.log)
	}
	r.now = made.Add(-2 * time.Hour)
	if got := r.call("getblocktemplate", ask4); got != first {
		t.Errorf("in time: %s", got)
	}
	r.grow()
	r.now = made
	r.call("getblocktemplate", ask4)
	r.now = made.Add(-601 * time.Second)
	if got := r.call("getblocktemplate", ask4); !strings.Contains(got, "at height 5;") {
		t.Errorf("by the second rule: %s", got)
	}
}

// Limits of before segwit are smaller where witnesses are discounted, and here they are not.
func TestP2MRTemplateBeforeSegwit(t *testing.T) {
	r := newTemplateRig(t, qbit(t, dialect.Choices{Activation: map[string]int32{"segwit": 5}}), miningrpc.Blocks{})
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{})
	r.txs = []messages.BlockTx{{Tx: tx, SigOps: 7}}
	got := r.call("getblocktemplate", ask4)
	for _, part := range []string{`"rules":["csv","taproot"]`, `"sigops":7`, `"sigoplimit":80000,"sizelimit":2000000,"curtime"`} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
}

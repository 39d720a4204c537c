package miningrpc_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/miningrpc"
)

func addressOf(t *testing.T, n *dialect.Network, script ...byte) string {
	t.Helper()
	text, ok := descriptor.AddressOf(script, n.Descriptors())
	if !ok {
		t.Fatalf("%x has no address", script)
	}
	return text
}

func p2mrAddress(t *testing.T, n *dialect.Network) string {
	t.Helper()
	return addressOf(t, n, append([]byte{txscript.OP_2, 32}, make([]byte, 32)...)...)
}

// The members are qbit's, in its order.
func TestCreateAuxBlock(t *testing.T) {
	n := qbit(t, dialect.Choices{Activation: map[string]int32{"auxpowcommitment": 5, "p2mrweightv2": 9}})
	r := newTemplateRig(t, n, miningrpc.Blocks{MaxWeight: 100_000, Reserved: 4000, MinTxFee: 9})
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{})
	r.txs = []messages.BlockTx{{Tx: tx, Fee: 3}}
	r.auxErrs = []error{messages.ErrTipMoved}
	r.auxBlock = messages.AuxBlock{
		Hash: chainhash.Hash{1}, Parent: chainhash.Hash{2}, Height: 4, Bits: 0x207fffff, Value: 21000000003,
	}
	want := `{"hash":"0000000000000000000000000000000000000000000000000000000000000001","chainid":31430,` +
		`"previousblockhash":"0000000000000000000000000000000000000000000000000000000000000002",` +
		`"coinbasevalue":21000000003,"bits":"207fffff","height":4,` +
		`"p2mr_validation_weight":{"per_sigop":3730,"v2_active":false,"v2_activation_height":9},` +
		`"future_block_time":{"limit_seconds":600,"v2_active":true,"v2_activation_height":0},` +
		`"commitmentorder":"internal","commitmentactivationheight":5,` +
		`"target":"7fffff0000000000000000000000000000000000000000000000000000000000"}`
	if got := r.call("createauxblock", `["`+p2mrAddress(t, n)+`"]`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(r.aux) != 2 { // the tip had moved
		t.Fatalf("asked %d times", len(r.aux))
	}
	q, script := r.aux[1], "5220"+strings.Repeat("00", 32)
	if hex.EncodeToString(q.Script) != script || len(q.Txs) != 1 || q.Fees != 3 ||
		q.On != r.tree.Active().Tip().Hash || r.order.MinRate != 9 {
		t.Errorf("asked for %+v", q)
	}
	r.auxBlock.Height = 5
	params := `["` + p2mrAddress(t, n) + `"]`
	if got := r.call("createauxblock", params); !strings.Contains(got, `"commitmentorder":"display"`) {
		t.Errorf("at the height of the order: %s", got)
	}
	never := qbit(t, dialect.Choices{Activation: map[string]int32{"auxpowcommitment": dialect.Never}})
	r = newTemplateRig(t, never, miningrpc.Blocks{})
	if got := r.call("createauxblock", params); !strings.Contains(got, `"commitmentactivationheight":2147483647`) {
		t.Errorf("a rule that never comes: %s", got)
	}
}

func TestCreateAuxBlockRefusals(t *testing.T) {
	const noAddress = `{"code":-5,"message":"Error: Invalid address"}`
	n := qbit(t, dialect.Choices{})
	good := p2mrAddress(t, n)
	anchor := addressOf(t, n, txscript.OP_1, 2, 0x4e, 0x73)
	late := &messages.RejectError{Reason: "time-too-new", Debug: "block timestamp too far in the future"}
	for _, test := range []struct {
		name, address string
		change        func(*templateRig)
		want          string
	}{
		{"no address", "x", nil, noAddress},
		{"bech32", "qbrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kxqqz2m", nil, noAddress},
		{"anchor", anchor, nil, `{"code":-5,"message":"Coinbase payout address must be P2MR"}`},
		{"no lanes yet", good, func(r *templateRig) {
			r.auxErrs = []error{messages.ErrNotMergeMined}
		}, `{"code":-1,"message":"createauxblock is not available because cadence is inactive at height 4"}`},
		{"too late", good, func(r *templateRig) { r.auxErrs = []error{late} }, `{"code":-1,"message":` +
			`"TestBlockValidity failed: time-too-new, block timestamp too far in the future"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newTemplateRig(t, n, miningrpc.Blocks{})
			if test.change != nil {
				test.change(r)
			}
			if got := r.call("createauxblock", `["`+test.address+`"]`); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	main, err := dialect.Named(dialect.NameQbit, "main", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	r := newTemplateRig(t, main, miningrpc.Blocks{})
	for _, step := range []struct {
		address string
		peers   int
		want    string
	}{
		{"x", 0, noAddress},
		{addressOf(t, main, txscript.OP_1, 2, 0x4e, 0x73), 0, `{"code":-9,"message":"qbit is not connected!"}`},
		{p2mrAddress(t, main), 1, `{"code":-10,"message":"qbit is in initial sync and waiting for blocks..."}`},
	} {
		r.peers.In = step.peers
		if step.peers > 0 {
			r.now = r.now.AddDate(1, 0, 0)
		}
		if got := r.call("createauxblock", `["`+step.address+`"]`); got != step.want {
			t.Errorf("%s: got %s, want %s", step.address, got, step.want)
		}
	}
}

// On chains that pay to any output any address is paid, and Bitcoin's have no such methods.
func TestCreateAuxBlockElsewhere(t *testing.T) {
	n := qbit(t, dialect.Choices{AnyOutput: true})
	r := newTemplateRig(t, n, miningrpc.Blocks{})
	keyHash := addressOf(t, n, append([]byte{txscript.OP_0, 20}, make([]byte, 20)...)...)
	if got := r.call("createauxblock", `["`+keyHash+`"]`); !strings.HasPrefix(got, `{"hash"`) {
		t.Error(got)
	}
	for _, c := range miningrpc.Commands(miningrpc.Deps{Network: regtest(t, dialect.Choices{})}) {
		if c.Name == "createauxblock" || c.Name == "submitauxblock" || c.Name == "getnetworkhashps" && len(c.Params) != 2 {
			t.Errorf("%s on a network of Bitcoin", c.Name)
		}
	}
}

func TestSubmitAuxBlock(t *testing.T) {
	const decode = `{"code":-22,"message":"AuxPow decode failed"}`
	hash := chainhash.Hash{7}
	right := enginetest.Proof{Hash: hash}
	gap := func(b byte) func(chainhash.Hash) []byte {
		return func(chainhash.Hash) []byte { return bytes.Repeat([]byte{b}, 32) }
	}
	own := hex.EncodeToString(right.Payload())
	zeros, other, parent := right, right, right
	zeros.Gap, other.Gap = gap(0), gap(0x77)
	parent.Gap = func(h chainhash.Hash) []byte { return h[:] }
	text := func(p enginetest.Proof) string { return hex.EncodeToString(p.Payload()) }
	for _, test := range []struct {
		name, hash, payload string
		verdict             error
		want                string // what is submitted, or the answer
	}{
		{"as blocks have it", hash.String(), own, nil, "null"},
		{"with zeros", hash.String(), text(zeros), nil, "null"},
		{"with the hash of the parent", hash.String(), text(parent), nil, "null"},
		{"in capitals", strings.ToUpper(hash.String()), strings.ToUpper(own), nil, "null"},
		{"refused", hash.String(), own, &messages.RejectError{Reason: "bad-auxpow-commitment"}, `"bad-auxpow-commitment"`},
		{"refused without a word", hash.String(), own, &messages.RejectError{}, `"rejected"`},
		{"not kept", hash.String(), own, &messages.RejectError{Reason: "stale-prevblk"}, `"stale-prevblk"`},
		{"with another hash", hash.String(), text(other), nil, decode},
		{"a byte more", hash.String(), own + "00", nil, decode},
		{"a byte less", hash.String(), own[2:], nil, decode},
		{"half a byte", hash.String(), own + "0", nil, decode},
		{"no bytes", hash.String(), "", nil, decode},
		{"no hex", hash.String(), "zz", nil, decode},
		{"a short hash before the payload", "00", "zz", nil, `{"code":-8,"message":"hash must be of length 64 (not 2, for '00')"}`},
		{
			"a hash that is none", strings.Repeat("z", 64), "zz", nil,
			`{"code":-8,"message":"hash must be hexadecimal string (not '` + strings.Repeat("z", 64) + `')"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newTemplateRig(t, qbit(t, dialect.Choices{}), miningrpc.Blocks{})
			r.proposed = test.verdict
			if got := r.call("submitauxblock", `["`+test.hash+`","`+test.payload+`"]`); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if strings.HasPrefix(test.want, "{") {
				if len(r.submitted) > 0 {
					t.Error("submitted all the same")
				}
				return
			}
			if q := r.submitted[0]; q.Hash != hash || hex.EncodeToString(q.Payload) != own {
				t.Errorf("submitted %+v", q)
			}
		})
	}
}

// Blocks for merged mining are kept for an hour, and a thousand of them, unless the operator says otherwise.
func TestAuxChoices(t *testing.T) {
	number := func(n int64) *int64 { return &n }
	for _, test := range []struct {
		choices miningrpc.Choices
		expiry  time.Duration
		limit   int64
	}{
		{miningrpc.Choices{}, time.Hour, 1024},
		{miningrpc.Choices{AuxExpiry: number(0), AuxLimit: number(0)}, 0, 0},
		{miningrpc.Choices{AuxExpiry: number(3), AuxLimit: number(7)}, 3 * time.Minute, 7},
		{miningrpc.Choices{AuxExpiry: number(1 << 62)}, 153722867 * time.Minute, 1024},
	} {
		if err := test.choices.Check(qbit(t, dialect.Choices{})); err != nil {
			t.Error(err)
		}
		if kept := test.choices.AuxBlocks(); kept.Expiry != test.expiry || kept.Limit != test.limit {
			t.Errorf("%+v", kept)
		}
	}
	for _, test := range []struct {
		choices miningrpc.Choices
		want    string
	}{
		{miningrpc.Choices{AuxExpiry: number(-1), AuxLimit: number(-1)}, "-auxpowtemplateexpiry must be greater or equal than zero"},
		{miningrpc.Choices{AuxLimit: number(-1)}, "-auxpowtemplatecachelimit must be greater or equal than zero"},
	} {
		if err := test.choices.Check(qbit(t, dialect.Choices{})); err == nil || err.Error() != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
		if err := test.choices.Check(regtest(t, dialect.Choices{})); err != nil {
			t.Errorf("on a network without such blocks: %v", err)
		}
	}
}

package txbuilder

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/messages"
)

const (
	lower = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
	upper = "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"
	other = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
	wrong = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn" // of another network
)

func config(allowNoOutputs bool) *Config {
	return &Config{Net: descriptor.NetworkOf(&chaincfg.MainNetParams), AllowNoOutputs: allowNoOutputs}
}

func pay(addresses ...string) []messages.TxOutput {
	outputs := make([]messages.TxOutput, len(addresses))
	for i, a := range addresses {
		outputs[i] = messages.TxOutput{Address: a, Amount: btcutil.Amount(i)}
	}
	return outputs
}

func inputs(sequences ...uint32) []messages.TxInput {
	all := make([]messages.TxInput, len(sequences))
	for i := range sequences {
		all[i].Sequence = &sequences[i]
	}
	return all
}

// TestFirstError gives requests with several mistakes: the first in the order of
// the checks is told.
func TestFirstError(t *testing.T) {
	unread := errors.New("not readable")
	tests := []struct {
		name string
		req  messages.BuildTx
		want error
		of   string // the address that is wrong
	}{
		{"version before all", messages.BuildTx{Outputs: pay(wrong), Unread: unread}, messages.ErrTxVersion, ""},
		{"version too large", messages.BuildTx{Version: 4}, messages.ErrTxVersion, ""},
		{"address before what was not read", messages.BuildTx{
			Version: 1, Outputs: pay(lower, wrong), Unread: unread,
		}, messages.ErrTxAddress, wrong},
		{"no address", messages.BuildTx{Version: 1, Outputs: pay("")}, messages.ErrTxAddress, ""},
		{"address twice", messages.BuildTx{
			Version: 1, Outputs: pay(lower, other, lower),
		}, messages.ErrTxAddressTwice, lower},
		{"destination twice", messages.BuildTx{
			Version: 1, Outputs: pay(lower, upper),
		}, messages.ErrTxAddressTwice, upper},
		{"first of two bad addresses", messages.BuildTx{
			Version: 1, Outputs: pay(lower, lower, wrong),
		}, messages.ErrTxAddressTwice, lower},
		{"not read before no outputs", messages.BuildTx{Version: 1, Unread: unread}, unread, ""},
		{"no outputs before replaceable", messages.BuildTx{
			Version: 1, Inputs: inputs(wire.MaxTxInSequenceNum), Replaceable: new(true),
		}, messages.ErrNoTxOutputs, ""},
		{"not replaceable", messages.BuildTx{
			Version: 3, Inputs: inputs(0xfffffffe, 0xffffffff), Outputs: pay(lower), Replaceable: new(true),
		}, messages.ErrTxReplaceable, ""},
		{"one replaceable input suffices", messages.BuildTx{
			Version: 3, Inputs: inputs(0xfffffffd, 0xffffffff), Outputs: pay(lower), Replaceable: new(true),
		}, nil, ""},
		{"replaceable without inputs", messages.BuildTx{
			Version: 2, Outputs: pay(lower), Replaceable: new(true),
		}, nil, ""},
		{"not asked to be replaceable", messages.BuildTx{
			Version: 2, Inputs: inputs(0xffffffff), Outputs: pay(lower),
		}, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := build(t.Context(), config(false), &test.req)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if e, ok := errors.AsType[*messages.TxAddressError](err); ok && e.Address != test.of {
				t.Errorf("got %q, want %q", e.Address, test.of)
			}
		})
	}
}

func TestNoOutputsAllowed(t *testing.T) {
	tx, err := build(t.Context(), config(true), &messages.BuildTx{Version: 2})
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(raw.Bytes()); got != "02000000000000000000" {
		t.Errorf("got %s", got)
	}
}

func TestSequence(t *testing.T) {
	tests := []struct {
		replaceable *bool
		lockTime    uint32
		want        uint32
	}{
		{nil, 0, 0xfffffffd},
		{nil, 5, 0xfffffffd},
		{new(true), 5, 0xfffffffd},
		{new(false), 5, 0xfffffffe},
		{new(false), 0, 0xffffffff},
	}
	for _, test := range tests {
		tx, err := build(t.Context(), config(false), &messages.BuildTx{
			Version: 2, LockTime: test.lockTime, Replaceable: test.replaceable, Outputs: pay(lower),
			Inputs: []messages.TxInput{{}, {Sequence: new(uint32(7))}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if tx.TxIn[0].Sequence != test.want || tx.TxIn[1].Sequence != 7 || tx.LockTime != test.lockTime {
			t.Errorf("%+v: got %x, %x, lock time %d", test, tx.TxIn[0].Sequence, tx.TxIn[1].Sequence, tx.LockTime)
		}
	}
}

// A data script that is read as pushes has the data of the output, whatever its
// size.
func TestDataScript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.OneOf(rapid.IntRange(1, 80), rapid.IntRange(250, 260), rapid.IntRange(65_530, 65_540)).Draw(
			t, "size",
		)
		data := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, size)
		script := rawtx.DataScript(data)
		tokens := txscript.MakeScriptTokenizer(0, script)
		if !tokens.Next() || tokens.Opcode() != txscript.OP_RETURN || !tokens.Next() ||
			!bytes.Equal(tokens.Data(), data) || !tokens.Done() || tokens.Err() != nil {
			t.Fatalf("script %x for %d bytes", script[:10], size)
		}
	})
}

// A caller that leaves ends the building.
func TestContextEndsBuilding(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := build(
		ctx, config(false), &messages.BuildTx{Version: 2, Outputs: pay(lower)},
	); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// manyOutputs pays to n addresses, all different.
func manyOutputs(n int) []messages.TxOutput {
	net := descriptor.NetworkOf(&chaincfg.MainNetParams)
	outputs := make([]messages.TxOutput, n)
	for i := range outputs {
		script := slices.Concat([]byte{txscript.OP_0, 32, byte(i), byte(i >> 8), byte(i >> 16)}, make([]byte, 29))
		outputs[i].Address, _ = descriptor.AddressOf(script, net)
		outputs[i].Amount = 1
	}
	return outputs
}

// BenchmarkBuild says how long a request of a size keeps the next one waiting.
func BenchmarkBuild(b *testing.B) {
	for _, outputs := range []int{2, smallTx, 500, 5000} {
		b.Run(fmt.Sprintf("outputs=%d", outputs), func(b *testing.B) {
			req := &messages.BuildTx{Version: 2, Inputs: inputs(1), Outputs: manyOutputs(outputs)}
			cfg := config(false)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := build(b.Context(), cfg, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

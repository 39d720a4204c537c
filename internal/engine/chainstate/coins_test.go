package chainstate_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
)

// sum counts and hashes a set, and checks that its parts come in order.
func sum(t *testing.T, set messages.CoinSet, mode coinstats.Mode) (*coinstats.Sum, string) {
	t.Helper()
	total := coinstats.New(mode)
	var last chainhash.Hash
	for part := range 256 {
		err := set.Visit(t.Context(), uint16(part)<<8, uint16(part)<<8|0xff, func(c *messages.SetCoin) error {
			if bytes.Compare(c.Out.Hash[:], last[:]) < 0 || c.Out.Hash[0] != byte(part) {
				t.Fatalf("output %v after %v", c.Out, last)
			}
			last = c.Out.Hash
			script, err := set.Unpack(nil, c.Packed)
			if !slices.ContainsFunc(set.Pack(script), func(form []byte) bool { return bytes.Equal(form, c.Packed) }) {
				t.Errorf("script %x is stored in an unknown form %x", script, c.Packed)
			}
			total.Add(&coinstats.Coin{
				Out: c.Out, Height: c.Height, Coinbase: c.Coinbase, Amount: c.Amount, Script: script,
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	hash := total.Hash()
	slices.Reverse(hash[:])
	return total, hex.EncodeToString(hash[:])
}

// The set is Core's, before and after a reorganisation and over restarts: the
// hashes are what Core 30.2 answers on the same chains. A set that was handed out
// stays what it was.
func TestCoinsAreCores(t *testing.T) {
	dir := t.TempDir()
	e, err := enginetest.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	accept := func(name string) {
		for _, raw := range enginetest.Blocks(t, name) {
			var reject *messages.RejectError
			if err := e.Accept(raw); err != nil && !errors.As(err, &reject) {
				t.Fatal(err)
			}
		}
	}
	snapshot := func() messages.CoinSet {
		set, err := e.Coins()
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	accept(enginetest.Chain)
	before := snapshot()
	_, beforeHash := sum(t, before, coinstats.Serial)
	accept(enginetest.Branch)
	for _, reopened := range []bool{false, true} {
		if reopened {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if e, err = enginetest.Open(dir); err != nil {
				t.Fatal(err)
			}
		}
		after := snapshot()
		if total, got := sum(t, after, coinstats.Serial); got != "4e6d64fb9df5dd0f878a78561ab6b8d29920d9396ee113cdc25248c36ed3ad1e" ||
			total.Txs != 881 || total.Outputs != 3552 || total.BogoSize != 267260 || total.Amount != 1189203484461 {
			t.Errorf("serialized hash %s of %d outputs", got, total.Outputs)
		}
		if _, got := sum(t, after, coinstats.Set); got != "3e6982004f806463aa97772f79ead1320ff4a870df087b814818cc9e82a32c9a" {
			t.Errorf("muhash %s", got)
		}
		if after.Tip().Height != 361 {
			t.Errorf("tip %+v", after.Tip())
		}
		after.Release()
		if !reopened {
			if _, got := sum(t, before, coinstats.Serial); got != beforeHash || before.Tip().Height != 354 {
				t.Error("a set changed after it was handed out")
			}
			before.Release()
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// Every output of the set is found one by one, those that btcd leaves out too.
func TestCoinOfSet(t *testing.T) {
	e, err := enginetest.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range enginetest.Blocks(t, enginetest.Chain)[1:] {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
	}
	set, err := e.Coins()
	if err != nil {
		t.Fatal(err)
	}
	defer set.Release()
	err = set.Visit(context.Background(), 0, 0xffff, func(c *messages.SetCoin) error {
		script, err := set.Unpack(nil, c.Packed)
		if err != nil {
			return err
		}
		got, err := e.Coin(c.Out)
		if err != nil || got.Height != c.Height || got.Coinbase != c.Coinbase || got.Output.Value != c.Amount ||
			!bytes.Equal(got.Output.PkScript, script) {
			t.Errorf("output %v: got %+v, %v", c.Out, got, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

package chainstate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// Outputs whose scripts do not parse are found with their heights and amounts. A malformed row is an error, and a row
// of a block that is not on the chain is passed over.
func TestRowsOfUnparsableOutputs(t *testing.T) {
	chain := genesis(t).chainOn(3)
	out := wire.OutPoint{Hash: chain[0].hash, Index: 5}
	key := binary.BigEndian.AppendUint32(bytes.Clone(out.Hash[:]), out.Index)
	key = append(key, chain[1].hash[:]...)
	foreign := append(bytes.Clone(key[:36]), genesis(t).on(nil).hash[:]...)
	value := binary.LittleEndian.AppendUint64([]byte{1}, 7000)
	value = append(value, 0x4c)
	negative := append(bytes.Clone(value[:8]), 0x80, 0x4c)
	const found, missing, failed = "found", "missing", "failed"
	for name, test := range map[string]struct {
		key, value []byte
		want       string
	}{
		"a row":           {key, value, found},
		"another chain's": {foreign, value, missing},
		"a short key":     {key[:67], value, failed},
		"a long key":      {append(bytes.Clone(key), 0), value, failed},
		"a short value":   {key, value[:8], failed},
		"no amount":       {key, negative, failed},
	} {
		dir, net := t.TempDir(), quick(t)
		e := open(t, dir, net)
		for _, b := range chain {
			must(t, e.Accept(b.raw))
		}
		must(t, e.Close())
		put(t, dir, "unparsable", test.key, test.value)
		e = open(t, dir, net)
		coin, err := e.Coin(out)
		got := failed
		switch {
		case err == nil:
			got = found
		case errors.Is(err, messages.ErrNoCoin):
			got = missing
		}
		if got != test.want || got == found && (coin.Height != 2 || !coin.Coinbase || coin.Output.Value != 7000 ||
			!bytes.Equal(coin.Output.PkScript, []byte{0x4c})) {
			t.Errorf("%s: %s, want %s: %+v, %v", name, got, test.want, coin, err)
		}
		set, err := e.Coins()
		must(t, err)
		if _, err := words(set); (err != nil) != (test.want == failed) {
			t.Errorf("%s: the set: %v", name, err)
		}
		set.Release()
		must(t, e.Close())
	}
}

package filters_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/filters"
)

// coinbaseBlock returns a serialized block of one coinbase transaction with an
// output for each script.
func coinbaseBlock(scripts [][]byte) []byte {
	tx := wire.NewMsgTx(1)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: wire.MaxPrevOutIndex}, []byte{1, 2}, nil))
	for _, script := range scripts {
		tx.AddTxOut(wire.NewTxOut(1, script))
	}
	return serialize(&wire.MsgBlock{Transactions: []*wire.MsgTx{tx}})
}

func serialize(block *wire.MsgBlock) []byte {
	var raw bytes.Buffer
	block.Serialize(&raw)
	return raw.Bytes()
}

// drawBlock draws a block of some transactions with and without witnesses.
func drawBlock(t *rapid.T) *wire.MsgBlock {
	script := rapid.SliceOfN(rapid.Byte(), 0, 40)
	block := &wire.MsgBlock{}
	for range rapid.IntRange(0, 4).Draw(t, "transactions") {
		tx := wire.NewMsgTx(2)
		segwit := rapid.Bool().Draw(t, "segwit")
		for range rapid.IntRange(1, 4).Draw(t, "inputs") {
			in := wire.NewTxIn(&wire.OutPoint{}, script.Draw(t, "sigscript"), nil)
			if segwit {
				in.Witness = rapid.SliceOfN(script, 1, 3).Draw(t, "witness")
			}
			tx.AddTxIn(in)
		}
		for range rapid.IntRange(0, 5).Draw(t, "outputs") {
			tx.AddTxOut(wire.NewTxOut(7, script.Draw(t, "script")))
		}
		block.AddTransaction(tx)
	}
	return block
}

// outputScripts collects what EachOutputScript yields.
func outputScripts(raw []byte) (scripts [][]byte, err error) {
	err = filters.EachOutputScript(raw, filters.HeaderLen, func(script []byte) bool {
		scripts = append(scripts, script)
		return true
	})
	return scripts, err
}

func wireScripts(block *wire.MsgBlock) (scripts [][]byte) {
	for _, tx := range block.Transactions {
		for _, out := range tx.TxOut {
			scripts = append(scripts, out.PkScript)
		}
	}
	return scripts
}

func TestEachOutputScript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := drawBlock(t)
		raw := serialize(block)
		got, err := outputScripts(raw)
		if err != nil {
			t.Fatal(err)
		}
		if want := wireScripts(block); !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("got %x, want %x", got, want)
		}
		// No beginning of a block is a block, nor is more than one.
		short := raw[:rapid.IntRange(0, len(raw)-1).Draw(t, "length")]
		for _, bad := range [][]byte{short, append(raw, 0)} {
			if _, err := outputScripts(bad); !errors.Is(err, filters.ErrBadBlock) {
				t.Fatalf("%d bytes of %d: got %v", len(bad), len(raw), err)
			}
		}
	})
}

func TestEachOutputScriptStops(t *testing.T) {
	raw := coinbaseBlock([][]byte{{1}, {2}, {3}})
	n := 0
	err := filters.EachOutputScript(raw[:len(raw)-1], filters.HeaderLen, func([]byte) bool {
		n++
		return n < 2
	})
	if n != 2 || err != nil {
		t.Errorf("got %d scripts and %v, want 2 and none", n, err)
	}
}

func TestEachOutputScriptHeader(t *testing.T) {
	raw := append(make([]byte, 100), coinbaseBlock([][]byte{{1}})...)
	for _, c := range []struct {
		headerLen int
		ok        bool
	}{
		{100 + filters.HeaderLen, true},
		{filters.HeaderLen, false},
		{len(raw), false},
		{len(raw) + 1, false},
		{-1, false},
	} {
		err := filters.EachOutputScript(raw, c.headerLen, func([]byte) bool { return true })
		if (err == nil) != c.ok {
			t.Errorf("header of %d bytes: got %v", c.headerLen, err)
		}
	}
}

// TestEachOutputScriptFlag: after the marker of BIP144 only flag 1 is known.
func TestEachOutputScriptFlag(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{}, nil, wire.TxWitness{{1}}))
	tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
	raw := serialize(&wire.MsgBlock{Transactions: []*wire.MsgTx{tx}})
	flag := filters.HeaderLen + 1 + 4 + 1
	for _, c := range []struct {
		flag byte
		ok   bool
	}{{0, false}, {1, true}, {2, false}, {3, false}} {
		raw[flag] = c.flag
		if _, err := outputScripts(raw); (err == nil) != c.ok {
			t.Errorf("flag %d: got %v", c.flag, err)
		}
	}
}

// FuzzEachOutputScript holds the walk against btcd's decoder: what it accepts
// and encodes to the same bytes has the same scripts, and the walk accepts it.
func FuzzEachOutputScript(f *testing.F) {
	f.Add(coinbaseBlock([][]byte{{1}, {}, {0x6a, 1}}))
	tx := wire.NewMsgTx(2)
	in := wire.NewTxIn(&wire.OutPoint{}, nil, wire.TxWitness{{1}, {}, {2, 3}})
	tx.AddTxIn(in)
	tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
	f.Add(serialize(&wire.MsgBlock{Transactions: []*wire.MsgTx{tx, tx}}))
	f.Add(append(make([]byte, filters.HeaderLen), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := outputScripts(raw)
		if err != nil && !errors.Is(err, filters.ErrBadBlock) {
			t.Fatal(err)
		}
		var block wire.MsgBlock
		if block.Deserialize(bytes.NewReader(raw)) != nil || !bytes.Equal(serialize(&block), raw) {
			return
		}
		if want := wireScripts(&block); err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("got %x and %v, want %x", got, err, want)
		}
	})
}

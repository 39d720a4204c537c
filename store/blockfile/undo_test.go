package blockfile

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"pgregory.net/rapid"
)

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestVarInt has the examples of Core's serialize.h.
func TestVarInt(t *testing.T) {
	for _, tc := range []struct {
		n   uint64
		hex string
	}{
		{0, "00"},
		{1, "01"},
		{127, "7f"},
		{128, "8000"},
		{255, "807f"},
		{256, "8100"},
		{16383, "fe7f"},
		{16384, "ff00"},
		{16511, "ff7f"},
		{65535, "82fe7f"},
		{1 << 32, "8efefeff00"},
		{math.MaxUint64, "80fefefefefefefefe7f"},
	} {
		if got := hex.EncodeToString(appendVarInt(nil, tc.n)); got != tc.hex {
			t.Errorf("VARINT of %d is %s, want %s", tc.n, got, tc.hex)
		}
		c := &cursor{b: unhex(t, tc.hex)}
		if got := c.varInt(math.MaxUint64); got != tc.n || c.done() != nil {
			t.Errorf("VARINT %s is %d, %v, want %d", tc.hex, got, c.done(), tc.n)
		}
	}
	for _, bad := range []string{"", "80", "ffffff", "80fefefefefefefeff00", "ffffffffffffffffffff7f"} {
		c := &cursor{b: unhex(t, bad)}
		if c.varInt(math.MaxUint64); !errors.Is(c.err, ErrCorrupt) {
			t.Errorf("VARINT %q: %v", bad, c.err)
		}
	}
	c := &cursor{b: unhex(t, "8efefeff00")}
	if c.varInt(math.MaxUint32); !errors.Is(c.err, ErrCorrupt) {
		t.Errorf("2^32 as 32 bits: %v", c.err)
	}
}

func TestCompactSize(t *testing.T) {
	for _, n := range []uint64{0, 252, 253, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64} {
		c := &cursor{b: appendCompactSize(nil, n)}
		if got := c.compactSize(); got != n || c.done() != nil {
			t.Errorf("CompactSize of %d reads as %d, %v", n, got, c.done())
		}
	}
	for _, bad := range []string{"", "fd01", "fdfc00", "feffff0000", "ffffffffff00000000"} {
		c := &cursor{b: unhex(t, bad)}
		if c.compactSize(); !errors.Is(c.err, ErrCorrupt) {
			t.Errorf("CompactSize %q: %v", bad, c.err)
		}
	}
}

// TestAmount has the examples of Core's compress_tests.cpp.
func TestAmount(t *testing.T) {
	for _, tc := range []struct {
		amount, code uint64
	}{
		{0, 0},
		{1, 1},
		{1_000_000, 0x7},
		{100_000_000, 0x9},
		{50_00000000, 0x32},
		{21_000_000_00000000, 0x1406f40},
	} {
		coded := appendAmount(nil, tc.amount)
		if !bytes.Equal(coded, appendVarInt(nil, tc.code)) {
			t.Errorf("amount %d is stored as %x, want VARINT of %#x", tc.amount, coded, tc.code)
		}
		c := &cursor{b: coded}
		if got := c.amount(); uint64(got) != tc.amount || c.done() != nil {
			t.Errorf("amount %x is %d, %v, want %d", coded, got, c.done(), tc.amount)
		}
	}
	c := &cursor{b: appendVarInt(nil, math.MaxUint64)}
	if c.amount(); !errors.Is(c.err, ErrCorrupt) {
		t.Errorf("amount beyond int64: %v", c.err)
	}
}

// generator is the uncompressed form of secp256k1's generator.
const generator = "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
	"483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"

func TestScript(t *testing.T) {
	for _, tc := range []struct {
		name, script, stored string
	}{
		{"empty", "", "06"},
		{"key hash", "76a914" + generator[2:42] + "88ac", "00" + generator[2:42]},
		{"script hash", "a914" + generator[2:42] + "87", "01" + generator[2:42]},
		{"even key", "2102" + generator[2:66] + "ac", "02" + generator[2:66]},
		{"odd key", "2103" + generator[2:66] + "ac", "03" + generator[2:66]},
		{"full key", "41" + generator + "ac", "04" + generator[2:66]},
		{"key not on the curve", "2102" + zeros32 + "ac", "02" + zeros32},
		{"full key not on the curve", "4104" + zeros32 + zeros32 + "ac", "494104" + zeros32 + zeros32 + "ac"},
		{"other", "51", "0751"},
	} {
		stored := appendScript(nil, unhex(t, tc.script))
		if hex.EncodeToString(stored) != tc.stored {
			t.Errorf("%s is stored as %x, want %s", tc.name, stored, tc.stored)
		}
		c := &cursor{b: stored}
		if got := c.script(nil); hex.EncodeToString(got) != tc.script || c.done() != nil {
			t.Errorf("%s reads as %x, %v, want %s", tc.name, got, c.done(), tc.script)
		}
	}

	long := &cursor{b: appendScript(nil, make([]byte, maxScriptSize+1))}
	if got := long.script(nil); !bytes.Equal(got, []byte{opReturn}) || long.done() != nil {
		t.Errorf("a script that is too long reads as %x, %v", got, long.done())
	}
	noKey := &cursor{b: append([]byte{codePubKeyFull}, unhex(t, fives32)...)}
	if got := noKey.script(nil); len(got) != 0 || noKey.done() != nil {
		t.Errorf("a full key that is none reads as %x, %v", got, noKey.done())
	}
}

const (
	zeros32 = "0000000000000000000000000000000000000000000000000000000000000000"
	fives32 = "0000000000000000000000000000000000000000000000000000000000000005" // x of no point
)

// TestUndo has the undo data of main chain block 170, whose one payment spends
// the coinbase of block 9.
func TestUndo(t *testing.T) {
	payload := unhex(t, "0101"+"1300320511db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5c")
	txs, err := ParseUndo(payload)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]Coin{{{Height: 9, Coinbase: true, Amount: 50_00000000, Script: unhex(t,
		"410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e"+
			"160bfa9b8b64f9d4c03f999b8643f656b412a3ac")}}}
	if !reflect.DeepEqual(txs, want) {
		t.Fatalf("undo data is %v, want %v", txs, want)
	}
	if got := AppendUndo(nil, txs); !bytes.Equal(got, payload) {
		t.Fatalf("undo data is written as %x", got)
	}
	prev, err := chainhash.NewHashFromStr("000000002a22cfee1f2c846adbd12b3e183d4f97683f85dad08a79780a84bd55")
	if err != nil {
		t.Fatal(err)
	}
	const checksum = "f494ff9f442db3a75d9eba7be1430568863110ed7360d1e949dd31bb89ee2518" // by Python's hashlib
	if got := UndoChecksum(*prev, payload); got.String() != checksum {
		t.Fatalf("checksum %v, want %s", got, checksum)
	}
	for cut := range payload {
		if _, err := ParseUndo(payload[:cut]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("undo data cut at %d: %v", cut, err)
		}
	}
	if _, err := ParseUndo(append(payload, 0)); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("undo data with a byte too many: %v", err)
	}
}

// drawCoins makes coins of all script types.
func drawCoins(t *rapid.T) []Coin {
	hash := rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "hash")
	full, _ := hex.DecodeString(generator)
	script := rapid.OneOf(
		rapid.SliceOfN(rapid.Byte(), 0, 80),
		rapid.Just(append(append([]byte{opDup, opHash160, 20}, hash...), opEqualVerify, opCheckSig)),
		rapid.Just(append(append([]byte{opHash160, 20}, hash...), opEqual)),
		rapid.Just(append(append([]byte{33, 3}, full[1:33]...), opCheckSig)),
		rapid.Just(append(append([]byte{65}, full...), opCheckSig)),
	)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Coin {
		return Coin{
			Height:   rapid.Int32Min(0).Draw(t, "height"),
			Coinbase: rapid.Bool().Draw(t, "coinbase"),
			Amount:   rapid.Int64Range(0, 21_000_000_00000000).Draw(t, "amount"),
			Script:   script.Draw(t, "script"),
		}
	}), 1, 5).Draw(t, "coins")
}

// TestUndoRoundTrip checks all readers of undo data against the writer.
func TestUndoRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		txs := rapid.SliceOfN(rapid.Custom(drawCoins), 0, 5).Draw(t, "txs")
		payload := AppendUndo(nil, txs)
		checkReaders(t, payload)
		got, err := ParseUndo(payload)
		if err != nil {
			t.Fatal(err)
		}
		for i := range txs {
			for j, want := range txs[i] {
				coin := got[i][j]
				if !bytes.Equal(coin.Script, want.Script) {
					t.Fatalf("script %x, want %x", coin.Script, want.Script)
				}
				coin.Script, want.Script = nil, nil
				if !reflect.DeepEqual(coin, want) {
					t.Fatalf("coin %v, want %v", coin, want)
				}
			}
		}
	})
}

// checkReaders compares the readers of undo data with each other.
func checkReaders(t rapid.TB, payload []byte) {
	txs, err := ParseUndo(payload)
	scripts, scriptsErr := SpentScripts(payload)
	if err == nil && scriptsErr != nil {
		t.Fatalf("parsed by one and not by the other: %v", scriptsErr)
	}
	if err != nil {
		return
	}
	raw, err := RawCoins(payload)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []int
	n := 0
	for _, coins := range txs {
		inputs = append(inputs, len(coins))
		for _, coin := range coins {
			if !bytes.Equal(scripts[n], coin.Script) {
				t.Fatalf("script %d is %x, want %x", n, scripts[n], coin.Script)
			}
			n++
		}
	}
	if n != len(scripts) || n != len(raw) {
		t.Fatalf("%d coins, %d scripts, %d raw coins", n, len(scripts), len(raw))
	}
	again, err := AppendRawUndo(nil, inputs, raw)
	if err != nil || !bytes.Equal(again, payload) {
		t.Fatalf("raw coins make %x, %v, want %x", again, err, payload)
	}
	split, err := SplitCoins(bytes.Join(raw, nil))
	if err != nil || !reflect.DeepEqual(split, raw) {
		t.Fatalf("split into %x, %v, want %x", split, err, raw)
	}
}

func TestAppendRawUndoCounts(t *testing.T) {
	coins := [][]byte{{2, 0, 0, 6}, {2, 0, 0, 6}}
	for _, inputs := range [][]int{{}, {1}, {3}, {1, 2}} {
		if _, err := AppendRawUndo(nil, inputs, coins); !errors.Is(err, ErrCorrupt) {
			t.Errorf("two coins for inputs %v: %v", inputs, err)
		}
	}
}

func FuzzParseUndo(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{1, 1, 0x13, 0, 0x32, 6})
	f.Add([]byte{0xfe, 0xff, 0xff, 0xff, 0xff})
	f.Add(AppendUndo(nil, [][]Coin{{{Height: 1, Amount: 5, Script: []byte{0x51}}, {Script: make([]byte, 10_001)}}, {}}))
	f.Fuzz(func(t *testing.T, payload []byte) {
		checkReaders(t, payload)
		txs, err := ParseUndo(payload)
		if err != nil {
			return
		}
		again, err := ParseUndo(AppendUndo(nil, txs))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(AppendUndo(nil, again), AppendUndo(nil, txs)) {
			t.Fatalf("%v reads back as %v", txs, again)
		}
	})
}

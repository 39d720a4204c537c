package rawtx

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/descriptor"
)

// Data is pushed in its shortest form, and a script that only pushes leaves what was pushed.
func TestPushes(t *testing.T) {
	if raceEnabled {
		t.Skip("`make large` runs it")
	}
	rapid.Check(t, func(t *rapid.T) {
		item := rapid.OneOf(
			rapid.SliceOfN(rapid.Byte(), 0, 3), rapid.SliceOfN(rapid.Just(byte(7)), 70, 80),
			rapid.SliceOfN(rapid.Just(byte(7)), 250, 260), rapid.SliceOfN(rapid.ByteRange(0, 20), 1, 1),
			rapid.Just([]byte{0x81}), rapid.SliceOfN(rapid.Just(byte(7)), 65530, 65540),
		)
		stack := rapid.SliceOfN(item, 0, 4).Draw(t, "stack")
		builder := txscript.NewScriptBuilder()
		for _, data := range stack {
			if len(data) == 1 && data[0] == 0 { // btcd pushes nothing in its place
				builder.AddOps([]byte{1, 0})
				continue
			}
			builder.AddFullData(data)
		}
		got := pushAll(stack)
		if want, err := builder.Script(); err == nil && !bytes.Equal(got, want) {
			t.Errorf("%d items: %.40x, want %.40x", len(stack), got, want)
		}
		if again := pushed(got); !slices.EqualFunc(again, stack, bytes.Equal) {
			t.Errorf("%.40x leaves %d items, want %d", got, len(again), len(stack))
		}
	})
	for script, want := range map[string]int{
		"\x51\x76\x51": 1, "\x51\x52\xac": 2, "\x76": 0, "\x02\x01": 0, "\x60\x4f\x00": 3,
	} {
		if got := pushed([]byte(script)); len(got) != want {
			t.Errorf("%x leaves %d items before it does more, want %d", script, len(got), want)
		}
	}
	if got := pushed([]byte{txscript.OP_16, txscript.OP_1, txscript.OP_1NEGATE}); !slices.EqualFunc(
		got, [][]byte{{16}, {1}, {0x81}}, bytes.Equal) {
		t.Errorf("numbers leave %x", got)
	}
}

// Scripts of data that nobody can spend have their lengths in as few bytes as they take.
func TestDataScript(t *testing.T) {
	for n, want := range map[int][]byte{
		0: {0x6a, 0}, 1: {0x6a, 1}, 75: {0x6a, 75}, 76: {0x6a, 0x4c, 76}, 255: {0x6a, 0x4c, 255},
		256: {0x6a, 0x4d, 0, 1}, 513: {0x6a, 0x4d, 1, 2}, 65535: {0x6a, 0x4d, 255, 255},
		65536: {0x6a, 0x4e, 0, 0, 1, 0}, 1<<24 + 2: {0x6a, 0x4e, 2, 0, 0, 1},
	} {
		data := bytes.Repeat([]byte{5}, n)
		if got := DataScript(data); !bytes.Equal(got, append(want, data...)) {
			t.Errorf("%d bytes: %.8x, want %x", n, got, want)
		}
	}
}

// The keys of a multisig script, and how many of them must sign, also where that takes a byte of its own.
func TestMultisigKeys(t *testing.T) {
	key := append([]byte{33, 2}, bytes.Repeat([]byte{1}, 32)...)
	for _, count := range [][2]int{{1, 1}, {2, 3}, {16, 16}, {16, 20}, {17, 20}, {20, 20}} {
		push := func(n int) []byte {
			if n > 16 {
				return []byte{1, byte(n)}
			}
			return []byte{byte(0x50 + n)}
		}
		script := slices.Concat(push(count[0]), bytes.Repeat(key, count[1]), push(count[1]), []byte{0xae})
		required, keys := MultisigKeys(script)
		if required != count[0] || len(keys) != count[1] || !bytes.Equal(keys[0], key[1:]) {
			t.Errorf("%v: %d of %d", count, required, len(keys))
		}
		if f, _ := formOf(script); f != bareMultisig {
			t.Errorf("%v: form %d", count, f)
		}
	}
	if required, keys := MultisigKeys(nil); required != 0 || keys != nil {
		t.Errorf("of nothing: %d, %x", required, keys)
	}
}

// Which outputs pay to the hash of a script, and of which kind.
func TestHashKinds(t *testing.T) {
	inner := []byte{txscript.OP_TRUE}
	for script, want := range map[string]HashKind{
		string(ScriptHash(inner)): LegacyHash, string(WitnessScriptHash(inner)): WitnessHash,
		string(WitnessKeyHash(make([]byte, 20))): NoHash, string(inner): NoHash, "": NoHash,
	} {
		if got := HashKindOf([]byte(script)); got != want {
			t.Errorf("%x: %d, want %d", script, got, want)
		}
	}
}

// Lock times pass as BIP65, BIP68 and BIP112 say: of the same kind, no later, and not switched off.
func TestLockTimes(t *testing.T) {
	const seconds, off, final = 1 << 22, 1 << 31, 0xffffffff
	of := func(version int32, sequence, lock uint32, by signatureMaker) *producer {
		tx := wire.NewMsgTx(version)
		tx.LockTime = lock
		tx.AddTxIn(&wire.TxIn{Sequence: sequence})
		return &producer{spending: &spending{tx: tx}, by: by}
	}
	for _, test := range []struct {
		version  int32
		sequence uint32
		n        uint32
		passes   bool
	}{
		{2, 10, 10, true},
		{2, 10, 11, false},
		{2, 10, 9, true},
		{1, 10, 10, false},
		{3, 10, 10, true},
		{-1, 10, 10, true},
		{2, off | 10, 10, false},
		{2, final, 1, false},
		{2, seconds | 10, 10, false},
		{2, 10, seconds | 10, false},
		{2, seconds | 10, seconds | 10, true},
		{2, seconds | 10, seconds | 11, false},
		{2, 0x10000, 1, false},
		{2, 0xffff, 0xffff, true},
		{2, 0, 0, true},
	} {
		if got := of(test.version, test.sequence, 0, byKeys).Older(test.n); got != test.passes {
			t.Errorf("version %d, sequence %x: older(%x) %v", test.version, test.sequence, test.n, got)
		}
	}
	for _, test := range []struct {
		lock, sequence, n uint32
		passes            bool
	}{
		{100, 0, 100, true},
		{100, 0, 101, false},
		{100, 0, 99, true},
		{100, final, 100, false},
		{100, final - 1, 100, true},
		{500_000_000, 0, 499_999_999, false},
		{499_999_999, 0, 499_999_999, true},
		{499_999_999, 0, 500_000_000, false},
		{500_000_001, 0, 500_000_000, true},
		{500_000_000, 0, 500_000_001, false},
		{500_000_000, 0, 500_000_000, true},
	} {
		if got := of(2, test.sequence, test.lock, byKeys).After(test.n); got != test.passes {
			t.Errorf("lock time %d, sequence %x: after(%d) %v", test.lock, test.sequence, test.n, got)
		}
	}
	for by, passes := range map[signatureMaker]bool{byDummy: true, byNone: false, byCount: false} {
		if p := of(1, final, 0, by); p.Older(5) != passes || p.After(5) != passes {
			t.Errorf("signatures by %d: lock times pass: %v", by, !passes)
		}
	}
}

// The fee of 1,000 bytes is rounded down, below zero too.
func TestPerKilo(t *testing.T) {
	for _, test := range [][3]int64{ // fee, size, rate
		{0, 100, 0},
		{100, 100, 1000},
		{1, 3, 333},
		{2, 3, 666},
		{-1, 3, -334},
		{-2, 3, -667},
		{-1, 1000, -1},
		{-1, 1, -1000},
		{21e14, 1, 21e17},
		{-21e14, 7, -3e17},
		{5, 0, 0},
		{5, -1, 0},
		{999, 1_000_000, 0},
		{1, 1_000, 1},
	} {
		if got := perKilo(test[0], test[1]); got != test[2] {
			t.Errorf("%d for %d bytes: %d, want %d", test[0], test[1], got, test[2])
		}
	}
}

// Leaves are in the order of their scripts, each once, with the shortest proof first.
func TestLeavesOfPackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tap tapData
		type proof struct{ script, version, control string }
		proofs := map[proof]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "proofs") {
			p := proof{
				rapid.SampledFrom([]string{"", "a", "b", "ab"}).Draw(t, "script"),
				rapid.SampledFrom([]string{"\xc0", "\xc2"}).Draw(t, "version"),
				rapid.SampledFrom([]string{"x", "y", "xx", "yxz"}).Draw(t, "control"),
			}
			proofs[p] = true
			tap.addLeaf([]byte(p.script), p.version[0], []byte(p.control))
		}
		count := 0
		for i, leaf := range tap.leaves {
			if i > 0 && (string(tap.leaves[i-1].script) > string(leaf.script) ||
				string(tap.leaves[i-1].script) == string(leaf.script) && tap.leaves[i-1].version >= leaf.version) {
				t.Errorf("leaf %d is out of order", i)
			}
			for j, control := range leaf.controls {
				count++
				if !proofs[proof{string(leaf.script), string([]byte{leaf.version}), string(control)}] {
					t.Error("a proof that nobody gave")
				}
				if j > 0 && (len(leaf.controls[j-1]) > len(control) || bytes.Equal(leaf.controls[j-1], control)) {
					t.Errorf("proof %d of leaf %d is out of order", j, i)
				}
			}
		}
		if count != len(proofs) {
			t.Errorf("%d proofs, want %d", count, len(proofs))
		}
	})
}

// A tree is written from the right to the left: the depth of each leaf, its version and its script.
func TestTreeValue(t *testing.T) {
	leaves := []descriptor.TapLeaf{
		{Script: []byte{1, 2}, ControlBlock: make([]byte, 33+32)},
		{Script: []byte{3}, ControlBlock: make([]byte, 33+64)},
		{Script: nil, ControlBlock: make([]byte, 33+64)},
	}
	if got, want := treeValue(leaves), []byte{2, 0xc0, 0, 2, 0xc0, 1, 3, 1, 0xc0, 2, 1, 2}; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// Scripts with opcodes that nobody knows, with pushes that are too long or cut off, make no sense.
func TestValidOps(t *testing.T) {
	for script, want := range map[string]bool{
		"": true, "\x51": true, "\xb9": true, "\xba": false, "\xff": false, "\x02\x01": false,
		"\x4d\x08\x02" + strings.Repeat("x", 520): true, "\x4d\x09\x02" + strings.Repeat("x", 521): false,
	} {
		if got := HasValidOps([]byte(script)); got != want {
			t.Errorf("%.8x: %v", script, got)
		}
	}
	for size, want := range map[int]bool{txscript.MaxScriptSize: true, txscript.MaxScriptSize + 1: false} {
		if got := saneScript(bytes.Repeat([]byte{txscript.OP_NOP}, size)); got != want {
			t.Errorf("%d bytes: %v", size, got)
		}
	}
}

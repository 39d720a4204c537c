package script

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// Sizes of transactions at the edges of their forms.
func TestAppendSize(t *testing.T) {
	for _, test := range []struct {
		n    int
		want []byte
	}{
		{0, []byte{0}},
		{0xfc, []byte{0xfc}},
		{0xfd, []byte{0xfd, 0xfd, 0}},
		{0xffff, []byte{0xfd, 0xff, 0xff}},
		{0x10000, []byte{0xfe, 0, 0, 1, 0}},
		{0xffffffff, []byte{0xfe, 0xff, 0xff, 0xff, 0xff}},
		{0x100000000, []byte{0xff, 0, 0, 0, 0, 1, 0, 0, 0}},
	} {
		if got := appendSize([]byte{7}, test.n); !bytes.Equal(got, append([]byte{7}, test.want...)) {
			t.Errorf("%x: %x", test.n, got)
		}
	}
}

// Of the pushes of some data exactly one is the shortest, which is also how it is
// pushed by its size, unless the data have an opcode of their own.
func TestShortestPush(t *testing.T) {
	forms := []byte{opPushData1, opPushData2, opPushData4}
	filled := func(n int, with byte) []byte { return bytes.Repeat([]byte{with}, n) }
	for _, test := range []struct {
		data []byte
		want byte // the shortest push of them; 0xff: none
	}{
		{nil, 0},
		{[]byte{0}, 1},
		{[]byte{1}, 0xff},
		{[]byte{2}, 0xff},
		{[]byte{15}, 0xff},
		{[]byte{16}, 0xff},
		{[]byte{0x81}, 0xff},
		{[]byte{17}, 1},
		{[]byte{0x80}, 1},
		{[]byte{0x82}, 1},
		{[]byte{0xff}, 1},
		{[]byte{1, 1}, 2},
		{[]byte{0x81, 0x81}, 2},
		{filled(74, 1), 74},
		{filled(75, 1), 75},
		{filled(76, 1), opPushData1},
		{filled(77, 1), opPushData1},
		{filled(254, 1), opPushData1},
		{filled(255, 1), opPushData1},
		{filled(256, 1), opPushData2},
		{filled(257, 1), opPushData2},
		{filled(520, 1), opPushData2},
		{filled(0xffff, 1), opPushData2},
	} {
		n := len(test.data)
		ops := forms
		if n < opPushData1 {
			ops = append([]byte{byte(n)}, forms...)
		}
		for _, op := range ops {
			if got := shortest(op, test.data); got != (op == test.want) {
				t.Errorf("%d bytes %.4x by %#x: shortest %t", n, test.data, op, got)
			}
		}
		pushed := appendPush(nil, test.data)
		if op, data, end, good := next(pushed, 0); !good || end != len(pushed) || !bytes.Equal(data, test.data) ||
			test.want != 0xff && op != test.want || !isPushOf(pushed, test.data) {
			t.Errorf("%d bytes %.4x are pushed by %#x", n, test.data, pushed[0])
		}
		if isPushOf(append(bytes.Clone(pushed), 0), test.data) || isPushOf(pushed, append([]byte{5}, test.data...)) ||
			isPushOf(pushed[:len(pushed)-1], test.data) {
			t.Errorf("%d bytes %.4x: something else is its push", n, test.data)
		}
	}
	large := filled(0x10000, 1)
	if pushed := appendPush(nil, large); pushed[0] != opPushData4 || !isPushOf(pushed, large) ||
		!shortest(opPushData4, large) {
		t.Errorf("64 KiB are pushed by %#x", pushed[0])
	}
}

// An output that is not known makes the taproot signatures of all other inputs
// wrong, although their outputs are known.
func TestUnknownAmongKnown(t *testing.T) {
	for missing := range 3 {
		for _, unknown := range []*wire.TxOut{nil, {Value: -1}, {Value: -1 << 40}} {
			tx, spent, _ := benchSpend(t, "p2tr", 3)
			if unknown != nil {
				unknown.PkScript = spent[missing].PkScript
			}
			spent[missing] = unknown
			s := NewSpend(tx, spent)
			for i := range spent {
				if err := s.VerifyInput(i, Standard); i != missing && !errors.Is(err, ErrSchnorrSigHashType) {
					t.Errorf("%d unknown (%v), input %d: %v", missing, unknown, i, err)
				}
			}
			if _, ok := s.TaprootSigHash(0, 0, &TapPlace{Separator: NoSeparator}); ok {
				t.Errorf("%d unknown (%v): there is a hash", missing, unknown)
			}
		}
	}
	tx, spent, _ := benchSpend(t, "p2tr", 2)
	if err := NewSpend(tx, spent[:1]).VerifyInput(0, Standard); !errors.Is(err, ErrSchnorrSigHashType) {
		t.Errorf("fewer outputs than inputs: %v", err)
	}
}

// An internal key that is no point commits to nothing, and an output commits to its
// own key, root and parity alone.
func TestCommits(t *testing.T) {
	output, control := leaf(t, []byte{op1})
	key, internal, odd := output[2:], control[1:33], control[0]&1 == 1
	root := LeafHash(leafVersion, []byte{op1})
	if !commits(key, internal, &root, odd) {
		t.Fatal("a right commitment is refused")
	}
	other := root
	other[31] ^= 1
	none := append(make([]byte, 31), 5) // no point of the curve has this x
	for name, taken := range map[string]bool{
		"parity":       commits(key, internal, &root, !odd),
		"root":         commits(key, internal, &other, odd),
		"output":       commits(internal, internal, &root, odd),
		"internal key": commits(key, key, &root, odd),
		"no point":     commits(key, none, &root, odd) || commits(none, none, &root, !odd),
	} {
		if taken {
			t.Errorf("another %s is taken", name)
		}
	}
}

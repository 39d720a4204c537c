package vm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
)

// run executes a script on a stack, lowest item first.
func run(t *testing.T, rules vm.Rules, script []byte, stack ...[]byte) error {
	t.Helper()
	tx := wire.NewMsgTx(2)
	tx.LockTime = 100
	witness := append(
		append(wire.TxWitness{}, stack...), script, p2mr.ControlBlock{Version: p2mr.ScriptVersion}.Bytes(),
	)
	tx.AddTxIn(&wire.TxIn{Sequence: 10, Witness: witness})
	tx.AddTxOut(wire.NewTxOut(1, []byte{txscript.OP_RETURN}))
	root := p2mr.NewLeaf(script).Root()
	hasher, err := p2mr.NewSigHasher(tx, []*wire.TxOut{wire.NewTxOut(1, p2mr.OutputScript(root))})
	if err != nil {
		t.Fatal(err)
	}
	spend := vm.Spend{Tx: tx, Program: root, Hasher: hasher, Rules: rules}
	return spend.Verify()
}

// A stack of numbers and what an opcode makes of it, told by a script that
// compares.
func TestOperations(t *testing.T) {
	n := func(list ...int64) [][]byte {
		items := make([][]byte, len(list))
		for i, v := range list {
			script, err := txscript.NewScriptBuilder().AddInt64(v).Script()
			if err != nil {
				t.Fatal(err)
			}
			items[i] = pushed(script)
		}
		return items
	}
	for _, test := range []struct {
		op          byte
		stack, want [][]byte
	}{
		{txscript.OP_2DROP, n(1, 2, 3), n(1)},
		{txscript.OP_2DUP, n(1, 2), n(1, 2, 1, 2)},
		{txscript.OP_3DUP, n(1, 2, 3), n(1, 2, 3, 1, 2, 3)},
		{txscript.OP_2OVER, n(1, 2, 3, 4), n(1, 2, 3, 4, 1, 2)},
		{txscript.OP_2ROT, n(1, 2, 3, 4, 5, 6), n(3, 4, 5, 6, 1, 2)},
		{txscript.OP_2SWAP, n(1, 2, 3, 4), n(3, 4, 1, 2)},
		{txscript.OP_IFDUP, n(5), n(5, 5)},
		{txscript.OP_IFDUP, n(0), n(0)},
		{txscript.OP_DEPTH, n(7, 7), n(7, 7, 2)},
		{txscript.OP_NIP, n(1, 2), n(2)},
		{txscript.OP_OVER, n(1, 2), n(1, 2, 1)},
		{txscript.OP_PICK, n(1, 2, 3, 2), n(1, 2, 3, 1)},
		{txscript.OP_ROLL, n(1, 2, 3, 2), n(2, 3, 1)},
		{txscript.OP_ROT, n(1, 2, 3), n(2, 3, 1)},
		{txscript.OP_SWAP, n(1, 2), n(2, 1)},
		{txscript.OP_TUCK, n(1, 2), n(2, 1, 2)},
		{txscript.OP_SIZE, n(1000), n(1000, 2)},
		{txscript.OP_1ADD, n(-1), n(0)},
		{txscript.OP_1SUB, n(0), n(-1)},
		{txscript.OP_NEGATE, n(300), n(-300)},
		{txscript.OP_ABS, n(-300), n(300)},
		{txscript.OP_NOT, n(0), n(1)},
		{txscript.OP_0NOTEQUAL, n(9), n(1)},
		{txscript.OP_ADD, n(250, 10), n(260)},
		{txscript.OP_SUB, n(10, 250), n(-240)},
		{txscript.OP_BOOLAND, n(1, 0), n(0)},
		{txscript.OP_BOOLOR, n(1, 0), n(1)},
		{txscript.OP_NUMEQUAL, n(4, 4), n(1)},
		{txscript.OP_NUMNOTEQUAL, n(4, 4), n(0)},
		{txscript.OP_LESSTHAN, n(1, 2), n(1)},
		{txscript.OP_GREATERTHAN, n(1, 2), n(0)},
		{txscript.OP_LESSTHANOREQUAL, n(2, 2), n(1)},
		{txscript.OP_GREATERTHANOREQUAL, n(1, 2), n(0)},
		{txscript.OP_MIN, n(-1, 2), n(-1)},
		{txscript.OP_MAX, n(-1, 2), n(2)},
		{txscript.OP_WITHIN, n(2, 2, 3), n(1)},
		{txscript.OP_WITHIN, n(3, 2, 3), n(0)},
		{txscript.OP_EQUAL, n(3, 3), n(1)},
	} {
		b := txscript.NewScriptBuilder().AddOp(test.op)
		for i := len(test.want) - 1; i >= 0; i-- {
			b.AddData(test.want[i]).AddOp(txscript.OP_EQUALVERIFY)
		}
		script, err := b.AddOp(txscript.OP_DEPTH).AddOp(txscript.OP_NOT).Script()
		if err != nil {
			t.Fatal(err)
		}
		if err := run(t, vm.Rules{}, script, test.stack...); err != nil {
			t.Errorf("opcode %x on %x: %v, want %x", test.op, test.stack, err, test.want)
		}
		if len(test.stack) > 0 && test.op != txscript.OP_DEPTH {
			if err := run(t, vm.Rules{}, []byte{test.op}); !errors.Is(err, vm.ErrStackOperation) {
				t.Errorf("opcode %x on nothing: %v", test.op, err)
			}
		}
	}
}

// pushed is what a script of one push leaves.
func pushed(script []byte) []byte {
	switch op := script[0]; {
	case op == txscript.OP_1NEGATE:
		return []byte{0x81}
	case op >= txscript.OP_1 && op <= txscript.OP_16:
		return []byte{op - txscript.OP_1 + 1}
	}
	return script[1:]
}

func TestScripts(t *testing.T) {
	lock := func(n uint32, op byte) []byte {
		b := binary.LittleEndian.AppendUint32(nil, n)
		return append(append([]byte{4}, b...), op, txscript.OP_DROP, txscript.OP_1)
	}
	policy := vm.Rules{Policy: true}
	for _, test := range []struct {
		name   string
		rules  vm.Rules
		script []byte
		stack  [][]byte
		want   error
	}{
		{"condition", vm.Rules{}, []byte{0x63, 0x00, 0x67, 0x51, 0x68}, [][]byte{nil}, nil},
		{"nested", vm.Rules{}, []byte{0x00, 0x63, 0x63, 0xff, 0x67, 0xff, 0x68, 0x67, 0x51, 0x68}, nil, nil},
		{"not", vm.Rules{}, []byte{0x64, 0x51, 0x68}, [][]byte{nil}, nil},
		{"long condition", vm.Rules{}, []byte{0x63, 0x51, 0x68}, [][]byte{{2}}, vm.ErrMinimalIf},
		{"open", vm.Rules{}, []byte{0x51, 0x51, 0x63}, nil, vm.ErrConditional},
		{"else alone", vm.Rules{}, []byte{0x67}, nil, vm.ErrConditional},
		{"end alone", vm.Rules{}, []byte{0x68}, nil, vm.ErrConditional},
		{"unexecuted OP_VERIF", vm.Rules{}, []byte{0x00, 0x63, 0x65, 0x68, 0x51}, nil, vm.ErrBadOpcode},
		{"alternative stack", vm.Rules{}, []byte{0x51, 0x6b, 0x6c}, nil, nil},
		{"alternative stack empty", vm.Rules{}, []byte{0x6c}, nil, vm.ErrAltStack},
		{"verify", vm.Rules{}, []byte{0x00, 0x69}, nil, vm.ErrVerify},
		{"equal", vm.Rules{}, []byte{0x51, 0x52, 0x88}, nil, vm.ErrEqualVerify},
		{"numbers equal", vm.Rules{}, []byte{0x51, 0x52, 0x9d}, nil, vm.ErrNumEqualVerify},
		{"long number", vm.Rules{}, []byte{0x8b}, [][]byte{{1, 2, 3, 4, 5}}, vm.ErrNumber},
		{"padded number", policy, []byte{0x8b}, [][]byte{{1, 0}}, vm.ErrNumber},
		{"padded number in a block", vm.Rules{}, []byte{0x8b}, [][]byte{{1, 0}}, nil},
		{"long push", policy, []byte{1, 5}, nil, vm.ErrMinimalData},
		{"spare NOP", policy, []byte{0x51, 0xb0}, nil, vm.ErrUpgradableNOP},
		{"spare NOP in a block", vm.Rules{}, []byte{0x51, 0xb0}, nil, nil},
		{"success", vm.Rules{}, []byte{0x50, 0xff}, nil, nil},
		{"success in a mempool", policy, []byte{0x50}, nil, vm.ErrUpgradableSuccess},
		{"lock time", vm.Rules{}, lock(100, 0xb1), nil, nil},
		{"lock time not over", vm.Rules{}, lock(101, 0xb1), nil, vm.ErrLockTime},
		{"lock time of another kind", vm.Rules{}, lock(500_000_000, 0xb1), nil, vm.ErrLockTime},
		{"negative lock time", vm.Rules{}, []byte{0x4f, 0xb1}, nil, vm.ErrNegativeLockTime},
		{"lock time without the rule", vm.Rules{NoCheckLock: true}, lock(101, 0xb1), nil, nil},
		{"sequence", vm.Rules{}, lock(10, 0xb2), nil, nil},
		{"sequence not over", vm.Rules{}, lock(11, 0xb2), nil, vm.ErrLockTime},
		{"sequence disabled", vm.Rules{}, []byte{5, 0, 0, 0, 0x80, 0, 0xb2}, nil, nil},
		{"sequence without the rule", vm.Rules{NoCheckSeq: true}, lock(11, 0xb2), nil, nil},
		{"hashes", vm.Rules{}, []byte{0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0x82, 0x01, 0x20, 0x88}, [][]byte{{1}}, nil},
		{"too deep", vm.Rules{}, []byte{0x79}, [][]byte{{1}, {1}}, vm.ErrStackOperation},
		{"growing stack", vm.Rules{}, bytes.Repeat([]byte{0x51}, 1001), nil, vm.ErrStackSize},
		{"template", vm.Rules{}, []byte{0xbb}, [][]byte{make([]byte, 32)}, vm.ErrTemplate},
		{"template of another size", vm.Rules{}, []byte{0xbb}, [][]byte{{1}}, nil},
		{"template of another size in a mempool", policy, []byte{0xbb}, [][]byte{{1}}, vm.ErrUpgradableSuccess},
	} {
		err := run(t, test.rules, test.script, test.stack...)
		if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

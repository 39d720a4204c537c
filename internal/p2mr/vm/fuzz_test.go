package vm_test

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
)

// FuzzScript executes any script on any stack.
func FuzzScript(f *testing.F) {
	f.Add([]byte{0x51}, []byte{}, []byte{}, false)
	f.Add([]byte{0x63, 0x51, 0x67, 0x00, 0x68}, []byte{1}, []byte{}, true)
	f.Add([]byte{0x93, 0x5a, 0x9c, 0x69, 0x74, 0x91}, []byte{4}, []byte{6}, false)
	f.Add([]byte{0x76, 0x7c, 0x7a, 0xb1, 0xb2, 0xbb, 0xa5}, []byte{0x81}, []byte{1, 2, 3, 4, 5}, true)
	f.Fuzz(func(t *testing.T, script, low, high []byte, policy bool) {
		tree := p2mr.NewLeaf(script)
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{Witness: wire.TxWitness{
			low, high, script, p2mr.ControlBlock{Version: p2mr.ScriptVersion}.Bytes(),
		}})
		tx.AddTxOut(wire.NewTxOut(1, script))
		verify(t, tx, tree.Root(), policy)
	})
}

// FuzzWitness verifies any witness.
func FuzzWitness(f *testing.F) {
	root := p2mr.NewLeaf([]byte{0x51}).Root()
	f.Add([]byte{0x51}, []byte{0xc1}, []byte{}, false)
	f.Add([]byte{0x51}, make([]byte, 33), []byte{0x50, 1}, true)
	f.Fuzz(func(t *testing.T, script, control, annex []byte, policy bool) {
		tx := wire.NewMsgTx(1)
		tx.AddTxIn(&wire.TxIn{Witness: wire.TxWitness{script, control, annex}})
		verify(t, tx, root, policy)
	})
}

// verify makes sure that the answer is one of the known ones.
func verify(t *testing.T, tx *wire.MsgTx, root p2mr.Hash, policy bool) {
	t.Helper()
	hasher, err := p2mr.NewSigHasher(tx, []*wire.TxOut{wire.NewTxOut(1, p2mr.OutputScript(root))})
	if err != nil {
		t.Fatal(err)
	}
	spend := vm.Spend{Tx: tx, Program: root, Hasher: hasher, Rules: vm.Rules{Policy: policy}}
	err = spend.Verify()
	var known vm.Error
	if err != nil && (!errors.As(err, &known) || known == "") {
		t.Errorf("unknown error %v", err)
	}
	if again := spend.Verify(); !errors.Is(again, err) && err != nil {
		t.Errorf("%v, then %v", err, again)
	}
}

package rawtx_test

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// pqcKeys are private keys of P2MR.
var pqcKeys = sync.OnceValue(func() (all []*slhdsa.PrivateKey) {
	var entropies [][]byte
	for i := range byte(4) {
		entropies = append(entropies, bytes.Repeat([]byte{i + 1}, slhdsa.EntropySize))
	}
	all, err := slhdsa.GenerateKeys(context.Background(), entropies)
	if err != nil {
		panic(err)
	}
	return all
})

// pqcTree is an output with three leaves: of key 0, of keys 1 to 3, two of which
// must sign, and one of a form that cannot be signed.
type pqcTree struct {
	pkScript []byte
	leaves   []p2mr.Leaf
}

func newPQCTree(tb testing.TB) *pqcTree {
	tb.Helper()
	k := pqcKeys()
	multi := p2mr.MultiScript(2, []slhdsa.PublicKey{k[1].Public(), k[2].Public(), k[3].Public()})
	inner, err := p2mr.NewBranch(p2mr.NewLeaf(multi), p2mr.NewLeaf([]byte{txscript.OP_TRUE}))
	if err != nil {
		tb.Fatal(err)
	}
	tree, err := p2mr.NewBranch(p2mr.NewLeaf(p2mr.KeyScript(k[0].Public())), inner)
	if err != nil {
		tb.Fatal(err)
	}
	return &pqcTree{p2mr.OutputScript(tree.Root()), tree.Leaves()}
}

// signing is a transaction with inputs that spend the tree, one output, and
// private keys.
func (o *pqcTree) signing(tb testing.TB, inputs int, numbers ...int) *rawtx.Signing {
	tb.Helper()
	s := &rawtx.Signing{
		Tx: wire.NewMsgTx(2), Coins: make(map[wire.OutPoint]*wire.TxOut), HashType: txscript.SigHashDefault,
		UnknownAmount: unknownAmount, P2MR: rawtx.NewP2MR(),
	}
	for i := range inputs {
		at := wire.OutPoint{Index: uint32(i)}
		s.Tx.AddTxIn(wire.NewTxIn(&at, nil, nil))
		s.Coins[at] = wire.NewTxOut(1000, o.pkScript)
	}
	s.Tx.AddTxOut(wire.NewTxOut(900, o.pkScript))
	for _, leaf := range o.leaves {
		if !s.P2MR.Add(o.pkScript, leaf.Script, leaf.Control.Bytes()) {
			tb.Fatal("a leaf is none")
		}
	}
	for _, n := range numbers {
		s.P2MR.Keys[pqcKeys()[n].Public()] = pqcKeys()[n]
	}
	s.P2MR.Has = func(public slhdsa.PublicKey) bool { return s.P2MR.Keys[public] != nil }
	return s
}

// count reserves the signatures that a transaction takes, and returns how many.
func count(tb testing.TB, s *rawtx.Signing) (sum uint32) {
	tb.Helper()
	var uses []slhdsa.Use
	for key, more := range s.PlanP2MR() {
		uses = append(uses, slhdsa.Use{Key: key, More: more})
		sum += more
	}
	var err error
	s.P2MR.Reserved, err = slhdsa.Reserve(uses, func([]slhdsa.Use) error { return nil })
	if err != nil {
		tb.Fatal(err)
	}
	return sum
}

// Inputs are signed one after the other where that was asked for.
func TestSignThreads(t *testing.T) {
	s := newPQCTree(t).signing(t, 6, 0)
	count(t, s)
	var at, most atomic.Int32
	s.P2MR.Has = func(public slhdsa.PublicKey) bool {
		n := at.Add(1)
		defer at.Add(-1)
		most.Store(max(n, most.Load()))
		for range 100 { // the others get on
			runtime.Gosched()
		}
		return s.P2MR.Keys[public] != nil
	}
	s.Threads = 1
	if failed, err := rawtx.Sign(t.Context(), s); err != nil || len(failed) > 0 || most.Load() != 1 {
		t.Errorf("%v, %v, %d at once", failed, err, most.Load())
	}
}

// TestSignP2MR signs with the leaf that takes the least, in every way of hashing.
func TestSignP2MR(t *testing.T) {
	const (
		all, none   = txscript.SigHashAll, txscript.SigHashNone
		single, any = txscript.SigHashSingle, txscript.SigHashAnyOneCanPay
	)
	empty := []string{"Witness program was passed an empty witness"}
	tree := newPQCTree(t)
	for name, test := range map[string]struct {
		keys     []int
		hashType txscript.SigHashType
		inputs   int
		count    uint32
		items    int // of the witness of the last input
		faults   []string
	}{
		"one key":              {[]int{0}, txscript.SigHashDefault, 1, 1, 3, nil},
		"all keys":             {[]int{0, 1, 2, 3}, txscript.SigHashDefault, 1, 1, 3, nil},
		"two of three":         {[]int{1, 3}, all, 1, 2, 5, nil},
		"one of three":         {[]int{2}, all, 1, 0, 0, empty},
		"no key":               {nil, all, 1, 0, 0, empty},
		"two inputs":           {[]int{0}, none, 2, 2, 3, nil},
		"no output for one":    {[]int{0}, single, 2, 1, 0, empty},
		"no output for one ()": {[]int{0}, single | any, 2, 1, 0, empty},
		"others may come":      {[]int{0}, all | any, 2, 2, 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tree.signing(t, test.inputs, test.keys...)
			s.HashType = test.hashType
			if got := count(t, s); got != test.count {
				t.Errorf("takes %d signatures, want %d", got, test.count)
			}
			failed, err := rawtx.Sign(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			var faults []string
			for _, f := range failed {
				faults = append(faults, f.Err.Error())
			}
			if !slices.Equal(faults, test.faults) {
				t.Errorf("got %q, want %q", faults, test.faults)
			}
			if got := len(s.Tx.TxIn[test.inputs-1].Witness); got != test.items {
				t.Errorf("%d items, want %d", got, test.items)
			}
			if again := count(t, s); again != 0 {
				t.Errorf("takes %d signatures more", again)
			}
		})
	}
}

// Nothing is signed that was not counted before.
func TestUncountedP2MR(t *testing.T) {
	s := newPQCTree(t).signing(t, 1, 0)
	failed, err := rawtx.Sign(t.Context(), s)
	if err != nil || len(failed) != 1 || s.Tx.TxIn[0].Witness != nil {
		t.Errorf("%v, %v, witness of %d items", err, failed, len(s.Tx.TxIn[0].Witness))
	}
}

// A leaf must be of the output's tree.
func TestForeignLeaf(t *testing.T) {
	tree := newPQCTree(t)
	known := rawtx.NewP2MR()
	leaf := tree.leaves[0]
	for name, try := range map[string][3][]byte{
		"script":  {tree.pkScript, []byte{txscript.OP_TRUE}, leaf.Control.Bytes()},
		"path":    {tree.pkScript, leaf.Script, leaf.Control.Bytes()[:1]},
		"control": {tree.pkScript, leaf.Script, nil},
		"output":  {leaf.Script, leaf.Script, leaf.Control.Bytes()},
	} {
		if known.Add(try[0], try[1], try[2]) {
			t.Errorf("another %s is taken", name)
		}
	}
}

// Combining keeps what is complete, and other networks do not know P2MR.
func TestCombineP2MR(t *testing.T) {
	tree := newPQCTree(t)
	s := tree.signing(t, 1, 0)
	count(t, s)
	unsigned := s.Tx.Copy()
	if _, err := rawtx.Sign(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := s.Combine(t.Context(), []*wire.MsgTx{unsigned, s.Tx}); err != nil {
		t.Fatal(err)
	}
	if len(unsigned.TxIn[0].Witness) != 3 {
		t.Error("the witness is lost")
	}
	broken := s.Tx.Copy()
	broken.TxIn[0].Witness[0][7] ^= 1
	broken.TxIn[0].Witness = slices.Clone(broken.TxIn[0].Witness)
	again := tree.signing(t, 1)
	again.Tx = broken
	failed, err := rawtx.Sign(t.Context(), again)
	if err != nil || len(failed) != 1 {
		t.Errorf("a wrong signature: %v, %v", failed, err)
	}
}

func BenchmarkSignP2MR(b *testing.B) {
	tree := newPQCTree(b)
	for b.Loop() {
		s := tree.signing(b, 1, 0)
		count(b, s)
		if failed, err := rawtx.Sign(b.Context(), s); err != nil || len(failed) > 0 {
			b.Fatal(failed, err)
		}
	}
}

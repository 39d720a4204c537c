package sync

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/poolview"
)

// The root of any list of transactions is btcd's; another list has the same root exactly where two neighbours of a
// level are equal (CVE-2012-2459).
func TestMerkleRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "transactions")
		var txs []*btcutil.Tx
		var ids []chainhash.Hash
		for i := range n {
			if i > 0 && rapid.IntRange(0, 5).Draw(t, "repeated") == 0 {
				i--
			}
			tx := wire.NewMsgTx(int32(i))
			txs, ids = append(txs, btcutil.NewTx(tx)), append(ids, tx.TxHash())
		}
		root, ambiguous := merkleRoot(slices.Clone(ids))
		if want := blockchain.CalcMerkleRoot(txs, false); root != want {
			t.Errorf("%d transactions: %v, want %v", n, root, want)
		}
		if want := repeats(ids); ambiguous != want {
			t.Errorf("%d transactions: ambiguous %v, want %v", n, ambiguous, want)
		}
	})
}

// repeats reports whether a pair of a level of the tree is equal before it is made even.
func repeats(level []chainhash.Hash) bool {
	if len(level) < 2 {
		return false
	}
	var next []chainhash.Hash
	for i := 0; i < len(level); i += 2 {
		left, right := level[i], level[min(i+1, len(level)-1)]
		if i+1 < len(level) && left == right {
			return true
		}
		next = append(next, chainhash.DoubleHashH(append(left[:], right[:]...)))
	}
	return repeats(next)
}

// A block belongs to its header where the root is right and the witnesses are those that the coinbase commits to.
func TestBelongs(t *testing.T) {
	nonce := make([]byte, 32)
	nonce[5] = 7
	coinbase := func(outputs ...[]byte) *wire.MsgTx {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{
			PreviousOutPoint: wire.OutPoint{Index: 0xffffffff}, SignatureScript: []byte{1, 2},
			Witness: wire.TxWitness{nonce},
		})
		for _, script := range outputs {
			tx.AddTxOut(wire.NewTxOut(1, script))
		}
		return tx
	}
	spend := wire.NewMsgTx(2)
	spend.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{1}}, Witness: wire.TxWitness{{9}}})
	spend.AddTxOut(wire.NewTxOut(1, nil))
	plain := spend.Copy()
	plain.TxIn[0].Witness = nil
	commitment := func(txs ...*wire.MsgTx) []byte {
		ids := []chainhash.Hash{{}}
		for _, tx := range txs {
			ids = append(ids, tx.WitnessHash())
		}
		root, _ := merkleRoot(ids)
		sum := chainhash.DoubleHashB(append(root[:], nonce...))
		return append([]byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}, sum...)
	}
	right, wrong, thrice := commitment(spend), commitment(plain, plain), commitment(spend, spend, spend)
	longer, cut := append(slices.Clone(right), 5), right[:37]
	without := coinbase(right)
	without.TxIn[0].Witness = nil
	short := coinbase(right)
	short.TxIn[0].Witness = wire.TxWitness{nonce[:31]}
	twice := coinbase(right)
	twice.TxIn[0].Witness = wire.TxWitness{nonce, nonce}
	bare := coinbase()
	bare.TxIn[0].Witness = nil
	stripped := coinbase(right)
	stripped.TxIn[0].Witness = nil
	// No coinbase, and 64 bytes without its witness: version, input with a script of 4 bytes, output, lock time.
	sixtyFour := wire.NewMsgTx(2)
	sixtyFour.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{1}}, make([]byte, 4), nil))
	sixtyFour.AddTxOut(wire.NewTxOut(1, nil))
	if sixtyFour.SerializeSizeStripped() != 64 {
		t.Fatalf("%d bytes", sixtyFour.SerializeSizeStripped())
	}
	for name, test := range map[string]struct {
		txs           []*wire.MsgTx
		segwit, other bool // the header has another root
		want          bool
	}{
		"no transactions":                   {nil, true, false, false},
		"right":                             {[]*wire.MsgTx{coinbase(right), spend}, true, false, true},
		"another root":                      {[]*wire.MsgTx{coinbase(right), spend}, true, true, false},
		"a transaction twice":               {[]*wire.MsgTx{coinbase(thrice), spend, spend, spend}, true, false, false},
		"another commitment":                {[]*wire.MsgTx{coinbase(wrong), spend}, true, false, false},
		"the last commitment counts":        {[]*wire.MsgTx{coinbase(wrong, right, cut), spend}, true, false, true},
		"the last commitment is wrong":      {[]*wire.MsgTx{coinbase(right, wrong), spend}, true, false, false},
		"a commitment with more behind it":  {[]*wire.MsgTx{coinbase(longer), spend}, true, false, true},
		"no nonce":                          {[]*wire.MsgTx{without, spend}, true, false, false},
		"a short nonce":                     {[]*wire.MsgTx{short, spend}, true, false, false},
		"two nonces":                        {[]*wire.MsgTx{twice, spend}, true, false, false},
		"a witness without commitment":      {[]*wire.MsgTx{bare, spend}, true, false, false},
		"no witness, no commitment":         {[]*wire.MsgTx{bare, plain}, true, false, true},
		"a witness before segwit":           {[]*wire.MsgTx{coinbase(right), spend}, false, false, false},
		"none before segwit":                {[]*wire.MsgTx{stripped, plain}, false, false, true},
		"no coinbase":                       {[]*wire.MsgTx{spend, bare}, true, false, true},
		"no coinbase, and 64 bytes":         {[]*wire.MsgTx{spend, sixtyFour}, true, false, false},
		"a coinbase, and 64 bytes after it": {[]*wire.MsgTx{bare, sixtyFour}, true, false, true},
	} {
		block := &wire.MsgBlock{Transactions: test.txs}
		var ids []chainhash.Hash
		for _, tx := range test.txs {
			ids = append(ids, tx.TxHash())
		}
		if len(ids) > 0 {
			block.Header.MerkleRoot, _ = merkleRoot(ids)
		}
		if test.other {
			block.Header.MerkleRoot[3] ^= 1
		}
		if got := belongs(block, test.segwit); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// How a compact block is read: places of its transactions, and what no honest peer sends.
func TestPartial(t *testing.T) {
	var txs []*wire.MsgTx
	for i := range 4 {
		tx := wire.NewMsgTx(int32(i))
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(i)}})
		tx.AddTxOut(wire.NewTxOut(int64(i), nil))
		txs = append(txs, tx)
	}
	full := codec.NewCmpctBlock(&wire.MsgBlock{Transactions: txs}, nil) // the first is there, the others by their ids
	pool := func(numbers ...int) func(yield func(*poolview.Tx) bool) {
		return func(yield func(*poolview.Tx) bool) {
			for _, n := range numbers {
				if !yield(&poolview.Tx{Tx: txs[n], WID: txs[n].WitnessHash()}) {
					return
				}
			}
		}
	}
	for name, test := range map[string]struct {
		change  func(m *codec.CmpctBlock)
		pool    []int
		fault   compactFault
		missing []uint16
	}{
		"nothing in the pool": {nil, nil, compactFine, []uint16{1, 2, 3}},
		"some":                {nil, []int{2}, compactFine, []uint16{1, 3}},
		"all":                 {nil, []int{3, 1, 2}, compactFine, nil},
		"one of them twice":   {nil, []int{3, 1, 2, 2}, compactFine, []uint16{2}},
		"one thrice":          {nil, []int{2, 2, 2}, compactFine, []uint16{1, 2, 3}},
		"no transactions": {
			func(m *codec.CmpctBlock) { m.ShortIDs, m.Prefilled = nil, nil }, nil, compactInvalid, nil,
		},
		"a place behind the last": {func(m *codec.CmpctBlock) { m.Prefilled[0].Index = 4 }, nil, compactInvalid, nil},
		"the last place": {
			func(m *codec.CmpctBlock) { m.Prefilled[0].Index = 3 }, nil, compactFine, []uint16{0, 1, 2},
		},
		"an id twice": {
			func(m *codec.CmpctBlock) { m.ShortIDs[1] = m.ShortIDs[2] }, nil, compactUnclear, nil,
		},
		"more than a block holds": {
			func(m *codec.CmpctBlock) { m.ShortIDs = make([]codec.ShortID, maxBlockTxs) }, nil, compactInvalid, nil,
		},
	} {
		m := *full
		m.ShortIDs, m.Prefilled = slices.Clone(m.ShortIDs), slices.Clone(m.Prefilled)
		if test.change != nil {
			test.change(&m)
		}
		p, fault := newPartial(&m, pool(test.pool...))
		if fault != test.fault {
			t.Errorf("%s: fault %d, want %d", name, fault, test.fault)
			continue
		}
		if fault == compactFine && !slices.Equal(p.missing(), test.missing) {
			t.Errorf("%s: missing %v, want %v", name, p.missing(), test.missing)
		}
	}
	for given, want := range map[int]compactFault{1: compactInvalid, 2: compactUnclear, 3: compactInvalid} {
		p, _ := newPartial(full, pool(2))
		_, fault := p.complete(slices.Repeat(txs[1:2], given), true)
		if fault != want || p.spent != (want == compactUnclear) {
			t.Errorf("%d transactions given for two: fault %d, want %d", given, fault, want)
		}
	}
}

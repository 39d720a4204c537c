package chainstate_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/messages"
)

// read serializes a block of transactions and reads them as an engine does.
func read(tb testing.TB, txs []*wire.MsgTx) *consensus.Txs {
	tb.Helper()
	var raw bytes.Buffer
	_ = wire.WriteVarInt(&raw, 0, uint64(len(txs))) // to memory
	for _, tx := range txs {
		_ = tx.Serialize(&raw)
	}
	list, _, err := consensus.ReadTxs(raw.Bytes(), 0)
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

func regtest(tb testing.TB) *dialect.Network {
	tb.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		tb.Fatal(err)
	}
	return net
}

// txWithWitness spends something that shows a witness.
func txWithWitness() *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{1}}, Witness: wire.TxWitness{{1}}})
	tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
	return tx
}

// The commitment of a made block is right, and whatever is changed in it is noticed.
func TestCommitWitnesses(t *testing.T) {
	net := regtest(t)
	for _, test := range []struct {
		name   string
		active bool
		change func(coinbase *wire.MsgTx)
		want   string
	}{
		{"right", true, nil, ""},
		{"not active", false, nil, "unexpected-witness"},
		{"no nonce", true, func(c *wire.MsgTx) { c.TxIn[0].Witness = nil }, "bad-witness-nonce-size"},
		{"short nonce", true, func(c *wire.MsgTx) {
			c.TxIn[0].Witness = wire.TxWitness{make([]byte, 31)}
		}, "bad-witness-nonce-size"},
		{"two nonces", true, func(c *wire.MsgTx) {
			c.TxIn[0].Witness = append(c.TxIn[0].Witness, make([]byte, 32))
		}, "bad-witness-nonce-size"},
		{"other nonce", true, func(c *wire.MsgTx) { c.TxIn[0].Witness[0][0] = 1 }, "bad-witness-merkle-match"},
		{"other root", true, func(c *wire.MsgTx) { c.TxOut[1].PkScript[37] ^= 1 }, "bad-witness-merkle-match"},
		{"a byte short", true, func(c *wire.MsgTx) {
			c.TxOut[1].PkScript = c.TxOut[1].PkScript[:37]
		}, "unexpected-witness"},
		{"a byte more", true, func(c *wire.MsgTx) { c.TxOut[1].PkScript = append(c.TxOut[1].PkScript, 0) }, ""},
		{"the last of two counts", true, func(c *wire.MsgTx) {
			c.AddTxOut(wire.NewTxOut(0, append(consensus.WitnessMagic[:], make([]byte, 32)...)))
		}, "bad-witness-merkle-match"},
	} {
		txs := []*wire.MsgTx{chainstate.NewCoinbase(net, 200, []byte{0x51}, 7), txWithWitness()}
		chainstate.CommitWitnesses(txs, test.active)
		if test.change != nil {
			test.change(txs[0])
		}
		got := ""
		if v := read(t, txs).CheckWitnesses(test.active); v != nil {
			got = v.Reason
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got != "" && !consensus.MayBeMalleated(got) {
			t.Errorf("%s: the witnesses are not covered by the header, but it is said to be final", test.name)
		}
	}
	if consensus.MayBeMalleated("bad-cb-height") {
		t.Error("a height may be malleated")
	}
}

func TestFillWitnessNonce(t *testing.T) {
	net := regtest(t)
	made := func() []*wire.MsgTx {
		txs := []*wire.MsgTx{chainstate.NewCoinbase(net, 1, []byte{0x51}, 0)}
		chainstate.CommitWitnesses(txs, true)
		return txs
	}
	without := made()
	without[0].TxIn[0].Witness = nil
	if !chainstate.FillWitnessNonce(without[0]) || read(t, without).CheckWitnesses(true) != nil {
		t.Error("the nonce is not filled in")
	}
	if chainstate.FillWitnessNonce(made()[0]) {
		t.Error("a nonce that is there is filled in")
	}
	plain := chainstate.NewCoinbase(net, 1, []byte{0x51}, 0)
	if chainstate.FillWitnessNonce(plain) || plain.HasWitness() {
		t.Error("a nonce without a commitment")
	}
	if chainstate.FillWitnessNonce(new(wire.MsgTx)) {
		t.Error("a nonce without an input")
	}
}

func TestCoinbase(t *testing.T) {
	net := regtest(t)
	for _, test := range []struct {
		height int32
		value  int64
		script []byte
	}{{1, 50e8 + 3, []byte{0x51, 0}}, {149, 50e8 + 3, []byte{2, 149, 0, 0}}, {150, 25e8 + 3, []byte{2, 150, 0, 0}}} {
		tx := chainstate.NewCoinbase(net, test.height, []byte{0x51}, 3)
		if tx.TxOut[0].Value != test.value || !bytes.Equal(tx.TxIn[0].SignatureScript, test.script) {
			t.Errorf("at height %d: pays %d, script %x", test.height, tx.TxOut[0].Value, tx.TxIn[0].SignatureScript)
		}
		if v := net.Rules.CheckTx(tx); v != nil || !consensus.IsCoinbase(tx) || tx.LockTime != uint32(test.height-1) {
			t.Errorf("at height %d: %v", test.height, v)
		}
	}
}

// The last of the tries does not count, and a call that is over ends the search.
func TestSolve(t *testing.T) {
	find := func(tries uint64, bits uint32) (wire.BlockHeader, uint64, bool) {
		header := wire.BlockHeader{Version: 4, Timestamp: time.Unix(1e9, 0), Bits: bits}
		found := chainstate.Solve(context.Background(), &header, &tries)
		return header, tries, found
	}
	header, left, found := find(1000, 0x200fffff)
	hash := header.BlockHash()
	if !found || !consensus.MeetsTarget(&hash, header.Bits, consensus.TargetOf(header.Bits)) || header.Nonce == 0 {
		t.Fatalf("%v with nonce %d", found, header.Nonce)
	}
	used := 1000 - left
	if used != uint64(header.Nonce) {
		t.Errorf("%d tries for nonce %d", used, header.Nonce)
	}
	if _, left, found = find(used, 0x200fffff); found || left != 0 {
		t.Error("the last try counts")
	}
	if _, _, found = find(used+1, 0x200fffff); !found {
		t.Error("the one before the last does not count")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tries := uint64(1000)
	impossible := wire.BlockHeader{Bits: 0x03000001}
	if chainstate.Solve(ctx, &impossible, &tries) || tries != 1000 {
		t.Errorf("%d tries are left", tries)
	}
}

func TestParseTxs(t *testing.T) {
	var raw bytes.Buffer
	_ = txWithWitness().Serialize(&raw) // to memory
	txs, err := chainstate.ParseBlockTxs([][]byte{raw.Bytes()})
	if err != nil || len(txs) != 1 || txs[0].TxHash() != txWithWitness().TxHash() {
		t.Errorf("%d transactions, %v", len(txs), err)
	}
	if root := chainstate.MerkleRoot(txs); root != txs[0].TxHash() {
		t.Errorf("root %v", root)
	}
	var rejected *messages.RejectError
	if _, err := chainstate.ParseBlockTxs([][]byte{raw.Bytes()[:9]}); !errors.As(err, &rejected) || rejected.Reason != "bad-tx" {
		t.Errorf("got %v", err)
	}
}

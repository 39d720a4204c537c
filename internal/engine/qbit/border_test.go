package qbit

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
)

// pad adds an output that nobody can spend, so that the coinbase grows.
func pad(b *block, script []byte) {
	coinbase := b.txs[0].MsgTx()
	coinbase.TxOut = slices.Insert(coinbase.TxOut, 1, wire.NewTxOut(0, append([]byte{txscript.OP_RETURN}, script...)))
	b.txs[0] = btcutil.NewTx(coinbase)
}

// grow pads a block to a size, of which its witnesses may be a part.
func grow(tb testing.TB, size int) func(*block) {
	tb.Helper()
	return func(b *block) {
		pad(b, make([]byte, size/2))
		now := len(b.serialize())
		coinbase := b.txs[0].MsgTx()
		coinbase.TxOut[1].PkScript = append(coinbase.TxOut[1].PkScript, make([]byte, size-now)...)
		b.txs[0] = btcutil.NewTx(coinbase)
		if now = len(b.serialize()); now != size {
			tb.Fatalf("%d bytes, not %d", now, size)
		}
	}
}

// bare takes the commitment and the witnesses out.
func bare(then func(*block)) func(*block) {
	return func(b *block) {
		coinbase := b.txs[0].MsgTx()
		coinbase.TxIn[0].Witness, coinbase.TxOut = nil, coinbase.TxOut[:1]
		b.txs[0] = btcutil.NewTx(coinbase)
		then(b)
	}
}

// merged makes a block merge-mined, with the simplest payload; it is to be the last
// change.
func merged(then func(*block)) func(*block) {
	return func(b *block) {
		b.Version = 0x20000100 | 31430<<13
		b.Payload = make([]byte, len(payloadFor(chainhash.Hash{}, b.Bits))) // right when the rest is
		then(b)
		b.MerkleRoot = b.root()
		b.Payload = payloadFor(b.BlockHash(), b.Bits)
	}
}

// payloadFor proves work for a block by a parent that was mined for it alone.
func payloadFor(hash chainhash.Hash, bits uint32) []byte {
	slices.Reverse(hash[:])
	coinbase := wire.NewMsgTx(1)
	script := slices.Concat([]byte{44, 0xfa, 0xbe, 'm', 'm'}, hash[:], []byte{1, 0, 0, 0, 7, 0, 0, 0})
	coinbase.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: script})
	coinbase.AddTxOut(wire.NewTxOut(0, []byte{txscript.OP_TRUE}))
	parent := wire.BlockHeader{Version: 1, MerkleRoot: coinbase.TxHash(), Timestamp: time.Unix(1, 0), Bits: bits}
	var raw bytes.Buffer
	_ = coinbase.SerializeNoWitness(&raw)
	raw.Write(make([]byte, 1+4+1+4)) // no branches
	for {
		hash := parent.BlockHash()
		if hash[chainhash.HashSize-1] < 0x7f {
			break
		}
		parent.Nonce++
	}
	_ = parent.Serialize(&raw)
	return raw.Bytes()
}

// TestBorders tries both sides of the limits on sizes and signature operations.
func TestBorders(t *testing.T) {
	t.Parallel()
	const limit = 2_000_000
	checkSigs := func(n int) func(*block) {
		return func(b *block) { pad(b, bytes.Repeat([]byte{txscript.OP_CHECKSIG}, n)) }
	}
	multiSigs := func(n int) func(*block) {
		return func(b *block) { pad(b, bytes.Repeat([]byte{txscript.OP_CHECKMULTISIG}, n)) }
	}
	e := fresh(t, dialect.Choices{})
	b := &builder{tb: t, e: e}
	at := b.chain(e.tree.Active().Tip(), 3)
	for _, test := range []struct {
		name   string
		change func(*block)
		want   string
	}{
		{"80000 signatures", checkSigs(80_000), ""},
		{"80001 signatures", checkSigs(80_001), "bad-blk-sigops"},
		{"4000 multisignatures", multiSigs(4000), ""},
		{"4001 multisignatures", multiSigs(4001), "bad-blk-sigops"},
		{"all bytes", grow(t, limit), ""},
		{"a byte more", grow(t, limit+1), "bad-blk-weight"},
		{"all bytes without witness", bare(grow(t, limit)), ""},
		{"a byte more without witness", bare(grow(t, limit+1)), "bad-blk-length"},
		{"all bytes with payload", merged(grow(t, limit)), ""},
		{"a byte more with payload", merged(grow(t, limit+1)), "bad-blk-weight"},
		{"600 s ahead", func(b *block) { b.Timestamp = time.Unix(ahead+600, 0) }, ""},
		{"601 s ahead", func(b *block) { b.Timestamp = time.Unix(ahead+601, 0) }, "time-too-new"},
		{"no reserved value", func(b *block) {
			b.txs[0].MsgTx().TxIn[0].Witness = nil
			b.txs[0] = btcutil.NewTx(b.txs[0].MsgTx())
		}, "bad-witness-nonce-size"},
		{"anchors", func(b *block) {
			b.txs[0].MsgTx().AddTxOut(wire.NewTxOut(1, []byte{txscript.OP_1, 2, 0x4e, 0x73}))
			b.txs[0].MsgTx().TxOut[0].Value--
			b.txs[0] = btcutil.NewTx(b.txs[0].MsgTx())
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e.SetMockTime(time.Unix(ahead, 0))
			raw := b.build(at, nil, test.change)
			if got := reason(t, e.Accept(raw)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestMaturity spends a coinbase on both sides of the depth from which it may be
// spent.
func TestMaturity(t *testing.T) {
	t.Parallel()
	const depth = 1000
	e := fresh(t, dialect.Choices{})
	b := &builder{tb: t, e: e}
	first := b.add(e.tree.Active().Tip())
	tip := b.chain(first, depth-2)
	out, value := b.coinbaseOf(first)
	early := b.build(tip, []*wire.MsgTx{spend(out, value)}, nil)
	if got := reason(t, e.Accept(early)); got != "bad-txns-premature-spend-of-coinbase" {
		t.Errorf("at depth %d: %q", depth-1, got)
	}
	tip = b.add(tip)
	if got := reason(t, e.Accept(b.build(tip, []*wire.MsgTx{spend(out, value)}, nil))); got != "" {
		t.Errorf("at depth %d: %q", depth, got)
	}
}

// ahead is a time after the recorded ones.
const ahead = 1_800_000_000

// TestActivations tries rules on both sides of the height that they begin at.
func TestActivations(t *testing.T) {
	t.Parallel()
	outer := func(b *block) {
		b.txs[0].MsgTx().TxOut[0].PkScript = []byte{txscript.OP_3, 2, 1, 1}
		b.txs[0] = btcutil.NewTx(b.txs[0].MsgTx())
	}
	for _, test := range []struct {
		rule          string
		change        func(*block)
		before, after string
	}{
		{"outerwitness", outer, "bad-txns-output-not-p2mr", ""},
		{"cadence", merged(func(*block) {}), "bad-cadence-inactive", ""},
		{"cadence", func(b *block) { b.Version = 0x40000000 }, "", "bad-version-topbits(0x40000000)"},
		{"auxpowcommitment", merged(func(*block) {}), "bad-auxpow-commitment", ""},
		{"futuretime", func(b *block) { b.Timestamp = time.Unix(ahead+7200, 0) }, "", "time-too-new"},
		{"futuretime", func(b *block) { b.Timestamp = time.Unix(ahead+7201, 0) }, "time-too-new", "time-too-new"},
	} {
		for height, want := range map[int32]string{4: test.before, 5: test.after} {
			e := fresh(t, dialect.Choices{Activation: map[string]int32{test.rule: 5}})
			e.SetMockTime(time.Unix(ahead, 0))
			b := &builder{tb: t, e: e}
			at := b.chain(e.tree.Active().Tip(), int(height)-1)
			if got := reason(t, e.Accept(b.build(at, nil, test.change))); got != want {
				t.Errorf("%s at height %d: %q, want %q", test.rule, height, got, want)
			}
		}
	}
}

// FuzzAccept offers bytes as blocks and headers.
func FuzzAccept(f *testing.F) {
	net := regtest(f, dialect.Choices{})
	e := openIn(f, f.TempDir(), net)
	f.Cleanup(func() { _ = e.Close() })
	for _, raw := range chainBlocks(f)[1:12] {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		reason(t, e.Accept(raw))
		_, _, err := e.AcceptHeaders([][]byte{raw})
		reason(t, err)
	})
}

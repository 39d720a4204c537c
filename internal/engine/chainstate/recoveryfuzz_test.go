package chainstate_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// FuzzRecover gives a chain bytes in the place of a block whose witnesses are wanted: chance ones, and the block with
// one damage. All bytes but the block itself are refused. They keep no copy, leave the chain as it was, and take no
// more memory than their number justifies.
func FuzzRecover(f *testing.F) {
	b := newBranches(f, -1)
	r := openStripped(f)
	r.leave(b)
	if r.stripped(b) < 10 {
		f.Fatalf("%d blocks were stripped", r.stripped(b))
	}
	wanted := r.wants()
	whole := b.first[wanted.Height-branchAt-1].raw
	for how := range damages {
		f.Add(byte(how), uint32(0), []byte{1, 2, 3})
		f.Add(byte(how), uint32(len(whole)/2), bytes.Repeat([]byte{0xff}, 9))
		f.Add(byte(how), uint32(len(whole)-1), []byte{})
		f.Add(byte(how), uint32(wire.MaxBlockHeaderPayload), []byte{0xfe, 0xff, 0xff, 0xff, 0x7f})
	}
	f.Fuzz(func(t *testing.T, how byte, at uint32, data []byte) {
		r.t = t
		r.log.Reset()
		raw, ok := damages[int(how)%len(damages)](bytes.Clone(whole), int(at), data)
		if !ok || bytes.Equal(raw, whole) {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := r.Recover(raw)
		runtime.ReadMemStats(&after)
		if _, ok := errors.AsType[*messages.RejectError](err); !ok {
			t.Errorf("%d bytes were not refused: %v", len(raw), err)
		}
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(8<<20+200*len(raw)); took > most {
			t.Errorf("%d bytes took %d bytes of memory", len(raw), took)
		}
		wantTip(t, r.Engine, "after refused bytes", b.second[secondLong-1])
		if r.wants() != wanted || wanted.Status().Invalid() || len(r.copies()) != 0 {
			t.Errorf("wanted is %v, with status %v, copies %v", r.wants(), wanted.Status(), r.copies())
		}
	})
}

// damages make other bytes of a block, a place in it, and some data; false where they cannot.
var damages = []func(raw []byte, at int, data []byte) ([]byte, bool){
	// Chance alone, and behind the true header.
	func(_ []byte, _ int, data []byte) ([]byte, bool) { return data, true },
	func(raw []byte, _ int, data []byte) ([]byte, bool) {
		return append(raw[:wire.MaxBlockHeaderPayload], data...), true
	},
	// Other bytes in the middle, fewer, more.
	func(raw []byte, at int, data []byte) ([]byte, bool) {
		for i, c := range data {
			raw[(at%len(raw)+i)%len(raw)] ^= c
		}
		return raw, true
	},
	func(raw []byte, at int, _ []byte) ([]byte, bool) { return raw[:at%len(raw)], true },
	func(raw []byte, at int, data []byte) ([]byte, bool) {
		at %= len(raw) + 1
		return append(append(bytes.Clone(raw[:at]), data...), raw[at:]...), true
	},
	// Well-formed blocks: another witness, none in one transaction, a transaction twice, other transactions.
	rewrite(func(b *wire.MsgBlock, at int, data []byte) {
		in := b.Transactions[at%len(b.Transactions)].TxIn[0]
		in.Witness = wire.TxWitness{data}
	}),
	rewrite(func(b *wire.MsgBlock, at int, data []byte) {
		in := b.Transactions[at%len(b.Transactions)].TxIn[0]
		in.Witness = append(in.Witness, data)
	}),
	rewrite(func(b *wire.MsgBlock, at int, _ []byte) {
		b.Transactions[at%len(b.Transactions)].TxIn[0].Witness = nil
	}),
	rewrite(func(b *wire.MsgBlock, at int, _ []byte) {
		b.Transactions = append(b.Transactions, b.Transactions[at%len(b.Transactions):]...)
	}),
	rewrite(func(b *wire.MsgBlock, at int, data []byte) {
		tx := b.Transactions[at%len(b.Transactions)]
		tx.TxOut[0].PkScript = data
		b.Header.MerkleRoot = rootOf(b) // then it is another block
	}),
	rewrite(func(b *wire.MsgBlock, at int, data []byte) {
		var seed [8]byte
		copy(seed[:], data)
		b.Header.Nonce = uint32(at)
		b.Header.Bits ^= binary.LittleEndian.Uint32(seed[:])
		b.Header.PrevBlock[at%len(b.Header.PrevBlock)] ^= seed[4]
	}),
}

// rewrite makes a damage of a change to what a block says.
func rewrite(change func(*wire.MsgBlock, int, []byte)) func([]byte, int, []byte) ([]byte, bool) {
	return func(raw []byte, at int, data []byte) ([]byte, bool) {
		var b wire.MsgBlock
		if b.Deserialize(bytes.NewReader(raw)) != nil {
			return nil, false
		}
		change(&b, at, data)
		var into bytes.Buffer
		err := b.Serialize(&into)
		return into.Bytes(), err == nil
	}
}

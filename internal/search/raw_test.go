package search_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/search"
)

// firstBytes finds scripts that begin with a byte below ten, by that byte.
type firstBytes struct{}

func (firstBytes) Find(script []byte) (number int, ok bool) {
	if len(script) == 0 || script[0] >= 10 {
		return 0, false
	}
	return int(script[0]), true
}

func bytesOf(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32() >> 3)
	}
	return b
}

// blockOf returns a block by chance, and what it spends.
func blockOf(r *rand.Rand) (*wire.MsgBlock, [][]chainview.Coin) {
	block := new(wire.MsgBlock)
	var spent [][]chainview.Coin
	lengths := []int{0, 1, 22, 25, 34, 252, 253, 300, 70_000}
	script := func() []byte { return bytesOf(r, lengths[r.IntN(len(lengths)-r.IntN(2)*4)]) }
	for n := range 1 + r.IntN(4) {
		tx := wire.NewMsgTx(r.Int32())
		var coins []chainview.Coin
		witness := r.IntN(2) == 0
		for range 1 + r.IntN(3) {
			in := &wire.TxIn{
				PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash(bytesOf(r, 32)), Index: r.Uint32()},
				SignatureScript:  script(), Sequence: r.Uint32(),
			}
			if witness {
				in.Witness = wire.TxWitness{script(), script()}[:r.IntN(3)]
			}
			tx.AddTxIn(in)
			coins = append(coins, chainview.Coin{Value: btcutil.Amount(r.Int64()), Script: script()})
		}
		for range r.IntN(4) {
			tx.AddTxOut(wire.NewTxOut(r.Int64(), script()))
		}
		tx.LockTime = r.Uint32()
		block.Transactions = append(block.Transactions, tx)
		if n > 0 {
			spent = append(spent, coins)
		}
	}
	return block, spent
}

// A search finds the same in a serialized block as in the block.
func TestInRaw(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	found := 0
	for range 1000 {
		block, spent := blockOf(r)
		if r.IntN(5) == 0 {
			spent = nil
		}
		var raw bytes.Buffer
		if err := block.Serialize(&raw); err != nil {
			t.Fatal(err)
		}
		want := search.InBlock(block, spent, firstBytes{})
		got, err := search.InRaw(raw.Bytes(), wire.MaxBlockHeaderPayload, spent, firstBytes{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
		found += len(got)
		short := raw.Bytes()[:r.IntN(raw.Len())]
		long := append(bytes.Clone(raw.Bytes()), 0)
		for _, bad := range [][]byte{short, long} {
			got, err := search.InRaw(bad, wire.MaxBlockHeaderPayload, spent, firstBytes{})
			if !errors.Is(err, search.ErrBadBlock) || got != nil {
				t.Fatalf("%d bytes of %d: %v, %v", len(bad), raw.Len(), got, err)
			}
		}
	}
	if found < 150 {
		t.Errorf("only %d entries", found)
	}
}

// Arbitrary bytes are refused, or InRaw finds the same as InBlock in the block
// that wire reads from the bytes.
func FuzzInRaw(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 10 {
		block, _ := blockOf(r)
		var raw bytes.Buffer
		_ = block.Serialize(&raw)
		f.Add(raw.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		spent := [][]chainview.Coin{{{Value: 7, Script: []byte{3}}, {Value: 9, Script: []byte{99}}}}
		got, err := search.InRaw(raw, wire.MaxBlockHeaderPayload, spent, firstBytes{})
		if err != nil {
			return
		}
		var block wire.MsgBlock
		if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
			return // wire has limits, and refuses numbers that could be shorter
		}
		if want := search.InBlock(&block, spent, firstBytes{}); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	})
}

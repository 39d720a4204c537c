package coinstats

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// The hashed bytes of an output are compared with a vector.
func TestAppendCoin(t *testing.T) {
	c := &Coin{
		Out: wire.OutPoint{Hash: chainhash.Hash{1, 2}, Index: 3}, Height: 258, Coinbase: true, Amount: 5_000_000_000,
		Script: []byte{0x51, 0x87},
	}
	const want = "0102000000000000000000000000000000000000000000000000000000000000" + "03000000" + "05020000" + "00f2052a01000000" + "025187"
	if got := hex.EncodeToString(AppendCoin(nil, c)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The length of a script is a CompactSize.
func TestAppendCoinLengths(t *testing.T) {
	for _, n := range []int{0, 1, 0xfc, 0xfd, 0xfe, 10_000, 0xffff, 0x10000} {
		var size bytes.Buffer
		if err := wire.WriteVarInt(&size, 0, uint64(n)); err != nil {
			t.Fatal(err)
		}
		c := &Coin{Script: bytes.Repeat([]byte{7}, n)}
		got := AppendCoin(nil, c)
		if tail := got[len(AppendCoin(nil, new(Coin)))-1:]; !bytes.Equal(tail, append(size.Bytes(), c.Script...)) {
			t.Errorf("script of %d bytes: %x", n, tail[:min(len(tail), 9)])
		}
	}
}

// coins returns outputs of n transactions, ascending by id and index.
func coins(n int) (list []Coin) {
	rng := rand.New(rand.NewPCG(3, 4))
	for tx := range n {
		for index := range 1 + rng.Uint32N(5) {
			list = append(list, Coin{
				Out:    wire.OutPoint{Hash: chainhash.Hash{byte(tx >> 8), byte(tx)}, Index: index * 9000},
				Height: rng.Int32N(100), Amount: rng.Int64N(1000), Script: make([]byte, rng.IntN(300)),
			})
		}
	}
	return list
}

// The outputs of a transaction may come in any order, the serialized hash is that
// of all of them in order, and sums of parts are the sum of the whole.
func TestSum(t *testing.T) {
	list := coins(300)
	var all []byte
	whole, serial := New(Set), New(Serial)
	for i := range list {
		all = AppendCoin(all, &list[i])
		whole.Add(&list[i])
	}
	parts := []*Sum{New(Set), New(Set), New(Set)}
	for from := 0; from < len(list); {
		to := from
		for to < len(list) && list[to].Out.Hash == list[from].Out.Hash {
			to++
		}
		for i := to - 1; i >= from; i-- { // the last first
			serial.Add(&list[i])
			parts[from%len(parts)].Add(&list[i])
		}
		from = to
	}
	once := sha256.Sum256(all)
	if serial.Hash() != chainhash.Hash(sha256.Sum256(once[:])) {
		t.Error("serialized hash is wrong")
	}
	joined := New(Set)
	for _, p := range parts {
		joined.Join(p)
	}
	if joined.Hash() != whole.Hash() || joined.Txs != 300 || joined.Outputs != whole.Outputs ||
		joined.Amount != whole.Amount || joined.BogoSize != whole.BogoSize {
		t.Errorf("parts: %d outputs of %d transactions", joined.Outputs, joined.Txs)
	}
	if New(Count).Hash() != (chainhash.Hash{}) {
		t.Error("a count has a hash")
	}
}

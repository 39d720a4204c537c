package follower

import (
	"encoding/json"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/dialect"
)

// Any bytes that Core sends of a block's spent outputs give either one script for
// each input or nothing.
func FuzzSpent(f *testing.F) {
	f.Add([]byte{2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x51}, []byte{1, 1})
	f.Add([]byte{0xfd, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0x80}, []byte{1, 1})
	f.Add([]byte(`{"tx":[{"vin":[{}]},{"vin":[{"prevout":{"value":1.5,"scriptPubKey":{"hex":"51"}}}]}]}`), []byte{1, 1})
	f.Fuzz(func(t *testing.T, raw, inputs []byte) {
		of, spends := make(shape, len(inputs)), 0
		for i, n := range inputs {
			of[i] = int32(n)
			if i > 0 {
				spends += int(n)
			}
		}
		if scripts, ok := parseSpent(raw, of); ok && len(scripts) != spends {
			t.Errorf("%d scripts for %d inputs", len(scripts), spends)
		}
		block := verboseBlock{of: of}
		if json.Unmarshal(raw, &block) != nil {
			return
		}
		spent, err := block.coins()
		if err != nil {
			return
		}
		n := 0
		for _, coins := range spent {
			n += len(coins)
		}
		if n != spends {
			t.Errorf("%d coins for %d inputs", n, spends)
		}
	})
}

// Bytes are those of a block only where they give its hash and its merkle root; headers
// come out as they went in.
func FuzzBlock(f *testing.F) {
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		f.Fatal(err)
	}
	s := &source{net: net}
	genesis := s.rawGenesis()
	f.Add(genesis, uint16(0), byte(0))
	f.Add(genesis[:100], uint16(0), byte(0))
	f.Add(genesis, uint16(200), byte(1))
	f.Fuzz(func(t *testing.T, raw []byte, at uint16, change byte) {
		if len(raw) < headerSize {
			if _, ok := s.shapeOf(&chainhash.Hash{}, raw); ok {
				t.Error("no block")
			}
			return
		}
		h := readHeader(raw)
		if written := writeHeader(&h); string(written[:]) != string(raw[:headerSize]) {
			t.Errorf("header %x, want %x", written, raw[:headerSize])
		}
		hash := chainhash.DoubleHashH(raw[:headerSize])
		if hash != h.BlockHash() {
			t.Error("hash of a header")
		}
		if _, err := parseHeaders(raw, &hash); (err == nil) != (len(raw)%headerSize == 0) {
			t.Errorf("%d bytes of headers: %v", len(raw), err)
		}
		_, ok := s.shapeOf(&hash, raw)
		if !ok || change == 0 {
			return
		}
		raw = append([]byte(nil), raw...)
		raw[int(at)%len(raw)] ^= change
		of, ok := s.shapeOf(&hash, raw)
		if ok && len(of) == 0 {
			t.Error("a block without transactions")
		}
		if ok && int(at)%len(raw) < headerSize {
			t.Error("another header")
		}
	})
}

// Amounts are read to the last digit, and nothing but amounts is.
func FuzzAmount(f *testing.F) {
	for _, text := range []string{"1.00000000", "20999999.97690000", "1e8", "-1", "", ".", "0.123456789", "5"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := parseAmount(text)
		if ok && n < 0 {
			t.Errorf("%q is %d", text, n)
		}
	})
}

func TestAmounts(t *testing.T) {
	for text, want := range map[string]int64{
		"1.00000000": 1e8, "20999999.97690000": 2099999997690000, "0.00000001": 1, "5": 5e8, "0.5": 5e7,
		"1e8": -1, "-1.00000000": -1, "": -1, ".": -1, "0.123456789": -1, "1.2.3": -1, "99999999999999": -1,
	} {
		if n, ok := parseAmount(text); ok != (want >= 0) || ok && int64(n) != want {
			t.Errorf("%q: %d, %t", text, n, ok)
		}
	}
}

package filters_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
)

// vector is a row of the test vectors of BIP158.
type vector struct {
	hash         chainhash.Hash
	block        []byte
	spent        [][]byte
	prev, header chainhash.Hash
	filter       []byte
	notes        string
}

func readVectors(t *testing.T) (vectors []vector) {
	t.Helper()
	raw, err := os.ReadFile("testdata/bip-0158-testnet-19.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] { // the first row has the names of the columns
		v := vector{
			hash:   parseHash(t, row[1]),
			block:  parseHex(t, row[2]),
			prev:   parseHash(t, row[4]),
			filter: parseHex(t, row[5]),
			header: parseHash(t, row[6]),
			notes:  row[7].(string),
		}
		for _, script := range row[3].([]any) {
			v.spent = append(v.spent, parseHex(t, script))
		}
		vectors = append(vectors, v)
	}
	return vectors
}

func parseHex(t *testing.T, v any) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.(string))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parseHash(t *testing.T, v any) chainhash.Hash {
	t.Helper()
	h, err := chainhash.NewHashFromStr(v.(string))
	if err != nil {
		t.Fatal(err)
	}
	return *h
}

// TestVectors goes through the vectors of BIP158: filter and header of each
// block, and every script of the block against its filter.
func TestVectors(t *testing.T) {
	var builder filters.Builder
	for _, v := range readVectors(t) {
		t.Run(v.notes, func(t *testing.T) {
			filter, err := builder.BuildBlock(&v.hash, v.block, filters.HeaderLen, v.spent)
			if err != nil || !bytes.Equal(filter, v.filter) {
				t.Fatalf("got filter %x and %v, want %x", filter, err, v.filter)
			}
			hash := filters.Hash(filter)
			if header := filters.Header(&hash, &v.prev); header != v.header {
				t.Errorf("got header %v, want %v", header, v.header)
			}
			if _, err := filters.Decode(filter); err != nil {
				t.Error(err)
			}
			outputs, err := outputScripts(v.block)
			if err != nil {
				t.Fatal(err)
			}
			for _, script := range append(outputs, v.spent...) {
				want := len(script) > 0 && script[0] != 0x6a
				hit, err := filters.Match(&v.hash, filter, [][]byte{script})
				if hit != want || err != nil {
					t.Errorf("script %x: got %v and %v, want %v", script, hit, err, want)
				}
			}
		})
	}
}

// TestKnownCollision matches a script that Bitcoin Core's tests name as a false
// positive in the filter of the regtest genesis block.
func TestKnownCollision(t *testing.T) {
	hash := parseHash(t, "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206")
	genesis := parseHex(t, "4104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504"+
		"e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac")
	script := parseHex(t, "001400000000000000000000000000000000000cadcb")
	var builder filters.Builder
	filter := builder.Build(&hash, [][]byte{genesis})
	if hit, err := filters.Match(&hash, filter, [][]byte{script}); !hit || err != nil {
		t.Errorf("got %v and %v, want a hit", hit, err)
	}
	if found, err := filters.NewQuery([][]byte{script}).InBlock(
		coinbaseBlock([][]byte{genesis}), filters.HeaderLen, nil,
	); found || err != nil {
		t.Errorf("got %v and %v, want none", found, err)
	}
}

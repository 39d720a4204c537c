package trawl_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

// fundingHeight is where the recorded P2MR chain pays what the recorded spends spend.
const fundingHeight = 1005

// unpack reads a recorded file of the packages below.
func unpack(t *testing.T, name string) []byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// fundedChain returns a file with the blocks of the recorded chain up to the spends.
func fundedChain(t *testing.T) string {
	t.Helper()
	content := unpack(t, "internal/engine/qbit/testdata/chain.dat.gz")
	magic := [4]byte(content)
	scanner := blockfile.NewScanner(
		bytes.NewReader(content), int64(len(content)), magic, blockfile.Key{}, blockfile.MaxBlockSize,
	)
	end := 0
	for range fundingHeight + 1 {
		record, err := scanner.Next()
		if err != nil {
			t.Fatal(err)
		}
		end += blockfile.HeaderSize + len(record.Block)
	}
	path := filepath.Join(t.TempDir(), "chain.dat")
	if err := os.WriteFile(path, content[:end], 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A recordedSpend is a transaction with the verdict of the reference node's mempool.
type recordedSpend struct {
	Name, Tx, Mempool string

	tx *wire.MsgTx
}

// recordedSpends returns the recorded spends of the funded chain.
func recordedSpends(t *testing.T) []recordedSpend {
	t.Helper()
	var set struct{ Vectors []recordedSpend }
	if err := json.Unmarshal(unpack(t, "internal/p2mr/testdata/spends.json.gz"), &set); err != nil {
		t.Fatal(err)
	}
	for i := range set.Vectors {
		v := &set.Vectors[i]
		raw, err := hex.DecodeString(v.Tx)
		if err != nil {
			t.Fatal(err)
		}
		v.tx = new(wire.MsgTx)
		if err := v.tx.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
	}
	return set.Vectors
}

// standardSpends returns those of them that a pool takes in.
func standardSpends(t *testing.T) (txs []*wire.MsgTx) {
	t.Helper()
	for _, v := range recordedSpends(t) {
		if v.Mempool == "allowed" {
			txs = append(txs, v.tx)
		}
	}
	return txs
}

// TestP2MRSpends offers the recorded spends to a node's pool, and mines those that it
// takes.
func TestP2MRSpends(t *testing.T) {
	node := open(t, trawl.Config{
		Dir: t.TempDir(), Chain: "regtest", Dialect: "qbit", LoadBlock: []string{fundedChain(t)},
		Mempool: trawl.MempoolConfig{NoPersist: true},
	})
	if _, err := trawl.Ask(t.Context(), node.Chain(), messages.WaitImported{}); err != nil {
		t.Fatal(err)
	}
	vectors := recordedSpends(t)
	taken := 0
	for _, v := range vectors {
		tx := v.tx
		got := "allowed"
		result, err := trawl.Ask(t.Context(), node.Mempool(), messages.TestTxs{Txs: []*wire.MsgTx{tx}})
		if err != nil {
			t.Fatal(err)
		}
		if rejected := result.Results[0].Rejected; rejected != nil {
			got = rejected.Reason
		}
		if got != v.Mempool {
			t.Errorf("%s: %q, want %q", v.Name, got, v.Mempool)
		}
		if got != "allowed" {
			continue
		}
		taken++
		if _, err := trawl.Ask(t.Context(), node.Mempool(), messages.SubmitTx{Tx: tx}); err != nil {
			t.Errorf("%s: %v", v.Name, err)
		}
	}
	if len(vectors) != 110 || taken != 39 {
		t.Errorf("%d of %d taken", taken, len(vectors))
	}
}

package qbit

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// Each signature of a transaction is verified once, for the memory pool, and not again in a block. A signature of data
// is verified each time.
func TestSignaturesAreVerifiedOnce(t *testing.T) {
	packed, err := os.ReadFile("../../p2mr/testdata/spends.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Vectors []struct {
			Name, Tx, Mempool string
			Prevouts          []struct {
				Amount       int64
				ScriptPubKey string `json:"scriptPubKey"`
			}
		}
	}
	if err := json.NewDecoder(text).Decode(&set); err != nil {
		t.Fatal(err)
	}
	const height = 1006
	saved, data := uint64(0), 0
	for _, v := range set.Vectors {
		if v.Mempool != "allowed" {
			continue
		}
		raw, err := hex.DecodeString(v.Tx)
		if err != nil {
			t.Fatal(err)
		}
		tx := new(wire.MsgTx)
		if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
		var spent []*wire.TxOut
		for _, out := range v.Prevouts {
			script, err := hex.DecodeString(out.ScriptPubKey)
			if err != nil {
				t.Fatal(err)
			}
			spent = append(spent, wire.NewTxOut(out.Amount, script))
		}
		net, err := dialect.Named("qbit", "regtest", dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		r := &rules{P2MR: net.P2MR, net: net}
		at := &chainview.Block{Height: height}
		inBlock := func() {
			t.Helper()
			s := r.Spend(tx, spent, at)
			for i := range tx.TxIn {
				if err := s.VerifyInput(i, r.Flags(at)); err != nil {
					t.Errorf("%s: %v", v.Name, err)
				}
			}
		}
		if inBlock(); net.P2MR.Signatures.Len() != 0 {
			t.Errorf("%s: signatures of a block are remembered", v.Name)
		}
		if err := net.Verify(tx, spent, height); err != nil {
			t.Fatal(err)
		}
		known, before := uint64(net.P2MR.Signatures.Len()), net.P2MR.Signatures.Saved()
		if inBlock(); net.P2MR.Signatures.Saved()-before < known {
			t.Errorf("%s: %d of %d signatures are not verified again", v.Name, net.P2MR.Signatures.Saved()-before, known)
		}
		if saved += known; strings.Contains(v.Name, "data") && known == 0 {
			data++
		}
	}
	if saved == 0 || data == 0 {
		t.Errorf("%d signatures were remembered, %d transactions have signatures of data alone", saved, data)
	}
}

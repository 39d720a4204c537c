package descriptor_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
)

const setText = "wpkh(xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL" +
	"/<0;1>/*)"

// The outputs of random blocks, held against a look at each output and each script.
func TestScriptSetOutputs(t *testing.T) {
	net := descriptor.NetworkOf(&chaincfg.MainNetParams)
	set, err := descriptor.ScriptSet(t.Context(), setText, net, 3, 12)
	if err != nil {
		t.Fatal(err)
	}
	scripts := set.List()
	if len(scripts) != 20 {
		t.Fatalf("%d scripts", len(scripts))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		block := new(wire.MsgBlock)
		for range random.IntN(5) {
			tx := wire.NewMsgTx(2)
			for range random.IntN(5) {
				script := []byte{0x51}
				if random.IntN(2) == 0 {
					script = bytes.Clone(scripts[random.IntN(len(scripts))])
				}
				tx.AddTxOut(wire.NewTxOut(random.Int64N(1e8), script))
			}
			block.Transactions = append(block.Transactions, tx)
		}
		got := set.Outputs(block)
		for _, tx := range block.Transactions {
			for i, out := range tx.TxOut {
				for at, script := range scripts {
					if !bytes.Equal(out.PkScript, script) {
						continue
					}
					if len(got) == 0 {
						t.Fatal("an output is missing")
					}
					p := got[0]
					got = got[1:]
					if p.Tx != tx || p.TxID != tx.TxHash() || p.Output != uint32(i) || p.Amount != out.Value ||
						!bytes.Equal(p.Script, script) || p.Index != 3+uint32(at%10) {
						t.Fatalf("got %+v", p)
					}
				}
			}
		}
		if len(got) != 0 {
			t.Fatalf("%d outputs too many", len(got))
		}
	}
}

func TestScriptSet(t *testing.T) {
	net := descriptor.NetworkOf(&chaincfg.MainNetParams)
	for _, test := range []struct {
		text    string
		scripts int
	}{
		{"raw(51)", 1},
		{"wsh(pk(xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL/*))", 5},
		{"combo(02e493dbf1c10d80f3581e4904930b1404cc6c13900ee0758474fa94abe8c4cd13)", 4},
	} {
		set, err := descriptor.ScriptSet(t.Context(), test.text, net, 0, 4)
		if err != nil || len(set.List()) != test.scripts {
			t.Errorf("%s: %v, %v", test.text, set, err)
			continue
		}
		if index, ok := set.Index(set.List()[test.scripts-1]); !ok || test.scripts == 5 && index != 4 {
			t.Errorf("%s: index %d, %v", test.text, index, ok)
		}
		if _, ok := set.Index([]byte{0x52}); ok {
			t.Errorf("%s: a script of nobody's", test.text)
		}
	}
	if _, err := descriptor.ScriptSet(t.Context(), "pk(", net, 0, 0); !errors.As(err, new(*descriptor.ParseError)) {
		t.Error(err)
	}
	if _, err := descriptor.ScriptSet(t.Context(), setText, net, 5, 4); err == nil {
		t.Error("a range that ends before it begins")
	}
	hardened := "wpkh(xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL" +
		"/*h)"
	_, err := descriptor.ScriptSet(t.Context(), hardened, net, 0, 0)
	if !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
		t.Error(err)
	}
}

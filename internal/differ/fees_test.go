package differ_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/differ"
)

// TestFees shows both nodes the same transactions, which arrive and are
// confirmed at any rate and after any time. It compares their estimates for
// all targets, and the files that they write.
func TestFees(t *testing.T) {
	p := differ.Start(t, differ.Config{Args: []string{"-blockmintxfee=0.00000001"}})
	f := &feePlay{t: t, Rand: differ.Random(t), pair: p, now: 1_800_000_000}
	f.begin()
	blocks := differ.Cases(t, 60)
	for n := range blocks {
		f.block()
		if n%10 == 9 {
			f.compare()
		}
	}
	f.compare()
	var estimate struct{ FeeRate float64 }
	if f.pair.Get(&estimate, "estimatesmartfee", 6); estimate.FeeRate == 0 {
		t.Error("nothing was estimated")
	}
	p.Send(differ.Call{Method: "mockscheduler", Params: []any{3600}})
	f.compareFiles()
	p.Alive()
}

// feePlay makes transactions that anybody can make.
type feePlay struct {
	*rand.Rand

	t       *testing.T
	pair    *differ.Pair
	now     int64
	address string
	script  []byte
	coins   []feeCoin
	waiting []waitingTx
}

type feeCoin struct {
	at    wire.OutPoint
	value int64
}

// waitingTx is a transaction of the pools, and what it leaves.
type waitingTx struct {
	id    string
	coins []feeCoin
}

func (f *feePlay) begin() {
	witness := sha256.Sum256([]byte{txscript.OP_TRUE})
	f.script = append([]byte{txscript.OP_0, 32}, witness[:]...)
	f.address, _ = descriptor.AddressOf(f.script, regtest)
	f.clock()
	got := f.pair.Send(differ.Call{Method: "generatetoaddress", Params: []any{130, f.address}})
	var blocks []string
	if err := json.Unmarshal(got[0].Core.Result, &blocks); err != nil {
		f.t.Fatal(err)
	}
	for _, hash := range blocks[:30] {
		var block struct{ Tx []string }
		f.pair.Get(&block, "getblock", hash)
		id, err := chainhash.NewHashFromStr(block.Tx[0])
		if err != nil {
			f.t.Fatal(err)
		}
		f.coins = append(f.coins, feeCoin{wire.OutPoint{Hash: *id}, 50e8})
	}
}

func (f *feePlay) clock() {
	f.now += 300
	f.pair.Send(differ.Call{Method: "setmocktime", Params: []any{f.now}})
}

// block has some transactions come, and some that have waited be confirmed.
func (f *feePlay) block() {
	for range f.IntN(8) {
		f.send()
	}
	f.clock()
	var ids []string
	var left []waitingTx
	for _, tx := range f.waiting {
		if f.IntN(3) == 0 {
			left = append(left, tx)
			continue
		}
		ids = append(ids, tx.id)
		f.coins = append(f.coins, tx.coins...)
	}
	f.waiting = left
	if ids == nil {
		ids = []string{}
	}
	f.pair.Send(differ.Call{Method: "generateblock", Params: []any{f.address, ids}})
}

// send sends a transaction that splits a coin, at a rate by chance.
func (f *feePlay) send() {
	if len(f.coins) == 0 {
		return
	}
	at := f.IntN(len(f.coins))
	from := f.coins[at]
	fee := int64(200) << f.IntN(10)
	fee += f.Int64N(fee)
	if from.value < 4*fee+10_000 {
		return
	}
	f.coins = append(f.coins[:at], f.coins[at+1:]...)
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&from.at, nil, wire.TxWitness{{txscript.OP_TRUE}}))
	tx.AddTxOut(wire.NewTxOut((from.value-fee)/2, f.script))
	tx.AddTxOut(wire.NewTxOut(from.value-fee-(from.value-fee)/2, f.script))
	text := hex.EncodeToString(serialized(tx.Serialize))
	got := f.pair.Send(differ.Call{Method: "sendrawtransaction", Params: []any{text, 0}})
	if !got[0].Core.OK() {
		return
	}
	made := waitingTx{id: tx.TxHash().String()}
	for i, out := range tx.TxOut {
		made.coins = append(made.coins, feeCoin{wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}, out.Value})
	}
	f.waiting = append(f.waiting, made)
}

// compare compares estimates for targets of all horizons.
func (f *feePlay) compare() {
	if err := f.pair.Core.Call(f.t.Context(), nil, "syncwithvalidationinterfacequeue"); err != nil {
		f.t.Fatal(err)
	}
	var calls []differ.Call
	for _, target := range []int{1, 2, 3, 5, 6, 12, 13, 24, 48, 49, 100, 144, 500, 1008} {
		for _, mode := range []string{"economical", "conservative", "unset"} {
			calls = append(calls, differ.Call{Method: "estimatesmartfee", Params: []any{target, mode}})
		}
		for _, threshold := range []float64{0.5, 0.6, 0.85, 0.95} {
			calls = append(calls, differ.Call{Method: "estimaterawfee", Params: []any{target, threshold}})
		}
	}
	f.pair.Send(calls...)
}

// compareFiles compares the files of estimates, which both write each hour.
func (f *feePlay) compareFiles() {
	const name = "fee_estimates.dat"
	core, err := os.ReadFile(filepath.Join(f.pair.CoreDir, "regtest", name))
	if err != nil {
		f.t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(f.pair.Trawl.NetDir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	if !bytes.Equal(own, core) {
		f.t.Errorf("files of %d and of %d bytes differ", len(own), len(core))
	}
}

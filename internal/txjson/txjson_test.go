package txjson_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/txjson"
)

func printer(params *chaincfg.Params) *txjson.Printer {
	return &txjson.Printer{Net: descriptor.NetworkOf(params), WitnessScale: 4}
}

// lines yields the lines of a compressed file.
func lines(t *testing.T, name string) iter.Seq[[]byte] {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func([]byte) bool) {
		scan := bufio.NewScanner(plain)
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			if !yield(scan.Bytes()) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			t.Error(err)
		}
	}
}

// parseTx reads a transaction. A transaction without inputs can look as if it
// had a witness; it is then read again without a witness.
func parseTx(tb testing.TB, text string) *wire.MsgTx {
	tb.Helper()
	raw := unhex(tb, text)
	var tx wire.MsgTx
	if tx.Deserialize(bytes.NewReader(raw)) == nil {
		return &tx
	}
	tx = wire.MsgTx{}
	if err := tx.DeserializeNoWitness(bytes.NewReader(raw)); err != nil {
		tb.Fatal(err)
	}
	return &tx
}

func text(tb testing.TB, v any) string {
	tb.Helper()
	b, err := jsontree.Append(nil, v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func parseJSON(t *testing.T, text []byte) *jsontree.Value {
	t.Helper()
	v, err := jsontree.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestDecode prints the transactions of recorded decoderawtransaction calls.
func TestDecode(t *testing.T) {
	for _, params := range []*chaincfg.Params{&chaincfg.MainNetParams, &chaincfg.RegressionNetParams} {
		t.Run(params.Name, func(t *testing.T) {
			file := "testdata/decoderawtransaction-main.jsonl.gz"
			if params.Name == "regtest" {
				file = "testdata/decoderawtransaction-regtest.jsonl.gz"
			}
			p := printer(params)
			for line := range lines(t, file) {
				var recorded struct{ Hex, Response string }
				if err := json.Unmarshal(line, &recorded); err != nil {
					t.Fatal(err)
				}
				want := parseJSON(t, []byte(recorded.Response)).Get("result").String()
				got := text(t, p.Tx(parseTx(t, recorded.Hex), txjson.Options{}))
				if got != want {
					t.Errorf("%s\ngot  %s\nwant %s", recorded.Hex, got, want)
				}
			}
		})
	}
}

// TestBlocks prints the transactions of recorded getblock replies from their
// own hex. Replies of verbosity 3 say which coins were spent.
func TestBlocks(t *testing.T) {
	p := printer(&chaincfg.MainNetParams)
	coins := map[string]chainview.Coin{} // by txid and index
	var txs []*jsontree.Value
	for line := range lines(t, "testdata/getblock.jsonl.gz") {
		for _, tx := range parseJSON(t, line).Get("result").Get("tx").Elements() {
			txs = append(txs, tx)
			for _, in := range tx.Get("vin").Elements() {
				if prevout := in.Get("prevout"); prevout != nil {
					coins[outPoint(in)] = coin(t, prevout)
				}
			}
		}
	}
	for _, want := range txs {
		opts := txjson.Options{Hex: true}
		for _, in := range want.Get("vin").Elements() {
			opts.ShowSpent = opts.ShowSpent || in.Get("prevout") != nil
			if spent, ok := coins[outPoint(in)]; ok && want.Get("fee") != nil {
				opts.Spent = append(opts.Spent, spent)
			}
		}
		if got := text(t, p.Tx(parseTx(t, want.Get("hex").Text()), opts)); got != want.String() {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if len(txs) < 10 || len(coins) < 50 {
		t.Errorf("%d transactions with %d coins are too few to tell", len(txs), len(coins))
	}
}

func outPoint(in *jsontree.Value) string {
	return in.Get("txid").Text() + ":" + in.Get("vout").Text()
}

func coin(t *testing.T, prevout *jsontree.Value) chainview.Coin {
	t.Helper()
	height, err := prevout.Get("height").AsInt32()
	if err != nil {
		t.Fatal(err)
	}
	value, err := prevout.Get("value").AsAmount(jsontree.Amount(btcutil.MaxSatoshi))
	if err != nil {
		t.Fatal(err)
	}
	script, err := hex.DecodeString(prevout.Get("scriptPubKey").Get("hex").Text())
	if err != nil {
		t.Fatal(err)
	}
	generated, err := prevout.Get("generated").AsBool()
	if err != nil {
		t.Fatal(err)
	}
	return chainview.Coin{Height: height, Coinbase: generated, Value: btcutil.Amount(value), Script: script}
}

// The signed transaction of BIP143's example for P2WPKH has one input with and
// one without witness.
const bip143 = "01000000000102fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f00000000494830450221008b9d1d" +
	"c26ba6a9cb62127b02742fa9d754cd3bebf337f7a55d114c8e5cdd30be022040529b194ba3f9281a99f2b1c0a19c0489bc22ede944ccf4ecbab4cc" +
	"618ef3ed01eeffffffef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb20600000000" +
	"1976a9148280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a9143bde42dbee7e4dbe6a21b2d50ce2f0167faa815988" +
	"ac000247304402203609e17b84f6a7d30c80bfa610b5b4542f32a8a0d5447a12fb1366d7f01cc44a0220573a954c4518331561406f90300e8f3358" +
	"f51928d43c212a8caed02de67eebee0121025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee635711000000"

func TestWitness(t *testing.T) {
	tx := parseTx(t, bip143)
	got := printer(&chaincfg.MainNetParams).Tx(tx, txjson.Options{
		Spent:     []chainview.Coin{{Value: 625_000_000}, {Value: 600_000_000}},
		BlockHash: chaincfg.MainNetParams.GenesisHash,
		Hex:       true,
	})
	if got.Hash == got.TxID || got.Hash != tx.WitnessHash() {
		t.Errorf("txid %v, hash %v", got.TxID, got.Hash)
	}
	if got.Size != 343 || got.Weight != 343+3*233 || got.VSize != 261 || got.LockTime != 17 {
		t.Errorf("size %d, weight %d, vsize %d, locktime %d", got.Size, got.Weight, got.VSize, got.LockTime)
	}
	if first, second := got.Inputs[0].Witness, got.Inputs[1].Witness; first != nil || len(second) != 2 ||
		second[1].String() != "025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee6357" {
		t.Errorf("witnesses %v, %v", first, second)
	}
	if asm := got.Inputs[0].Script.Asm; !strings.HasSuffix(asm, "ed[ALL]") {
		t.Errorf("asm %s", asm)
	}
	if got.Inputs[0].Prevout != nil {
		t.Error("prevout is shown")
	}
	const tail = `,"fee":8.89210000,"blockhash":"000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f","hex":"` +
		bip143 + `"}`
	if shown := text(t, got); !strings.HasSuffix(shown, tail) {
		t.Errorf("got  %s\nwant …%s", shown, tail)
	}
}

// Fees and spent outputs are shown only where a spent output is given for each
// input: nothing is guessed.
func TestSpentMustFit(t *testing.T) {
	p := printer(&chaincfg.MainNetParams)
	genesis := chaincfg.MainNetParams.GenesisBlock.Transactions[0]
	tests := []struct {
		name  string
		tx    *wire.MsgTx
		spent int
		fee   bool
	}{
		{"none", parseTx(t, bip143), 0, false},
		{"too few", parseTx(t, bip143), 1, false},
		{"one for each", parseTx(t, bip143), 2, true},
		{"too many", parseTx(t, bip143), 3, false},
		{"coinbase", genesis, 1, false},
		{"no inputs", wire.NewMsgTx(2), 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := p.Tx(test.tx, txjson.Options{Spent: make([]chainview.Coin, test.spent), ShowSpent: true})
			if shown := got.Fee != nil; shown != test.fee {
				t.Errorf("fee shown: %v, want %v", shown, test.fee)
			}
			for _, in := range got.Inputs {
				if shown := in.Prevout != nil; shown != test.fee {
					t.Errorf("prevout shown: %v, want %v", shown, test.fee)
				}
			}
		})
	}
}

func TestVersionIsUnsigned(t *testing.T) {
	got := printer(&chaincfg.MainNetParams).Tx(wire.NewMsgTx(-1), txjson.Options{})
	if got.Version != 4294967295 {
		t.Errorf("got %d", got.Version)
	}
	if shown := text(t, got); !strings.Contains(shown, `"vin":[],"vout":[]`) {
		t.Errorf("got %s", shown)
	}
}

// FuzzTx: every transaction that can be read can be printed, and its hex reads
// back as itself.
func FuzzTx(f *testing.F) {
	for _, seed := range []string{bip143, "02000000000000000000", "0200000000010100000000000000"} {
		raw, err := hex.DecodeString(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	p := printer(&chaincfg.RegressionNetParams)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var tx wire.MsgTx
		if tx.Deserialize(bytes.NewReader(raw)) != nil {
			return
		}
		spent := make([]chainview.Coin, len(tx.TxIn))
		shown := p.Tx(&tx, txjson.Options{Spent: spent, ShowSpent: true, Hex: true})
		if shown.TxID != tx.TxHash() || shown.Hash != tx.WitnessHash() || shown.Size != tx.SerializeSize() {
			t.Errorf("txid %v, hash %v, size %d", shown.TxID, shown.Hash, shown.Size)
		}
		if _, err := jsontree.Parse([]byte(text(t, shown))); err != nil {
			t.Errorf("%v: %s", err, text(t, shown))
		}
		if len(tx.TxIn) > 0 && parseTx(t, shown.Hex.String()).WitnessHash() != tx.WitnessHash() {
			t.Errorf("hex is another transaction: %v", shown.Hex)
		}
	})
}

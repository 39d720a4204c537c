package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// many is how many transactions or addresses a busy wallet has.
const many = 100_000

// busyName is the name of the wallet to measure.
const busyName = "busy"

// BenchmarkWalletLoad loads a wallet of 1,000 keys that holds 100,000
// transactions, counts them and unloads it.
func BenchmarkWalletLoad(b *testing.B) {
	var all []*contender
	for _, h := range openHolders(b).fill(b, 1_000, many) {
		all = append(all, &contender{run: func() error {
			if err := h.Call(b.Context(), nil, "loadwallet", busyName); err != nil {
				return err
			}
			var info struct {
				Transactions int `json:"txcount"`
			}
			if err := h.Call(b.Context(), &info, "getwalletinfo"); err != nil {
				return err
			}
			if info.Transactions != many {
				return fmt.Errorf("%w: %d transactions", errWrongAnswer, info.Transactions)
			}
			return h.Call(b.Context(), nil, "unloadwallet", busyName)
		}})
	}
	competeWithCore(b, all)
}

// BenchmarkListReceived asks a wallet of 100,000 addresses what they received:
// one of them, and all, where few of them were paid and where each was.
func BenchmarkListReceived(b *testing.B) {
	nodes := openHolders(b)
	for _, paid := range []int{100, many} {
		loaded := nodes.fill(b, many, paid)
		for _, h := range loaded {
			h.must(b, nil, "loadwallet", busyName)
		}
		for _, lines := range []int{1, paid} {
			b.Run(fmt.Sprintf("paid=%d/lines=%d", paid, lines), func(b *testing.B) {
				var all []*contender
				for _, h := range loaded {
					all = append(all, h.listing(b, lines, paid))
				}
				competeWithCore(b, all)
			})
		}
		for _, h := range loaded {
			h.must(b, nil, "unloadwallet", busyName)
		}
	}
}

// competeWithCore measures the first contender, and Core where it is the second.
func competeWithCore(b *testing.B, all []*contender) {
	b.Helper()
	compete(b, all...)
	b.ReportMetric(milliseconds(all[0].median()), "ms")
	if len(all) > 1 {
		b.ReportMetric(milliseconds(all[1].median()), "core-ms")
		all[0].reportRatio(b, all[1], "x-core")
	}
}

// A holder is a node that has the wallet among its files.
type holder struct {
	*peer

	wallets string   // folder
	scripts [][]byte // of the wallet's addresses

	unsigned string // a transaction of many inputs
	coins    []any  // that it spends
}

// listing asks for one address, or for all that were paid.
func (h *holder) listing(b *testing.B, lines, paid int) *contender {
	b.Helper()
	params := []any{1, false, true}
	if lines < paid {
		params = append(params, addressOf(b, h.scripts[paid/2]))
	}
	return &contender{run: func() error {
		var got []struct {
			Amount float64 `json:"amount"`
		}
		if err := h.Call(b.Context(), &got, "listreceivedbyaddress", params...); err != nil {
			return err
		}
		if len(got) != lines || got[0].Amount <= 0 {
			return fmt.Errorf("%w: %d lines", errWrongAnswer, len(got))
		}
		return nil
	}}
}

// holders are the node and, where there is one, Core.
type holders []*holder

func openHolders(b *testing.B) holders {
	b.Helper()
	dir := filepath.Join(folder(b), "trawl")
	all := holders{{peer: open(b, node(dir, 0)), wallets: filepath.Join(dir, "wallets")}}
	if rival := core(b); rival != nil {
		all = append(all, &holder{peer: rival, wallets: filepath.Join(folder(b), "core", "regtest", "wallets")})
	}
	return all
}

// fill gives all the same wallet of public keys, to whose addresses the given
// number of transactions pay in turn.
func (all holders) fill(b *testing.B, keys, txs int) holders {
	b.Helper()
	var block string
	all[0].must(b, &block, "getblockhash", 1)
	backup := all[0].makeKeys(b, keys)
	scripts := fill(b, backup, keys, txs, block)
	for _, h := range all {
		h.scripts = scripts
		place(b, backup, h.wallets)
	}
	return all
}

// place puts a copy of the wallet into the node's folder of wallets.
func place(b *testing.B, backup, wallets string) {
	b.Helper()
	dir := filepath.Join(wallets, busyName)
	data, err := os.ReadFile(backup)
	if err := errors.Join(err, os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, walletdb.FileName), data, 0o600); err != nil {
		b.Fatal(err)
	}
}

// makeKeys makes a wallet of one descriptor on the chain to measure with, which
// has seen all its blocks.
func (h *holder) makeKeys(b *testing.B, keys int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "backup.dat")
	h.must(b, nil, "createwallet", "made", true, true)
	defer os.RemoveAll(filepath.Join(h.wallets, "made"))
	h.must(b, nil, "importdescriptors", []any{map[string]any{
		"desc": descriptor.AddChecksum(keyText), "timestamp": "now", "range": keys - 1,
	}})
	h.must(b, nil, "backupwallet", path)
	h.must(b, nil, "unloadwallet", "made")
	return path
}

const keyText = "wpkh(" + masterKey + "/7/*)"

var regtest = descriptor.NetworkOf(&chaincfg.RegressionNetParams)

// fill labels every address and lets transactions of a block pay to them in turn.
func fill(b *testing.B, path string, keys, txs int, block string) [][]byte {
	b.Helper()
	hash, err := chainhash.NewHashFromStr(block)
	if err != nil {
		b.Fatal(err)
	}
	scripts := expand(b, keys)
	magic := [4]byte(binary.LittleEndian.AppendUint32(nil, uint32(chaincfg.RegressionNetParams.Net)))
	db, err := walletdb.Open(path, walletdb.Options{Magic: magic})
	if err != nil {
		b.Fatal(err)
	}
	err = db.Update(func(batch *walletdb.Batch) error {
		for _, script := range scripts {
			address := addressOf(b, script)
			label := walletfile.Name{Address: address, Label: "label"}
			purpose := walletfile.Purpose{Address: address, Purpose: "receive"}
			if err := errors.Join(batch.PutEntry(label), batch.PutEntry(purpose)); err != nil {
				return err
			}
		}
		for i := range txs {
			if err := batch.PutEntry(payment(i, scripts[i%keys], *hash)); err != nil {
				return err
			}
		}
		return batch.PutEntry(walletfile.OrderPosNext(txs))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		b.Fatal(err)
	}
	return scripts
}

// payment is a transaction as a wallet keeps it.
func payment(number int, script []byte, block chainhash.Hash) *walletfile.Tx {
	tx := wire.NewMsgTx(2)
	from := wire.OutPoint{Hash: chainhash.Hash{1}, Index: uint32(number)}
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: from, Sequence: wire.MaxTxInSequenceNum})
	tx.AddTxOut(wire.NewTxOut(coinValue(number), script))
	return &walletfile.Tx{
		ID: tx.TxHash(), Tx: tx, State: walletfile.ConfirmedState(block, int32(number+1)),
		OrderPos: int64(number), TimeSmart: 1_300_000_000, TimeReceived: 1_300_000_000,
	}
}

// coinValue is one of many values, half a million satoshis on average.
func coinValue(number int) int64 { return 10_000 + int64(number)*7919%1_000_003 }

func expand(b *testing.B, keys int) [][]byte {
	b.Helper()
	parsed, err := descriptor.Parse(keyText, regtest, descriptor.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var scripts [][]byte
	err = parsed[0].ExpandRange(b.Context(), 0, uint32(keys-1), 2, func(_ uint32, s [][]byte) error {
		scripts = append(scripts, s...)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return scripts
}

func addressOf(b *testing.B, script []byte) string {
	b.Helper()
	address, ok := descriptor.AddressOf(script, regtest)
	if !ok {
		b.Fatalf("%x has no address", script)
	}
	return address
}

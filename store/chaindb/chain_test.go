package chaindb

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// Facts about the recorded chain: chain.blk has the blocks 0 to 354 of a chain. The file
// branch.blk has the blocks 337 to 361 of a branch that leaves this chain after block 336.
const (
	chainHeight  = 354
	branchHeight = 361
	forkHeight   = 336
	chainTip     = "139127cbc18a93b9944df362e9159b093a2c90696e6695150316b3ba83d8ae48"
	branchTip    = "442ad4a94627d848dd4612c1c94bca4e2a55e05790c990046a71487b33a6773b"
)

var regtestMagic = [4]byte{0xfa, 0xbf, 0xb5, 0xda}

// regtest returns Core's parameters, in which every rule is active from the
// start. They are a fresh copy: a chain writes into its deployments.
func regtest() *chaincfg.Params {
	p := chaincfg.RegressionNetParams
	p.BIP0034Height, p.BIP0065Height, p.BIP0066Height = 1, 1, 1
	for i := range p.Deployments {
		d := &p.Deployments[i]
		d.AlwaysActiveHeight = 1
		d.DeploymentStarter = chaincfg.NewMedianTimeDeploymentStarter(time.Time{})
		d.DeploymentEnder = chaincfg.NewMedianTimeDeploymentEnder(time.Time{})
	}
	return &p
}

// testOptions are those of a small database below dir.
func testOptions(dir string) Options {
	return Options{
		Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"),
		Magic: regtestMagic, XOR: true, FastPrune: true, Log: slog.New(slog.DiscardHandler),
	}
}

// open opens a database that the test's end closes.
func open(tb testing.TB, o Options) *DB {
	tb.Helper()
	db, err := Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil && !errors.Is(err, ErrClosed) {
			tb.Error(err)
		}
	})
	return db
}

// newChain starts btcd's chain over a database.
func newChain(tb testing.TB, db *DB) *blockchain.BlockChain {
	tb.Helper()
	chain, err := blockchain.New(&blockchain.Config{
		DB: db.BTCD(), ChainParams: regtest(), TimeSource: blockchain.NewMedianTime(), UtxoCacheMaxSize: 1 << 20,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return chain
}

// readBlocks returns the blocks of a file of the recorded chain.
func readBlocks(tb testing.TB, name string) []*wire.MsgBlock {
	tb.Helper()
	f, err := os.Open(filepath.Join("../../internal/e2e/testdata/golden/regtest-chain", name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := io.ReadAll(unpacked)
	if err != nil {
		tb.Fatal(err)
	}
	var blocks []*wire.MsgBlock
	s := blockfile.NewScanner(
		bytes.NewReader(raw), int64(len(raw)), regtestMagic, blockfile.Key{}, blockfile.MaxBlockSize,
	)
	for {
		record, err := s.Next()
		if errors.Is(err, io.EOF) {
			return blocks
		}
		if err != nil {
			tb.Fatal(err)
		}
		block := new(wire.MsgBlock)
		if err := block.Deserialize(bytes.NewReader(record.Block)); err != nil {
			tb.Fatal(err)
		}
		blocks = append(blocks, block)
	}
}

// feed gives blocks to the chain, which does not run their scripts unless it
// reorganises; a block that it has already is no error.
func feed(tb testing.TB, chain *blockchain.BlockChain, blocks []*wire.MsgBlock) {
	tb.Helper()
	feedWith(tb, chain, blocks, blockchain.BFFastAdd)
}

func feedWith(tb testing.TB, chain *blockchain.BlockChain, blocks []*wire.MsgBlock, flags blockchain.BehaviorFlags) {
	tb.Helper()
	for _, block := range blocks {
		_, orphan, err := chain.ProcessBlock(btcutil.NewBlock(block), flags)
		var rule blockchain.RuleError
		if errors.As(err, &rule) && rule.ErrorCode == blockchain.ErrDuplicateBlock {
			continue
		}
		if err != nil || orphan {
			tb.Fatalf("block %v: orphan %v, %v", block.BlockHash(), orphan, err)
		}
	}
}

func wantTip(tb testing.TB, chain *blockchain.BlockChain, height int32, hash string) {
	tb.Helper()
	if best := chain.BestSnapshot(); best.Height != height || best.Hash.String() != hash {
		tb.Fatalf("tip is %d %v, want %d %s", best.Height, best.Hash, height, hash)
	}
}

// spentCoins computes what undo data says from the blocks of one chain.
func spentCoins(chain []*wire.MsgBlock) map[chainhash.Hash][][]blockfile.Coin {
	undo := map[chainhash.Hash][][]blockfile.Coin{}
	outputs := map[wire.OutPoint]blockfile.Coin{}
	for height, block := range chain {
		var spent [][]blockfile.Coin
		for i, msgTx := range block.Transactions {
			if i > 0 {
				coins := make([]blockfile.Coin, len(msgTx.TxIn))
				for j, in := range msgTx.TxIn {
					coins[j] = outputs[in.PreviousOutPoint]
				}
				spent = append(spent, coins)
			}
			hash := msgTx.TxHash()
			for j, out := range msgTx.TxOut {
				outputs[wire.OutPoint{Hash: hash, Index: uint32(j)}] = blockfile.Coin{
					Height: int32(height), Coinbase: i == 0, Amount: out.Value, Script: out.PkScript,
				}
			}
		}
		if height > 0 {
			undo[block.BlockHash()] = spent
		}
	}
	return undo
}

// wantUndo checks the undo data of every block given.
func wantUndo(tb testing.TB, db *DB, want map[chainhash.Hash][][]blockfile.Coin) {
	tb.Helper()
	for hash, txs := range want {
		got, err := db.Undo(&hash)
		if err != nil {
			tb.Fatal(err)
		}
		if !bytes.Equal(blockfile.AppendUndo(nil, got), blockfile.AppendUndo(nil, txs)) {
			tb.Fatalf("undo data of %v is %v, want %v", hash, got, txs)
		}
		scripts, err := db.SpentScripts(&hash)
		if err != nil {
			tb.Fatal(err)
		}
		for _, coins := range txs {
			for _, coin := range coins {
				if !bytes.Equal(scripts[0], coin.Script) {
					tb.Fatalf("spent script in %v is %x, want %x", hash, scripts[0], coin.Script)
				}
				scripts = scripts[1:]
			}
		}
		if len(scripts) > 0 {
			tb.Fatalf("%d spent scripts too many in %v", len(scripts), hash)
		}
	}
}

// wantBlocks checks that every block given reads back.
func wantBlocks(tb testing.TB, db *DB, blocks []*wire.MsgBlock) {
	tb.Helper()
	for _, block := range blocks {
		hash := block.BlockHash()
		var want bytes.Buffer
		if err := block.Serialize(&want); err != nil {
			tb.Fatal(err)
		}
		got, err := db.Block(&hash)
		if err != nil {
			tb.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			tb.Fatalf("block %v differs", hash)
		}
		header, err := db.BlockHeader(&hash)
		if err != nil || !bytes.Equal(header[:], got[:80]) {
			tb.Fatalf("header of %v is %x, %v", hash, header, err)
		}
		if size, err := db.BlockSize(&hash); err != nil || size != len(got) {
			tb.Fatalf("size of %v is %d, %v", hash, size, err)
		}
	}
}

// blockBytes sums the sizes of all files of a kind.
func blockBytes(tb testing.TB, o Options, kind blockfile.Kind) (total int64) {
	tb.Helper()
	numbers, err := kind.Numbers(vfs.OS, o.BlocksDir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, n := range numbers {
		info, err := os.Stat(kind.Path(o.BlocksDir, n))
		if err != nil {
			tb.Fatal(err)
		}
		total += info.Size()
	}
	return total
}

// TestReorganisation runs btcd's chain through a reorganisation and back, with
// a restart at each step, and asks for the undo data of all blocks each time.
func TestReorganisation(t *testing.T) {
	t.Parallel()
	o := testOptions(t.TempDir())
	chainA, onlyB := readBlocks(t, "chain.blk.gz"), readBlocks(t, "branch.blk.gz")
	chainB := append(chainA[:forkHeight+1:forkHeight+1], onlyB...)

	db := open(t, o)
	chain := newChain(t, db)
	feedWith(t, chain, chainA[1:], blockchain.BFNone)
	wantTip(t, chain, chainHeight, chainTip)
	wantUndo(t, db, spentCoins(chainA))
	genesis := chainA[0].BlockHash()
	if _, err := db.Undo(&genesis); !errors.Is(err, ErrNotFound) {
		t.Fatalf("undo data of the genesis block: %v", err)
	}
	db = reopen(t, db, chain)

	chain = newChain(t, db)
	wantTip(t, chain, chainHeight, chainTip)
	feedWith(t, chain, onlyB, blockchain.BFNone)
	wantTip(t, chain, branchHeight, branchTip)
	db = reopen(t, db, nil) // the UTXO cache is lost and made again from undo data

	chain = newChain(t, db)
	wantTip(t, chain, branchHeight, branchTip)
	wantUndo(t, db, spentCoins(chainA))
	wantUndo(t, db, spentCoins(chainB))
	wantBlocks(t, db, chainA)
	wantBlocks(t, db, onlyB)

	// Back and forth: the undo data is there already.
	before := blockBytes(t, o, blockfile.Undo)
	fork := onlyB[0].BlockHash()
	if err := chain.InvalidateBlock(&fork); err != nil {
		t.Fatal(err)
	}
	wantTip(t, chain, chainHeight, chainTip)
	if err := chain.ReconsiderBlock(&fork); err != nil {
		t.Fatal(err)
	}
	wantTip(t, chain, branchHeight, branchTip)
	if after := blockBytes(t, o, blockfile.Undo); after != before {
		t.Fatalf("rev files grew from %d to %d bytes", before, after)
	}
}

// reopen closes a database, after the chain over it if there is one, and opens
// it again.
func reopen(tb testing.TB, db *DB, chain *blockchain.BlockChain) *DB {
	tb.Helper()
	if chain != nil {
		if err := chain.FlushUtxoCache(blockchain.FlushRequired); err != nil {
			tb.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	return open(tb, db.o)
}

package wallet_test

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// testChain is a chain of blocks, all of them active.
type testChain struct {
	blocks  []*txs.Block
	median  []int64
	places  map[chainhash.Hash]int32
	outputs map[wire.OutPoint][]byte // scripts
	filters []map[string]bool        // scripts that a block pays to or spends from
}

func newTestChain() *testChain {
	return &testChain{places: make(map[chainhash.Hash]int32), outputs: make(map[wire.OutPoint][]byte)}
}

// Find implements [txs.Chain].
func (c *testChain) Find(hash *chainhash.Hash) (txs.BlockRef, bool) {
	height, ok := c.places[*hash]
	if !ok {
		return txs.BlockRef{}, false
	}
	return c.blocks[height].BlockRef, true
}

func (c *testChain) add(block *wire.MsgBlock) {
	b := &txs.Block{Txs: block.Transactions}
	b.Hash, b.Height, b.Time = block.BlockHash(), int32(len(c.blocks)), block.Header.Timestamp.Unix()
	b.MaxTime = b.Time
	if len(c.blocks) > 0 {
		b.MaxTime = max(b.Time, c.blocks[len(c.blocks)-1].MaxTime)
	}
	c.blocks = append(c.blocks, b)
	c.places[b.Hash] = b.Height
	c.filters = append(c.filters, c.filter(b))
	times := make([]int64, 0, 11)
	for _, last := range c.blocks[max(0, len(c.blocks)-11):] {
		times = append(times, last.Time)
	}
	slices.Sort(times)
	c.median = append(c.median, times[len(times)/2])
}

// filter returns what a block filter is made of.
func (c *testChain) filter(b *txs.Block) map[string]bool {
	scripts := make(map[string]bool)
	for _, t := range b.Txs {
		for _, in := range t.TxIn {
			scripts[string(c.outputs[in.PreviousOutPoint])] = true
		}
		id := t.TxHash()
		for i, out := range t.TxOut {
			scripts[string(out.PkScript)] = true
			c.outputs[wire.OutPoint{Hash: id, Index: uint32(i)}] = out.PkScript
		}
	}
	return scripts
}

// matches reports whether the block filter holds a script of the wallet.
func (c *testChain) matches(height int32, w *wallet.Wallet) bool {
	for pkScript := range c.filters[height] {
		if w.Keys().IsMine([]byte(pkScript)) {
			return true
		}
	}
	return false
}

func (c *testChain) tip() messages.Tip {
	last := c.blocks[len(c.blocks)-1]
	return messages.Tip{Hash: last.Hash, Height: last.Height}
}

func (c *testChain) locator() walletfile.Locator {
	return walletfile.NewLocator(c.tip().Height, func(height int32) chainhash.Hash { return c.blocks[height].Hash })
}

// recordedChain is the chain that the recordings were made on.
var recordedChain = sync.OnceValue(func() *testChain {
	c := newTestChain()
	for _, block := range readBlocks("testdata/chain.blk.gz") {
		c.add(block)
	}
	return c
})

func unzip(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		panic(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return raw
}

// attach brings a wallet up to the tip as Core does after loading it: one pass
// over the blocks from where the wallet was.
func attach(w *wallet.Wallet, c *testChain, everything bool) {
	w.Txs().SetTip(c.tip())
	start := int32(0)
	if !everything {
		for _, hash := range w.Txs().BestBlock() {
			if height, ok := c.places[hash]; ok {
				start = height
				break
			}
		}
	}
	if start == c.tip().Height {
		return
	}
	birth, born := w.BirthTime()
	for start < c.tip().Height && (!born || c.blocks[start].MaxTime < birth-2*60*60) {
		start++
	}
	scan(w, c, start)
}

// scan looks through the blocks that match the wallet's scripts, as a rescan by
// filters does, until there are no further scripts.
func scan(w *wallet.Wallet, c *testChain, start int32) {
	for had := -1; had < len(w.Keys().Scripts()); {
		had = len(w.Keys().Scripts())
		for _, b := range c.blocks[start:] {
			if c.matches(b.Height, w) {
				w.Txs().ScanBlock(b, 1_800_000_000)
			}
		}
	}
	w.Txs().SetTip(c.tip())
	w.Txs().SaveBestBlock(c.locator())
}

// testOpen opens a wallet from records.
func testOpen(tb testing.TB, records []walletfile.Record, p wallet.Params, c txs.Chain) *wallet.Wallet {
	tb.Helper()
	content, severity, err := walletfile.Load(context.Background(), slices.Values(records), p.LoadOptions())
	if err != nil {
		tb.Fatal(err)
	}
	w, err := wallet.Open(content, severity == walletfile.OK, p, c)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

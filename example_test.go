package trawl_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
)

// A program embeds a node in its own actor system and has it import a file of
// blocks. It scans the blocks twice: from the outside, with Ask, and from one
// of its own actors, with protoactor's requests.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "trawl")
	must(err)
	defer os.RemoveAll(dir)

	quiet := slog.New(slog.DiscardHandler)
	host := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	node, err := trawl.Open(ctx, trawl.Config{
		Dir: dir, Chain: "main", BlockFilterIndex: true,
		LoadBlock: []string{firstBlocks(dir, 400_000)},
		System:    host, ActorPrefix: "node/",
	})
	must(err)

	_, err = trawl.Ask(ctx, node.Chain(), messages.WaitImported{})
	must(err)
	tip, err := trawl.Ask(ctx, node.Chain(), messages.GetTip{})
	must(err)
	_, err = trawl.Ask(ctx, node.Indexer(), messages.WaitIndexed{Block: tip.Hash})
	must(err)
	fmt.Println("height", tip.Height)

	// The key that block 9 pays to, which made the first payment ever.
	script, err := hex.DecodeString("410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2" +
		"e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac")
	must(err)
	slot, err := trawl.Ask(ctx, node.Scanner(), messages.ReserveScan{})
	must(err)
	found, err := trawl.Ask(ctx, node.Scanner(), messages.RunScan{
		Slot: slot.ID, Scripts: [][]byte{script}, Start: 0, Stop: tip.Hash, CheckBlocks: true,
	})
	must(err)
	fmt.Println("from outside", found.From, found.To, found.Completed)
	for _, block := range found.Blocks {
		fmt.Println(block)
	}

	results := make(chan messages.ScanResult)
	asker := host.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
		return &watcher{scanner: node.Scanner().PID(), script: script, stop: tip.Hash, results: results}
	}))
	found = <-results
	fmt.Println("from an actor", found.From, found.To, found.Completed, len(found.Blocks), "blocks")

	must(host.Root.StopFuture(asker).Wait())
	must(node.Close(ctx))
	// Output:
	// height 1728
	// from outside 0 1728 true
	// 000000008d9dc510f23c2657fc4f67bea30078cc05a90eb89e84cc475c080805
	// 00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee
	// 00000000dc55860c8a29c58d45209318fa9e9dc2c1833a7226d86bc465afc6e5
	// 0000000054487811fc4ff7a95be738aa5ad9320c394c482b27c0da28b227ad5d
	// 00000000f46e513f038baf6f2d9a95b2a28d8a6c985bcf24b9e07f0f63a29888
	// 00000000fb5b44edc7a1aa105075564a179d65506e2bd25f55f1629251d0f6b0
	// from an actor 0 1728 true 6 blocks
}

// A program scans in one call, which tells how far it is, and may be cancelled by its context.
func ExampleNode_Scan() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "trawl")
	must(err)
	defer os.RemoveAll(dir)
	node, err := trawl.Open(ctx, trawl.Config{
		Dir: dir, Chain: "main", BlockFilterIndex: true, LoadBlock: []string{firstBlocks(dir, 400_000)},
	})
	must(err)
	defer node.Close(ctx)
	_, err = trawl.Ask(ctx, node.Chain(), messages.WaitImported{})
	must(err)

	script, err := hex.DecodeString("410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2" +
		"e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac")
	must(err)
	progress := func(s messages.ScanStatus) { fmt.Fprintln(os.Stderr, s.Progress, "%") }
	found, err := node.Scan(ctx, messages.RunScan{Scripts: [][]byte{script}, CheckBlocks: true}, progress)
	must(err)
	fmt.Println(found.From, found.To, found.Completed, len(found.Blocks), "blocks")

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = node.Scan(cancelled, messages.RunScan{Scripts: [][]byte{script}}, nil)
	fmt.Println("cancelled:", errors.Is(err, context.Canceled))
	// Output:
	// 0 1728 true 6 blocks
	// cancelled: true
}

// A program finds every used account of a wallet from its words.
func ExampleNode_Discover() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "trawl")
	must(err)
	defer os.RemoveAll(dir)
	node, err := trawl.Open(ctx, trawl.Config{Dir: dir, Chain: "regtest", BlockFilterIndex: true})
	must(err)
	defer node.Close(ctx)
	const address = "bcrt1qr7scvm07ta0ldzlrmk7rnmc9lk356yarcts3za" // of the words, at m/84h/1h/0h/0/5
	_, err = node.Call(ctx, "generatetoaddress", []any{2, address})
	must(err)

	found, err := node.Discover(ctx, messages.DiscoverAccounts{
		Source: []byte("abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"),
		Gap:    20, AccountGap: 3,
	}, nil)
	must(err)
	for _, a := range found.Accounts {
		fmt.Println(a.Purpose, a.Number, a.Form, a.Balance(), "up to index", a.Chains[0].LastIndex)
	}
	fmt.Println(found.Completed, found.To, len(found.Chains), "descriptors")
	// Output:
	// 84 0 wpkh(KEY) 100 BTC up to index 25
	// true 2 26 descriptors
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// watcher is an actor of the host that runs one scan.
type watcher struct {
	scanner *actor.PID
	script  []byte
	stop    chainhash.Hash
	results chan<- messages.ScanResult
}

// Receive implements actor.Actor. Answers come as messages, so it never waits.
func (w *watcher) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		c.Request(w.scanner, messages.ReserveScan{})
	case messages.ScanSlot:
		future := c.RequestFuture(w.scanner, messages.RunScan{
			Slot: m.ID, Scripts: [][]byte{w.script}, Stop: w.stop, CheckBlocks: true,
		}, time.Minute)
		c.ReenterAfter(future, func(answer any, err error) {
			must(err)
			switch answer := answer.(type) {
			case messages.ScanResult:
				w.results <- answer
			case error:
				panic(answer)
			}
		})
	case error:
		panic(m)
	}
}

// firstBlocks unpacks the first blocks of the main chain, as many as there are in so many bytes.
func firstBlocks(dir string, size int64) string {
	packed, err := os.Open("internal/e2e/testdata/golden/mainnet/mainnet-0-14131.blk.gz")
	must(err)
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	must(err)
	path := filepath.Join(dir, "mainnet.blk")
	file, err := os.Create(path)
	must(err)
	defer file.Close()
	_, err = io.CopyN(file, unpacked, size)
	must(err)
	return path
}

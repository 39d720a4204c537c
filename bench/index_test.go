package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/btcutil/gcs/builder"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

// BenchmarkIndexBuild builds the filters of the stored chain in two ways. The
// first is in one goroutine from a block file to filters in memory. The second
// is by a node that finds its index missing, on all cores and up to the synced
// files.
//
// Package btcutil builds filters of parsed blocks, so that its time includes
// parsing and reading the file. Bitcoin Core builds its index with one thread;
// its log tells when the thread began and ended. The node's time includes its
// start.
func BenchmarkIndexBuild(b *testing.B) {
	x := theIndex()
	path := blockFile(b)
	b.Run("part=filters", func(b *testing.B) {
		x.benchmarkBuild(b, func() error {
			var maker filters.Builder
			return x.eachBlock(path, func(hash *chainhash.Hash, raw []byte) ([]byte, error) {
				return maker.BuildBlock(hash, raw, filters.HeaderLen, nil)
			})
		})
	})
	b.Run("part=index", func(b *testing.B) {
		start := node(filepath.Join(folder(b), "trawl"), 0)
		loaded(b, start).stop()
		rival := x.coreBuild(b)
		ours := x.benchmarkBuild(b, func() error { return x.rebuild(b, start) }, rival.contenders(b)...)
		rival.report(b, ours)
	})
}

func (x *index) benchmarkBuild(b *testing.B, build func() error, more ...*contender) *contender {
	b.Helper()
	path := blockFile(b)
	ours := &contender{run: build}
	btcutil := &contender{run: func() error { return x.eachBlock(path, buildBtcutil) }}
	compete(b, append([]*contender{ours, btcutil}, more...)...)
	b.ReportMetric(float64(len(x.filters))/ours.median().Seconds(), "blocks/s")
	b.ReportMetric(float64(ours.median())/float64(x.elements), "ns/elt")
	b.ReportMetric(float64(btcutil.median())/float64(x.elements), "btcutil-ns/elt")
	b.ReportMetric(ratio(btcutil.median(), ours.median()), "x-btcutil")
	return ours
}

// eachBlock builds the filter of every block of a file and compares it with the
// index.
func (x *index) eachBlock(path string, build func(hash *chainhash.Hash, raw []byte) ([]byte, error)) error {
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		return err
	}
	height := 0
	for record, err := range blockfile.ScanFile(path, network.Magic, network.MaxBlockSize) {
		if err != nil {
			return err
		}
		height++
		want := &x.filters[height]
		got, err := build(&want.Block, record.Block)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want.Data) {
			return fmt.Errorf("%w: filter of block %d", errWrongAnswer, height)
		}
	}
	return nil
}

func buildBtcutil(_ *chainhash.Hash, raw []byte) ([]byte, error) {
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	filter, err := builder.BuildBasicFilter(&block, nil)
	if err != nil {
		return nil, err
	}
	return filter.NBytes()
}

// rebuild starts a node without its index and stops it when that is complete.
// The last filter header, which commits to all filters, has to be right.
func (x *index) rebuild(b *testing.B, start starter) error {
	b.Helper()
	if err := os.RemoveAll(filepath.Join(folder(b), "trawl", "indexes")); err != nil {
		return err
	}
	p := start(b)
	defer p.stop()
	last := x.filters[len(x.filters)-1].Block
	if _, err := trawl.Ask(b.Context(), p.node.Indexer(), messages.WaitIndexed{Block: last}); err != nil {
		return err
	}
	var got struct {
		Header string `json:"header"`
	}
	if err := p.Call(b.Context(), &got, "getblockfilter", last.String()); err != nil {
		return err
	}
	if want := x.header(); got.Header != want.String() {
		return fmt.Errorf("%w: filter header %s, want %v", errWrongAnswer, got.Header, want)
	}
	return nil
}

// header returns the filter header of the last block.
func (x *index) header() (header chainhash.Hash) {
	for _, f := range x.filters {
		hash := filters.Hash(f.Data)
		header = filters.Header(&hash, &header)
	}
	return header
}

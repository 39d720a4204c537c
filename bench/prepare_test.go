package bench

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkPrepare makes the data that other benchmarks otherwise make at their
// first need: the chain, the node's data directory and, if BITCOIND is set,
// Bitcoin Core's data directory. With part=store it makes the store of
// BenchmarkStore.
func BenchmarkPrepare(b *testing.B) {
	b.Run("part=node", func(b *testing.B) {
		for b.Loop() {
			loaded(b, node(filepath.Join(folder(b), "trawl"), 0)).stop()
		}
	})
	b.Run("part=core", func(b *testing.B) {
		binary := os.Getenv("BITCOIND")
		if binary == "" {
			b.Skip("BITCOIND names no program")
		}
		for b.Loop() {
			loaded(b, bitcoind(binary, filepath.Join(folder(b), "core"))).stop()
		}
	})
	b.Run("part=store", func(b *testing.B) {
		for b.Loop() {
			generatedStore(b)
		}
	})
}

package bench

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkPrepare makes what other benchmarks make when they first need it: the
// chain, the node's data directory, that of Bitcoin Core where BITCOIND names
// one, and, with part=store, the store of BenchmarkStore.
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

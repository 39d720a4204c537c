package slhdsa

import (
	"strings"
	"testing"
	"time"
)

// BenchmarkKernels makes a key, signs, verifies and hashes with each kernel in turn. The
// portable one, which asks crypto/sha256 for one hash after the other, is the measure.
func BenchmarkKernels(b *testing.B) {
	v := golden[signatureVectors](b, "signatures.json.gz").Valid[0]
	key, public := parseKey(b, v.SK), parsePublic(b, v.PK)
	entropy := make([]byte, EntropySize)
	nodes := make([]node, 1<<10)
	for _, bench := range []struct {
		what string
		work func(k kernel) error
	}{
		{"key", func(kernel) error { _, err := GenerateKey(entropy); return err }},
		{"sign", func(kernel) error { _, err := key.sign(v.Message); return err }},
		{"verify", func(kernel) error { public.Verify(v.Message, v.Signature); return nil }},
		{"chains", func(k kernel) error {
			t := k.newTweak(&node{})
			t.by.walk(t, newAddress(0, 0, kindChain, 0), chainStart, chainEnd)
			return nil
		}},
		{"leaves", func(k kernel) error {
			t := k.newTweak(&node{})
			t.by.leaves(t, newAddress(0, 0, kindFORSTree, 0), 0, nodes)
			return nil
		}},
		{"parents", func(k kernel) error {
			t := k.newTweak(&node{})
			t.by.parents(t, newAddress(0, 0, kindFORSTree, 0), 1, 0, nodes)
			return nil
		}},
	} {
		b.Run("what="+bench.what, func(b *testing.B) { benchTurns(b, bench.work) })
	}
}

// benchTurns has the kernels work in turn, and reports the fastest round of each.
func benchTurns(b *testing.B, work func(k kernel) error) {
	b.Helper()
	best := make(map[string]time.Duration)
	all := kernels
	defer func() { kernels = all }()
	for b.Loop() {
		for _, k := range all {
			kernels = []kernel{k}
			began := time.Now()
			if err := work(k); err != nil {
				b.Fatal(err)
			}
			if took := time.Since(began); best[k.name] == 0 || took < best[k.name] {
				best[k.name] = took
			}
		}
	}
	one := best["portable"]
	for name, took := range best {
		unit := strings.ReplaceAll(name, " ", "-")
		b.ReportMetric(float64(took.Nanoseconds())/1e6, unit+"-ms")
		if name != "portable" {
			b.ReportMetric(float64(one)/float64(took), "x-"+unit)
		}
	}
}

// BenchmarkGenerateKeys makes a batch of a key pool on all processors.
func BenchmarkGenerateKeys(b *testing.B) {
	entropies := make([][]byte, 16)
	for i := range entropies {
		entropies[i] = make([]byte, EntropySize)
	}
	for b.Loop() {
		if _, err := GenerateKeys(b.Context(), entropies); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(entropies))/b.Elapsed().Seconds(), "keys/s")
}

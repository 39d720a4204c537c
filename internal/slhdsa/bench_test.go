package slhdsa

import "testing"

func benchEachKernel(b *testing.B, bench func(*testing.B)) {
	b.Helper()
	for _, k := range kernels {
		b.Run(k.name, func(b *testing.B) {
			useKernel(b, k)
			bench(b)
		})
	}
}

func BenchmarkGenerateKey(b *testing.B) {
	entropy := make([]byte, EntropySize)
	benchEachKernel(b, func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			if _, err := GenerateKey(entropy); err != nil {
				b.Fatal(err)
			}
		}
	})
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

func BenchmarkVerify(b *testing.B) {
	v := golden[signatureVectors](b, "signatures.json.gz").Valid[0]
	key := parsePublic(b, v.PK)
	benchEachKernel(b, func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			key.Verify(v.Message, v.Signature)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	v := golden[signatureVectors](b, "signatures.json.gz").Valid[0]
	key := parseKey(b, v.SK)
	benchEachKernel(b, func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			if _, err := key.sign(v.Message); err != nil {
				b.Fatal(err)
			}
		}
	})
}

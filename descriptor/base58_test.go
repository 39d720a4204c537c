package descriptor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"
	"pgregory.net/rapid"
)

// TestBase58 holds both directions against another implementation.
func TestBase58(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := append(
			make([]byte, rapid.IntRange(0, 4).Draw(t, "zeros")), rapid.SliceOfN(rapid.Byte(), 0, 86).Draw(t, "raw")...,
		)
		want := base58.Encode(raw)
		if got := string(appendBase58([]byte("> "), bytes.Clone(raw))); got != "> "+want {
			t.Fatalf("%x is %s, want %s", raw, got, want)
		}
		if len(want) <= maxBase58Len && !bytes.Equal(decodeBase58(want), raw) {
			t.Fatalf("%s is %x, want %x", want, decodeBase58(want), raw)
		}
		text := rapid.StringOfN(rapid.RuneFrom([]rune(base58Digits+"0OIl é")), 0, 60, -1).Draw(t, "text")
		if got, want := decodeBase58(text), base58.Decode(text); !bytes.Equal(got, want) {
			t.Fatalf("%q is %x, want %x", text, got, want)
		}
	})
	for _, text := range []string{strings.Repeat("z", maxBase58Len), strings.Repeat("1", maxBase58Len)} {
		if got := decodeBase58(text); !bytes.Equal(got, base58.Decode(text)) {
			t.Errorf("%s is %x", text, got)
		}
	}
}

// BenchmarkBase58 reads and writes an extended key.
func BenchmarkBase58(b *testing.B) {
	raw := bytes.Repeat([]byte{0xa5}, 82)
	text := base58.Encode(raw)
	room, copied := make([]byte, 0, 128), make([]byte, len(raw))
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			copy(copied, raw)
			appendBase58(room, copied)
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			decodeBase58(text)
		}
	})
	b.Run("encode, btcutil", func(b *testing.B) {
		for b.Loop() {
			base58.Encode(raw)
		}
	})
	b.Run("decode, btcutil", func(b *testing.B) {
		for b.Loop() {
			base58.Decode(text)
		}
	})
}

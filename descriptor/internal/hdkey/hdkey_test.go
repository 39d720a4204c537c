package hdkey

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/btcutil/hdkeychain"
)

// vectors are chains of the BIP: the text of the last key, which is reached
// from the first by the path.
var vectors = []struct {
	root string
	path []uint32
	want string // extended public key
}{
	{
		"xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
		[]uint32{Hardened, 1, Hardened | 2, 2, 1000000000},
		"xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy",
	},
	{
		"xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U",
		[]uint32{0, Hardened | 2147483647, 1, Hardened | 2147483646, 2},
		"xpub6FnCn6nSzZAw5Tw7cgR9bi15UV96gLZhjDstkXXxvCLsUXBGXPdSnLFbdpq8p9HmGsApME5hQTZ3emM2rnY5agb9rXpVGyy3bdW6EEgAtqt",
	},
	{ // keys with leading zeros
		"xprv9s21ZrQH143K25QhxbucbDDuQ4naNntJRi4KUfWT7xo4EKsHt2QJDu7KXp1A3u7Bi1j8ph3EGsZ9Xvz9dGuVrtHHs7pXeTzjuxBrCmmhgC6",
		[]uint32{Hardened},
		"xpub68NZiKmJWnxxS6aaHmn81bvJeTESw724CRDs6HbuccFQN9Ku14VQrADWgqbhhTHBaohPX4CjNLf9fq9MYo6oDaPPLPxSb7gwQN3ih19Zm4Y",
	},
}

func payloadOf(tb testing.TB, text string) *[PayloadSize]byte {
	tb.Helper()
	raw := base58.Decode(text)
	if len(raw) != 4+PayloadSize+4 {
		tb.Fatalf("%s has %d bytes", text, len(raw))
	}
	return (*[PayloadSize]byte)(raw[4:])
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		root, ok := ParsePrivate(payloadOf(t, v.root))
		if !ok {
			t.Fatalf("%s does not parse", v.root)
		}
		if got := root.PrivatePayload(); got != *payloadOf(t, v.root) {
			t.Errorf("%s: prints %x", v.root, got)
		}
		key, err := root.Derive(v.path...)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := key.PublicPayload(), *payloadOf(t, v.want); got != want {
			t.Errorf("%s: got %x, want %x", v.want, got, want)
		}
		again, ok := ParsePublic(payloadOf(t, v.want))
		if !ok || again != key.Neuter() {
			t.Errorf("%s does not parse to the derived key", v.want)
		}
	}
}

// TestInvalid has the invalid keys of the BIP's fifth vector that are invalid
// without looking at the version.
func TestInvalid(t *testing.T) {
	valid := *payloadOf(t, vectors[0].root)
	for name, spoil := range map[string]func(p *[PayloadSize]byte){
		"depth 0 with parent": func(p *[PayloadSize]byte) { p[1] = 1 },
		"depth 0 with index":  func(p *[PayloadSize]byte) { p[8] = 1 },
		"prefix":              func(p *[PayloadSize]byte) { p[41] = 4 },
		"key 0":               func(p *[PayloadSize]byte) { clear(p[42:]) },
		"key above the order": func(p *[PayloadSize]byte) { copy(p[42:], bytes.Repeat([]byte{0xff}, 32)) },
	} {
		p := valid
		spoil(&p)
		if _, ok := ParsePrivate(&p); ok {
			t.Errorf("%s: private key parses", name)
		}
		if _, ok := ParsePublic(&p); ok {
			t.Errorf("%s: public key parses", name)
		}
	}
}

// TestPublicMatchesPrivate derives the same children both ways, singly and in
// ranges of several sizes.
func TestPublicMatchesPrivate(t *testing.T) {
	root, _ := ParsePrivate(payloadOf(t, vectors[0].root))
	public := root.Neuter()
	for _, hardened := range []bool{false, true} {
		r, err := NewRange(&root, hardened)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 7, 130, 3} {
			keys := make([]byte, 33*n)
			const first = 1<<31 - 200
			if err := r.PublicKeys(keys, first); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				index := uint32(first + i)
				var flag uint32
				if hardened {
					flag = Hardened
				}
				want, err := root.Child(index | flag)
				if err != nil {
					t.Fatal(err)
				}
				if got := keys[33*i : 33*i+33]; !bytes.Equal(got, want.PublicKey[:]) {
					t.Errorf("child %d, hardened %v: got %x, want %x", index, hardened, got, want.PublicKey)
				}
				if hardened {
					continue
				}
				if got, err := public.Child(index); err != nil || got != want.Neuter() {
					t.Errorf("child %d of the public key: %v, %v", index, got, err)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	root, _ := ParsePrivate(payloadOf(t, vectors[0].root))
	public := root.Neuter()
	if _, err := public.Child(Hardened); !errors.Is(err, ErrNeedsPrivateKey) {
		t.Errorf("hardened child of a public key: %v", err)
	}
	if _, err := NewRange(&public, true); !errors.Is(err, ErrNeedsPrivateKey) {
		t.Errorf("hardened children of a public key: %v", err)
	}
	deep := root
	deep.Depth = 255
	if _, err := deep.Child(0); !errors.Is(err, ErrDepth) {
		t.Errorf("child of a key at depth 255: %v", err)
	}
	if _, err := NewRange(&deep, false); !errors.Is(err, ErrDepth) {
		t.Errorf("children of a key at depth 255: %v", err)
	}
}

// BenchmarkRange derives the children of one chunk.
func BenchmarkRange(b *testing.B) {
	root, _ := ParsePrivate(payloadOf(b, vectors[0].root))
	r, err := NewRange(&root, false)
	if err != nil {
		b.Fatal(err)
	}
	keys := make([]byte, 33*128)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.PublicKeys(keys, 0); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*128), "µs/key")
}

// TestOracle holds ranges against the keys that hdkeychain derives.
func TestOracle(t *testing.T) {
	for i, v := range vectors {
		oracle, err := hdkeychain.NewKeyFromString(v.want)
		if err != nil {
			t.Fatal(err)
		}
		parent, ok := ParsePublic(payloadOf(t, v.want))
		if !ok {
			t.Fatalf("%s does not parse", v.want)
		}
		r, err := NewRange(&parent, false)
		if err != nil {
			t.Fatal(err)
		}
		const n = 300
		first := uint32(i) * 1_000_000
		keys := make([]byte, n*33)
		if err := r.PublicKeys(keys, first); err != nil {
			t.Fatal(err)
		}
		for j := range uint32(n) {
			child, err := oracle.Derive(first + j)
			if err != nil {
				t.Fatal(err)
			}
			want, err := child.ECPubKey()
			if err != nil {
				t.Fatal(err)
			}
			if got := keys[j*33 : j*33+33]; !bytes.Equal(got, want.SerializeCompressed()) {
				t.Errorf("child %d of %s: got %x, want %x", first+j, v.want, got, want.SerializeCompressed())
			}
		}
	}
}

// The private key of a child alone is that of the child.
func TestChildSecret(t *testing.T) {
	root, _ := ParsePrivate(payloadOf(t, vectors[0].root))
	for _, index := range []uint32{0, 1, Hardened - 1, Hardened, Hardened | 7, 1<<32 - 1} {
		child, err := root.Child(index)
		if err != nil {
			t.Fatal(err)
		}
		want := child.Secret()
		if got, err := root.ChildSecret(index); err != nil || !got.Equals(&want) {
			t.Errorf("child %d: %v", index, err)
		}
	}
	public := root.Neuter()
	if _, err := public.ChildSecret(0); !errors.Is(err, ErrNeedsPrivateKey) {
		t.Errorf("of a public key: %v", err)
	}
	root.Depth = 255
	if _, err := root.ChildSecret(0); !errors.Is(err, ErrDepth) {
		t.Errorf("too deep: %v", err)
	}
}

package descriptor_test

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/btcutil/hdkeychain"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/descriptor"
)

// keyOf returns an extended private key, parsed.
func keyOf(tb testing.TB, text string) (root descriptor.XPub, scalar [32]byte) {
	tb.Helper()
	key, err := hdkeychain.NewKeyFromString(text)
	if err != nil {
		tb.Fatal(err)
	}
	public, err := key.Neuter()
	if err != nil {
		tb.Fatal(err)
	}
	private, err := key.ECPrivKey()
	if err != nil {
		tb.Fatal(err)
	}
	return descriptor.XPub(base58.Decode(public.String())[4:]), [32]byte(private.Serialize())
}

// TestDeriveKey has the chains of BIP32, those whose keys begin with zeros too.
func TestDeriveKey(t *testing.T) {
	const h = 1 << 31
	for _, test := range []struct {
		root string
		path []uint32
		want string
	}{
		{
			"xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
			[]uint32{h, 1, h | 2, 2, 1000000000},
			"xprvA41z7zogVVwxVSgdKUHDy1SKmdb533PjDz7J6N6mV6uS3ze1ai8FHa8kmHScGpWmj4WggLyQjgPie1rFSruoUihUZREPSL39UNdE3BBDu76",
		},
		{
			"xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U",
			[]uint32{0, h | 2147483647, 1, h | 2147483646, 2},
			"xprvA2nrNbFZABcdryreWet9Ea4LvTJcGsqrMzxHx98MMrotbir7yrKCEXw7nadnHM8Dq38EGfSh6dqA9QWTyefMLEcBYJUuekgW4BYPJcr9E7j",
		},
		{
			"xprv9s21ZrQH143K25QhxbucbDDuQ4naNntJRi4KUfWT7xo4EKsHt2QJDu7KXp1A3u7Bi1j8ph3EGsZ9Xvz9dGuVrtHHs7pXeTzjuxBrCmmhgC6",
			[]uint32{h},
			"xprv9uPDJpEQgRQfDcW7BkF7eTya6RPxXeJCqCJGHuCJ4GiRVLzkTXBAJMu2qaMWPrS7AANYqdq6vcBcBUdJCVVFceUvJFjaPdGZ2y9WACViL4L",
		},
		{
			"xprv9s21ZrQH143K48vGoLGRPxgo2JNkJ3J3fqkirQC2zVdk5Dgd5w14S7fRDyHH4dWNHUgkvsvNDCkvAwcSHNAQwhwgNMgZhLtQC63zxwhQmRv",
			[]uint32{h, h | 1},
			"xprv9xJocDuwtYCMNAo3Zw76WENQeAS6WGXQ55RCy7tDJ8oALr4FWkuVoHJeHVAcAqiZLE7Je3vZJHxspZdFHfnBEjHqU5hG1Jaj32dVoS6XLT1",
		},
	} {
		root, scalar := keyOf(t, test.root)
		_, want := keyOf(t, test.want)
		got, ok := descriptor.DeriveKey(&root, &scalar, test.path)
		if !ok || got.Scalar != want || !got.Compressed {
			t.Errorf("%s %v: got %x, %v", test.root, test.path, got.Scalar, ok)
		}
	}
	root, _ := keyOf(t, "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi")
	for _, scalar := range [][32]byte{{}, [32]byte(bytes.Repeat([]byte{0xff}, 32))} {
		if _, ok := descriptor.DeriveKey(&root, &scalar, nil); ok {
			t.Errorf("%x is a private key", scalar)
		}
	}
}

// TestDeriveKeyLikeOracle derives along random paths, as hdkeychain does.
func TestDeriveKeyLikeOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.SliceOfN(rapid.Byte(), 16, 64).Draw(t, "seed")
		path := rapid.SliceOfN(rapid.Uint32(), 0, 6).Draw(t, "path")
		root, scalar, ok := descriptor.Master(seed)
		if !ok {
			t.Skip()
		}
		private := bytes.Clone(scalar[:])
		key := hdkeychain.NewExtendedKey([]byte{4, 0x35, 0x83, 0x94}, private, root[9:41], root[1:5], root[0], 0, true)
		for _, step := range path {
			child, err := key.Derive(step)
			if err != nil {
				t.Fatal(err)
			}
			key = child
		}
		want, err := key.ECPrivKey()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := descriptor.DeriveKey(&root, &scalar, path)
		if !ok || !bytes.Equal(got.Scalar[:], want.Serialize()) {
			t.Fatalf("%v: got %x, want %x", path, got.Scalar, want.Serialize())
		}
		if !bytes.Equal(got.PublicKey(), want.PubKey().SerializeCompressed()) {
			t.Fatalf("%v: another public key", path)
		}
	})
}

// BenchmarkDeriveKey derives the key of an input that is signed for.
func BenchmarkDeriveKey(b *testing.B) {
	root, scalar, _ := descriptor.Master(bytes.Repeat([]byte{7}, 32))
	path := []uint32{1<<31 | 84, 1 << 31, 1 << 31, 0, 5}
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			if _, ok := descriptor.DeriveKey(&root, &scalar, path); !ok {
				b.Fatal("no key")
			}
		}
	})
	b.Run("hdkeychain", func(b *testing.B) {
		for b.Loop() {
			key := hdkeychain.NewExtendedKey(
				nil, bytes.Clone(scalar[:]), bytes.Clone(root[9:41]), bytes.Clone(root[1:5]), 0, 0, true,
			)
			for _, step := range path {
				child, err := key.Derive(step)
				if err != nil {
					b.Fatal(err)
				}
				key = child
			}
		}
	})
}

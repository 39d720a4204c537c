package p2mr

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/slhdsa"
)

// TestDerivationVectors derives the recorded addresses from extended keys.
func TestDerivationVectors(t *testing.T) {
	var (
		sources []Source
		want    []string
	)
	type vector struct {
		XPrv, Path string
		First      uint32
		Addresses  []string
	}
	for _, v := range append(golden[[]vector](t, "derivation.json.gz"), vector{
		// A hardened wildcard.
		XPrv: testMaster, Path: "/87h/1h/0h/0/*h", First: 1,
		Addresses: []string{"qbrt1zmgacfklf3edl3rjjsgf5zwj53ucycsjlc9055acfpxwkea95axcsa6p9cf"},
	}) {
		for i := range v.Addresses {
			sources = append(sources, sourceAt(t, v.XPrv, v.Path, v.First+uint32(i)))
		}
		want = append(want, v.Addresses...)
	}
	keys, err := DeriveKeys(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		prefix, _, _ := strings.Cut(want[i], "1")
		if got := address(t, prefix, NewLeaf(KeyScript(key.Public())).Root()); got != want[i] {
			t.Errorf("address %d: %s, want %s", i, got, want[i])
		}
	}
}

// testMaster is the master key of the seed 000102030405060708090a0b0c0d0e0f.
const testMaster = "qrpvV1brS3WRoVwgTRUmDuJCX1t2rjaSWyE4sXWNuUs4ajSe8CP4YJjStqVvs59dz8bJLEyaG8CJ8g3kD1jBk3sN73ovK4vkkenmvpX4D8SJoP1"

// TestDerivationSteps compares what lies between an extended key and an output.
func TestDerivationSteps(t *testing.T) {
	source := sourceAt(t, testMaster, "/87h/1h/0h/0/*", 0)
	if want := fromHex(t, "4fd485fbc0bcd0f6c70d2ffddb9e49ce435f365a2c65053c26f89ff50ace528e"); !bytes.Equal(source.Scalar[:], want) {
		t.Fatalf("child key %x, want %x", source.Scalar, want)
	}
	entropy, err := source.entropy()
	if err != nil {
		t.Fatal(err)
	}
	want := fromHex(t, "a18d259253e89a8013f36e69b55ade0129e7ff01ff7741662e3db573f2573168cbc5520a22ca04fde6dbc1d7a8a4e841"+
		"e007a36135c7028c3dbafe4ece2b956cebc5831cc8a5d5216e307a5e96b802a638ba30555dd63d7d7d21dd61c814a16c"+
		"0bcb939cd61a84689f5d61753990aeb5fb6cea05eee472eab88564be776cff86")
	if !bytes.Equal(entropy, want) {
		t.Fatalf("entropy %x, want %x", entropy, want)
	}
	key, err := source.Key()
	if err != nil {
		t.Fatal(err)
	}
	want = fromHex(t, "21b43c96fd501f4733e8344f8a203faba84ffa27225041adf65cce477ca5aea7"+
		"3d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf")
	if got := key.Bytes(); !bytes.Equal(got, want) {
		t.Errorf("private key %x, want %x", got, want)
	}
	root := NewLeaf(KeyScript(key.Public())).Root()
	if want := "de2e972a4cb65ae1a250f65cf527f772c9fe653a14c1c3ac553f335ba9fe8cfb"; root.String() != want {
		t.Errorf("root %v, want %s", root, want)
	}
	if source.Zero(); source != (Source{}) {
		t.Error("a zeroed source keeps its key")
	}
}

func TestDeriveKeysCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if keys, err := DeriveKeys(ctx, make([]Source, 3)); keys != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%d keys, %v", len(keys), err)
	}
}

// TestTreeVectors pays to trees of two known keys.
func TestTreeVectors(t *testing.T) {
	pk0 := slhdsa.PublicKey(fromHex(t, "3d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf"))
	pk1 := slhdsa.PublicKey(fromHex(t, "3c7aa1c60e1da6f69c0e2675d1840c9e1e254a2766ed0f132cf35a8dc504d565"))
	two, err := NewBranch(NewLeaf(KeyScript(pk0)), NewLeaf(KeyScript(pk1)))
	if err != nil {
		t.Fatal(err)
	}
	multi := bytes.Join([][]byte{KeyScript(pk0), {32}, pk1[:], {OpCheckSigAdd, 0x52, 0x9c}}, nil)
	for _, test := range []struct {
		tree *Tree
		want string
	}{
		{two, "qbrt1zuj3rwznvqukplt6atn06lygeyaz5fjw04tnv2jt099ddxr84r2ks49kz06"},
		{NewLeaf(multi), "qbrt1zah8umnluszysmwxlcvaud2gq6jyak60mtsez0fancx4hwt4u4krsryeuch"},
	} {
		if got := address(t, "qbrt", test.tree.Root()); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

package slhdsa

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// hexBytes are bytes that JSON shows in hex.
type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	raw, err := hex.DecodeString(s)
	*h = raw
	return err
}

// golden reads a file of recorded vectors.
func golden[T any](tb testing.TB, name string) (vectors T) {
	tb.Helper()
	packed, err := os.ReadFile("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.NewDecoder(text).Decode(&vectors); err != nil {
		tb.Fatal(err)
	}
	return vectors
}

type keyVectors struct {
	Vectors []struct{ Random, Seed48, SK, PK hexBytes }
}

type signatureVectors struct {
	Valid   []validSignature
	Invalid []struct {
		PK, Message, Signature hexBytes
		Name, Reason           string
	}
}

type validSignature struct {
	PK, SK, Message, Signature hexBytes
	Name                       string
	Deterministic              bool
	Signing                    struct{ R0, R hexBytes }
	Trace                      trace
}

type trace struct {
	Digest20    hexBytes
	FORSIndices []uint32 `json:"fors_indices"`
	Tree        uint64
	Leaf        uint32
	Layers      []struct {
		Layer         int
		Tree          uint64
		Leaf          uint32
		Message, Root hexBytes
		Counter       uint16
		Digits        hexBytes
		WOTSPK        hexBytes `json:"wots_pk"`
	}
	FORSPK hexBytes `json:"fors_pk"`
}

func TestGenerateVectors(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		t.Helper()
		for i, v := range golden[keyVectors](t, "keygen.json.gz").Vectors {
			seeds := seedsOf(v.Random)
			if !bytes.Equal(seeds[:], v.Seed48) {
				t.Errorf("vector %d: seeds %x, want %x", i, seeds, v.Seed48)
			}
			key, err := GenerateKey(v.Random)
			if err != nil {
				t.Fatal(err)
			}
			if got := key.Bytes(); !bytes.Equal(got, v.SK) {
				t.Errorf("vector %d: private key %x, want %x", i, got, v.SK)
			}
			if got := key.Public(); !bytes.Equal(got[:], v.PK) {
				t.Errorf("vector %d: public key %v, want %x", i, got, v.PK)
			}
		}
	})
}

func TestSignVectors(t *testing.T) {
	for _, v := range golden[signatureVectors](t, "signatures.json.gz").Valid {
		if !v.Deterministic {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			key := parseKey(t, v.SK)
			if first := key.saltOf(v.Message); !bytes.Equal(first[:], v.Signing.R0) {
				t.Errorf("first salt %x, want %x", first, v.Signing.R0)
			}
			got, err := key.Sign(reserve(t, key.Public(), 1), v.Message)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got[:nodeSize], v.Signing.R) {
				t.Errorf("salt %x, want %x", got[:nodeSize], v.Signing.R)
			}
			if !bytes.Equal(got, v.Signature) {
				t.Errorf("signature %x…, want %x…", got[:nodeSize], v.Signature[:nodeSize])
			}
		})
	}
}

func TestVerifyVectors(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		t.Helper()
		vectors := golden[signatureVectors](t, "signatures.json.gz")
		for _, v := range vectors.Valid {
			if key := parsePublic(t, v.PK); !key.Verify(v.Message, v.Signature) {
				t.Errorf("%s: refused", v.Name)
			}
		}
		reasons := map[string]verdict{
			"signature length":                 wrongSize,
			"FORS+C compressed index not zero": wrongLastIndex,
			"root mismatch":                    wrongRoot,
		}
		for _, v := range vectors.Invalid {
			key := parsePublic(t, v.PK)
			if got := bounded.verify(&key, v.Message, v.Signature); got != reasons[v.Reason] || got == accepted {
				t.Errorf("%s: verdict %d, want %s", v.Name, got, v.Reason)
			}
		}
	})
}

// TestTraces compares what is computed on the way of a verification.
func TestTraces(t *testing.T) {
	for _, v := range golden[signatureVectors](t, "signatures.json.gz").Valid {
		t.Run(v.Name, func(t *testing.T) { checkTrace(t, &v) })
	}
}

func checkTrace(t *testing.T, v *validSignature) {
	t.Helper()
	key := parsePublic(t, v.PK)
	salt, seed := node(v.Signature), key.seed()
	full := newSalted(&key, v.Message).hash(&salt)
	if !bytes.Equal(full[:len(v.Trace.Digest20)], v.Trace.Digest20) {
		t.Fatalf("digest %x, want %x", full, v.Trace.Digest20)
	}
	d := bounded.digestOf(&full)
	if got := d.indices[:bounded.trees]; !slices.Equal(got, v.Trace.FORSIndices) {
		t.Errorf("indices %v, want %v", got, v.Trace.FORSIndices)
	}
	if d.tree != v.Trace.Tree || d.leaf != v.Trace.Leaf {
		t.Errorf("tree %d leaf %d, want %d and %d", d.tree, d.leaf, v.Trace.Tree, v.Trace.Leaf)
	}
	tw := newTweak(&seed)
	m := bounded.forsKeyOf(tw, &d, v.Signature[nodeSize:])
	if !bytes.Equal(m[:], v.Trace.FORSPK) {
		t.Errorf("FORS key %x, want %x", m, v.Trace.FORSPK)
	}
	at := place{tree: d.tree, leaf: d.leaf}
	for _, want := range v.Trace.Layers {
		if at != (place{want.Layer, want.Tree, want.Leaf}) || !bytes.Equal(m[:], want.Message) {
			t.Errorf("%+v signs %x, want %+v", at, m, want)
		}
		digits, counter, err := tw.digitsOf(&m)
		if err != nil || counter != want.Counter || !bytes.Equal(digits[:], want.Digits) {
			t.Errorf("layer %d: digits %x counter %d: %v, want %+v", want.Layer, digits, counter, err, want)
		}
		part := bounded.layerOf(v.Signature, want.Layer)
		oneTime := tw.oneTimeKeyOf(newAddress(at.layer, at.tree, kindChain, at.leaf), &digits, part)
		if !bytes.Equal(oneTime[:], want.WOTSPK) {
			t.Errorf("layer %d: one-time key %x, want %x", want.Layer, oneTime, want.WOTSPK)
		}
		if m, err = bounded.layerRootOf(tw, at, &m, part); err != nil || !bytes.Equal(m[:], want.Root) {
			t.Errorf("layer %d: root %x: %v, want %x", want.Layer, m, err, want.Root)
		}
		at = bounded.above(at)
	}
}

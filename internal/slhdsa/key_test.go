package slhdsa

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestGenerateKeys(t *testing.T) {
	entropies := make([][]byte, 5)
	for i := range entropies {
		entropies[i] = bytes.Repeat([]byte{byte(i)}, EntropySize+i)
	}
	keys, err := GenerateKeys(t.Context(), entropies)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		want, err := GenerateKey(entropies[i])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(key.Bytes(), want.Bytes()) {
			t.Errorf("key %d differs from the one made alone", i)
		}
	}
	entropies[3] = entropies[3][:EntropySize-1]
	if keys, err := GenerateKeys(t.Context(), entropies); keys != nil || !errors.Is(err, ErrEntropy) {
		t.Errorf("with short entropy: %d keys, %v", len(keys), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if keys, err := GenerateKeys(ctx, entropies[:2]); keys != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %d keys, %v", len(keys), err)
	}
	if keys, err := GenerateKeys(t.Context(), nil); len(keys) != 0 || err != nil {
		t.Errorf("of nothing: %d keys, %v", len(keys), err)
	}
}

func TestParseSizes(t *testing.T) {
	if _, err := GenerateKey(make([]byte, EntropySize-1)); !errors.Is(err, ErrEntropy) {
		t.Errorf("GenerateKey: %v", err)
	}
	for _, size := range []int{0, 31, 33, 63, 65} {
		if _, err := ParsePublicKey(make([]byte, size)); !errors.Is(err, ErrKeySize) {
			t.Errorf("ParsePublicKey of %d bytes: %v", size, err)
		}
		if _, err := ParsePrivateKey(make([]byte, size)); !errors.Is(err, ErrKeySize) {
			t.Errorf("ParsePrivateKey of %d bytes: %v", size, err)
		}
	}
}

// TestSecretsAreNotShown prints a key in all ways, alone and inside others.
func TestSecretsAreNotShown(t *testing.T) {
	raw := bytes.Repeat([]byte{0xab, 0xcd, 0xef, 0x97}, PrivateKeySize/4)
	copy(raw[2*nodeSize:], make([]byte, PublicKeySize))
	key := parseKey(t, raw)
	holder := struct {
		inside *PrivateKey
		value  PrivateKey
	}{key, *key}
	shown := new(strings.Builder)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		fmt.Fprintf(shown, verb+verb+verb+verb, key, *key, holder, &holder)
	}
	log := slog.New(slog.NewJSONHandler(shown, nil))
	log.Info("key", "key", key, "holder", holder)
	log = slog.New(slog.NewTextHandler(shown, nil))
	log.Info("key", "key", key, "value", *key, "holder", holder)
	for _, secret := range []string{
		"abcdef", "ABCDEF", "171 205 239", "0xab", string(raw[:8]), hex.EncodeToString(raw[:4]),
	} {
		if strings.Contains(shown.String(), secret) {
			t.Errorf("%q is shown: %s", secret, shown)
		}
	}
}

func TestZero(t *testing.T) {
	raw := bytes.Repeat([]byte{7}, PrivateKeySize)
	key := parseKey(t, raw)
	if !bytes.Equal(key.Bytes(), raw) {
		t.Fatalf("Bytes() = %x, want %x", key.Bytes(), raw)
	}
	key.Zero()
	if got := key.Bytes(); !bytes.Equal(got[:2*nodeSize], make([]byte, 2*nodeSize)) {
		t.Errorf("after Zero: %x", got)
	}
	if got := key.Public(); !bytes.Equal(got[:], raw[2*nodeSize:]) {
		t.Errorf("public half after Zero: %v", got)
	}
}

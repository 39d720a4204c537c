package slhdsa

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := params{
			layers:      rapid.IntRange(1, 3).Draw(t, "layers"),
			layerHeight: rapid.IntRange(1, 2).Draw(t, "layer height"),
			trees:       rapid.IntRange(2, 5).Draw(t, "trees"),
			treeHeight:  rapid.IntRange(1, 7).Draw(t, "tree height"),
		}
		key, err := p.generate(drawBytes(t, EntropySize))
		if err != nil {
			t.Fatal(err)
		}
		if err := key.Check(); err != nil {
			t.Fatal(err)
		}
		message := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "message")
		signature, err := key.sign(message)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.verify(&key.public, message, signature); got != accepted {
			t.Fatalf("%+v: verdict %d", p, got)
		}
		if again, _ := key.sign(message); !bytes.Equal(again, signature) {
			t.Fatal("the same message gave another signature")
		}
	})
}

// TestFlippedBits flips a bit in each byte of a signature, a key and a message.
func TestFlippedBits(t *testing.T) {
	key := smallKey(t, 1)
	message := []byte("message")
	signature, err := key.sign(message)
	if err != nil {
		t.Fatal(err)
	}
	public := key.Public()
	for name, raw := range map[string][]byte{"signature": signature, "key": public[:], "message": message} {
		for at := range raw {
			raw[at] ^= 1 << (at % 8)
			if small.verify(&public, message, signature) == accepted {
				t.Errorf("%s with a bit flipped in byte %d is accepted", name, at)
			}
			raw[at] ^= 1 << (at % 8)
		}
	}
	if got := small.verify(&public, message, signature); got != accepted {
		t.Errorf("verdict %d on what was restored", got)
	}
}

func TestSignMismatch(t *testing.T) {
	key := smallKey(t, 2)
	key.public[PublicKeySize-1] ^= 1
	if _, err := key.sign(nil); !errors.Is(err, ErrKeyMismatch) {
		t.Errorf("signed with another root: %v", err)
	}
	if err := key.Check(); !errors.Is(err, ErrKeyMismatch) {
		t.Errorf("Check: %v", err)
	}
	key = smallKey(t, 2)
	key.Zero()
	if _, err := key.sign(nil); !errors.Is(err, ErrKeyMismatch) {
		t.Errorf("signed with a zeroed key: %v", err)
	}
}

// TestSignTogether signs with one key in many goroutines.
func TestSignTogether(t *testing.T) {
	key := smallKey(t, 3)
	reserved := reserve(t, key.Public(), 4)
	var together sync.WaitGroup
	failed := make([]error, 6)
	for i := range failed {
		together.Go(func() { _, failed[i] = key.Sign(reserved, []byte{byte(i)}) })
	}
	together.Wait()
	refused := 0
	for _, err := range failed {
		if errors.Is(err, ErrNotReserved) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 2 {
		t.Errorf("%d refused, want 2 of 6 with 4 reserved", refused)
	}
}

func TestSizes(t *testing.T) {
	if got := bounded.signatureSize(); got != SignatureSize {
		t.Errorf("signature of %d bytes, want %d", got, SignatureSize)
	}
	if got := bounded.layersAt(); got != 1920 {
		t.Errorf("layers at %d, want 1920", got)
	}
}

package slhdsa

import (
	"bytes"
	"testing"
)

// FuzzVerify feeds any bytes to the instance of the chains and to a small one,
// whose indices are zero often enough that the trees are reached.
func FuzzVerify(f *testing.F) {
	v := golden[signatureVectors](f, "signatures.json.gz").Valid[0]
	f.Add([]byte(v.PK), []byte(v.Message), []byte(v.Signature))
	valid := smallKey(f, 1)
	signature, err := valid.sign(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid.public[:], []byte(nil), signature)
	f.Fuzz(func(t *testing.T, rawKey, message, signature []byte) {
		key, err := ParsePublicKey(rawKey)
		if err != nil {
			return
		}
		key.Verify(message, signature)
		if got := small.verify(
			&key, message, signature,
		); got == wrongSize != (len(signature) != small.signatureSize()) {
			t.Errorf("verdict %d on %d bytes", got, len(signature))
		}
	})
}

// FuzzKernels holds each kernel against crypto/sha256, one hash at a time.
func FuzzKernels(f *testing.F) {
	for _, b := range []byte{0, 1, 0x7f, 0xff} {
		f.Add(bytes.Repeat([]byte{b, 3 * b, 7}, walkInput/3+1))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = append(raw, make([]byte, max(0, walkInput-len(raw)))...)
		for _, k := range kernels {
			checkWalk(t, k, raw)
			checkTree(t, k, raw, int(raw[0]%8))
		}
	})
}

func FuzzParsePrivateKey(f *testing.F) {
	f.Add(make([]byte, PrivateKeySize))
	f.Add(make([]byte, PrivateKeySize-1))
	f.Fuzz(func(t *testing.T, raw []byte) {
		key, err := ParsePrivateKey(raw)
		if (err == nil) != (len(raw) == PrivateKeySize) {
			t.Fatalf("%d bytes: %v", len(raw), err)
		}
		if err != nil {
			return
		}
		if got := key.Bytes(); !bytes.Equal(got, raw) {
			t.Errorf("Bytes() = %x, want %x", got, raw)
		}
		if public := key.Public(); !bytes.Equal(public[:], raw[2*nodeSize:]) {
			t.Errorf("Public() = %v", public)
		}
	})
}

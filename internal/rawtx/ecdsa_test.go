package rawtx

import (
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"pgregory.net/rapid"
)

// Signatures are valid, in the form that relay demands, and short. Where the
// first nonce gives a small R they are those of btcec.
func TestSignECDSA(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes32 := rapid.SliceOfN(rapid.ByteRange(1, 0xfe), 32, 32)
		private, public := btcec.PrivKeyFromBytes(bytes32.Draw(t, "key"))
		hash := bytes32.Draw(t, "hash")
		sig := signECDSA(private, hash)
		parsed, err := ecdsa.ParseDERSignature(sig)
		if err != nil || !parsed.Verify(hash, public) {
			t.Fatalf("%x: %v", sig, err)
		}
		s := parsed.S()
		if len(sig) > 70 || s.IsOverHalfOrder() {
			t.Errorf("%x has %d bytes", sig, len(sig))
		}
		const sizeOfR = 3 // its place in a signature
		if other := ecdsa.Sign(private, hash).Serialize(); other[sizeOfR] <= 32 && string(other) != string(sig) {
			t.Errorf("got  %x\nwant %x", sig, other)
		}
	})
}

package descriptor

import (
	"bytes"
	"strings"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

const (
	base58ChecksumLen = 4

	// maxBase58Len is more than any address or key takes. It bounds the
	// decoder, whose time grows with the square of the length.
	maxBase58Len = 128

	// asciiSpace is the white space that Bitcoin Core strips around base58.
	asciiSpace = " \f\n\r\t\v"
)

// decodeBase58Check returns the bytes in front of the checksum.
func decodeBase58Check(text string) ([]byte, bool) {
	text = strings.Trim(text, asciiSpace)
	if len(text) > maxBase58Len {
		return nil, false
	}
	raw := base58.Decode(text)
	if len(raw) < base58ChecksumLen {
		return nil, false
	}
	payload, sum := raw[:len(raw)-base58ChecksumLen], raw[len(raw)-base58ChecksumLen:]
	want := chainhash.DoubleHashB(payload)
	return payload, bytes.Equal(sum, want[:base58ChecksumLen])
}

// encodeBase58Check writes the concatenated parts with their checksum.
func encodeBase58Check(parts ...[]byte) string {
	raw := bytes.Join(parts, nil)
	sum := chainhash.DoubleHashB(raw)
	return base58.Encode(append(raw, sum[:base58ChecksumLen]...))
}

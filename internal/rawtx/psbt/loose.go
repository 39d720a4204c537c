package psbt

import (
	"bytes"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// noKey replaces, in the data of a key or in a value, a MuSig2 public key that has
// not the form of a public key. The bytes that it replaces are forgotten. It sorts
// behind all public keys.
var noKey = bytes.Repeat([]byte{0xff}, btcec.PubKeyBytesLenCompressed)

// IsKey reports whether bytes have the form of a compressed public key.
func IsKey(b []byte) bool {
	return len(b) == btcec.PubKeyBytesLenCompressed && (b[0] == 2 || b[0] == 3)
}

// forget puts noKey in the place of those public keys at the begin of the data that
// have not the form of one. A leaf of zeros behind them is none.
func (e *Entry) forget(keys int) {
	kind := len(e.Key) - len(e.Data)
	e.Key = bytes.Clone(e.Key)
	e.Data = e.Key[kind:]
	for i := range keys {
		if key := e.Data[i*len(noKey) : (i+1)*len(noKey)]; !IsKey(key) {
			copy(key, noKey)
		}
	}
	if bare := kind + keys*len(noKey); bytes.Equal(e.Key[bare:], make([]byte, chainhash.HashSize)) {
		e.Key = e.Key[:bare]
		e.Data = e.Key[kind:]
	}
}

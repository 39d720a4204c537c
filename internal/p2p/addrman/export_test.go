package addrman

import (
	"crypto/sha256"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// SignOld completes the body of a file of old.
func SignOld(body []byte) []byte {
	file := append([]byte(oldMagic), body...)
	sum := sha256.Sum256(file)
	return append(file, sum[:]...)
}

// Sign completes a file.
func Sign(file []byte) []byte {
	return append(file[:len(file):len(file)], chainhash.DoubleHashB(file)...)
}

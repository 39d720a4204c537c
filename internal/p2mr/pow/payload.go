package pow

import (
	"bytes"
	"io"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// ReadPayload reads the payload that a miner hands in, and returns it as blocks have it. Miners of other
// chains put the hash of the parent, or zeros, behind the coinbase. Bytes that are a payload in both
// layouts are read in the layout of blocks, unless only the payload of the other layout has its coinbase
// in the parent.
func ReadPayload(raw []byte) ([]byte, error) {
	own, err := parseAuxPoW(raw)
	hashed, payload, otherErr := parseHashed(raw)
	switch {
	case err != nil && otherErr != nil:
		return nil, errAuxPoW
	case err != nil, otherErr == nil && !own.inParent() && hashed.inParent():
		return payload, nil //nolint:nilerr // it is a payload in the other way
	}
	return raw, nil
}

// parseHashed reads a payload with the hash of the parent behind the coinbase, and returns it also without.
func parseHashed(raw []byte) (a *auxPoW, payload []byte, err error) {
	a = new(auxPoW)
	r := bytes.NewReader(raw)
	if err := a.readCoinbase(r); err != nil {
		return nil, nil, err
	}
	at := len(raw) - r.Len()
	var hash chainhash.Hash
	if _, err := io.ReadFull(r, hash[:]); err != nil {
		return nil, nil, errAuxPoW
	}
	if err := a.readRest(r); err != nil {
		return nil, nil, err
	}
	if hash != (chainhash.Hash{}) && hash != a.parent.BlockHash() {
		return nil, nil, errAuxPoW
	}
	return a, slices.Concat(raw[:at], raw[at+chainhash.HashSize:]), nil
}

// inParent reports whether the parent's Merkle root is that of the coinbase and its branch.
func (a *auxPoW) inParent() bool {
	height := len(a.coinbaseBranch)
	if a.coinbaseIndex < 0 || height > maxCoinbaseBranch || a.coinbaseIndex>>height != 0 {
		return false
	}
	return fold(a.coinbase.TxHash(), a.coinbaseBranch, a.coinbaseIndex) == a.parent.MerkleRoot
}

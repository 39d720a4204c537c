// Package arg reads arguments that several groups of methods take, of transactions,
// signing and addresses, and has the results that they share. The checks and their
// words are Core's (src/rpc/util.cpp, rawtransaction_util.cpp, src/key_io.cpp).
package arg

import (
	"encoding/hex"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// Hash reads a hash of exactly 64 hexadecimal digits. name is what error
// messages call it.
func Hash(v *jsontree.Value, name string) (chainhash.Hash, error) {
	text, err := v.AsString()
	if err != nil {
		return chainhash.Hash{}, err
	}
	return HashText(text, name)
}

// HashText is Hash for a text.
func HashText(text, name string) (chainhash.Hash, error) {
	var hash chainhash.Hash
	if len(text) != chainhash.MaxHashStringSize {
		return hash, command.Errorf(command.InvalidParameter, "%s must be of length %d (not %d, for '%s')",
			name, chainhash.MaxHashStringSize, len(text), text)
	}
	if _, err := hex.DecodeString(text); err != nil {
		return hash, command.Errorf(command.InvalidParameter, "%s must be hexadecimal string (not '%s')", name, text)
	}
	return hash, chainhash.Decode(&hash, text)
}

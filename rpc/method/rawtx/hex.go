package rawtx

import (
	"encoding/hex"
	"strings"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
)

// parseHexText reads bytes, at least one. name is what error messages call
// them.
func parseHexText(text, name string) ([]byte, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return nil, command.Errorf(command.InvalidParameter, "%s must be hexadecimal string (not '%s')", name, text)
	}
	return raw, nil
}

// parseHex is [parseHexText] for a value. One that is no string counts as an
// empty one.
func parseHex(v *jsontree.Value, name string) ([]byte, error) {
	text, _ := v.AsString()
	return parseHexText(text, name)
}

// decodeTx reads a transaction from hex.
func decodeTx(text string, form rawtx.Form) (*wire.MsgTx, bool) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, false
	}
	return rawtx.Decode(raw, form)
}

// encodeTx prints a transaction, with its witnesses if it has any.
func encodeTx(tx *wire.MsgTx) string {
	var text strings.Builder
	text.Grow(2 * tx.SerializeSize())
	// Neither the encoder nor the builder can fail.
	_ = tx.Serialize(hex.NewEncoder(&text))
	return text.String()
}

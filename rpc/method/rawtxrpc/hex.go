package rawtxrpc

import (
	"encoding/hex"
	"strings"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// parseHex is [arg.HexText] for a value. A value that is no string counts as an
// empty string.
func parseHex(v *jsontree.Value, name string) ([]byte, error) {
	text, _ := v.AsString()
	return arg.HexText(text, name)
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

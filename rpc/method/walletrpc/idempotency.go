package walletrpc

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxIdempotencyKey bounds what is kept with a transaction.
const maxIdempotencyKey = 128

// idempotencyParam is the last parameter of the methods that send.
var idempotencyParam = command.Param{
	Name: "idempotency_key", Type: command.String, Optional: true, Extension: true,
	Help: "a text of the caller's choice, up to 128 bytes, that is kept with the transaction:\n" +
		"a further call with the same key pays nothing and answers what the first one did,\n" +
		"with the transaction that has replaced the payment since, if any; with other\n" +
		"arguments it is an error, and so it is when the payment was abandoned or\n" +
		"double-spent. A payment that no block has yet is announced again. Nothing is kept\n" +
		"of what is not sent since signatures are missing",
}

// idempotencyKey reads the key with a digest of the other arguments; nil without a key.
func idempotencyKey(a *command.Args, i int) (*messages.IdempotencyKey, error) {
	if !a.Has(i) {
		return nil, nil
	}
	key, err := a.String(i)
	if err != nil {
		return nil, err
	}
	if key == "" || len(key) > maxIdempotencyKey {
		return nil, command.Errorf(command.InvalidParameter,
			"Invalid parameter, idempotency_key must have 1 to %d bytes", maxIdempotencyKey)
	}
	hash := sha256.New()
	for j := range a.Len() {
		if j == i {
			continue
		}
		text, err := jsontree.Append(nil, a.Value(j))
		if err != nil {
			return nil, err
		}
		hash.Write(text)
		hash.Write([]byte{0})
	}
	return &messages.IdempotencyKey{Key: key, Arguments: hex.EncodeToString(hash.Sum(nil))}, nil
}

// Package codes has the wallet errors: refusals in Core's codes and words.
package codes

import (
	"fmt"

	"github.com/seed61375155/trawl/messages"
)

// Core's codes of JSON-RPC errors (src/rpc/protocol.h) as far as wallets decide
// on them.
const (
	Misc             = -1
	Type             = -3
	Wallet           = -4
	AddressOrKey     = -5
	Parameter        = -8
	Label            = -11
	Insufficient     = -6
	Keypool          = -12
	UnlockNeeded     = -13
	Passphrase       = -14
	WrongEncryption  = -15
	EncryptionFailed = -16
	NotFound         = -18
	Database         = -20
	Decode           = -22
	Transaction      = -25
	Loaded           = -35
	Exists           = -36
	Internal         = -32603
)

// Errorf returns an error with a code and its text.
func Errorf(code int, format string, args ...any) *messages.WalletError {
	return &messages.WalletError{Code: code, Text: fmt.Sprintf(format, args...)}
}

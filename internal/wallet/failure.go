package wallet

import (
	"fmt"

	"github.com/seed61375155/trawl/messages"
)

// Core's codes of JSON-RPC errors (src/rpc/protocol.h) as far as wallets decide
// on them.
const (
	codeMisc             = -1
	codeWallet           = -4
	codeAddressOrKey     = -5
	codeParameter        = -8
	codeLabel            = -11
	codeKeypool          = -12
	codeUnlockNeeded     = -13
	codeWrongEncryption  = -15
	codeEncryptionFailed = -16
)

func failf(code int, format string, args ...any) *messages.WalletError {
	return &messages.WalletError{Code: code, Text: fmt.Sprintf(format, args...)}
}

// needUnlocked fails while the wallet is locked.
func (w *Wallet) needUnlocked() error {
	if w.Locked() {
		return failf(codeUnlockNeeded, "Error: Please enter the wallet passphrase with walletpassphrase first.")
	}
	return nil
}

// unknownType fails for a type of address that there is not.
func unknownType(name string) *messages.WalletError {
	return failf(codeAddressOrKey, "Unknown address type '%s'", name)
}

// checkLabel fails for the name that stands for all labels.
func checkLabel(label string) *messages.WalletError {
	if label == "*" {
		return failf(codeLabel, "Invalid label name")
	}
	return nil
}

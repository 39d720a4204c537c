// Package codes has the wallet errors: refusals in Core's codes and words.
package codes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

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

// ErrLocked says that a request needs the keys of a wallet that is locked.
var ErrLocked = Errorf(UnlockNeeded, "Error: Please enter the wallet passphrase with walletpassphrase first.")

// Unexpected is Core's text for a failure that has no text of its own.
func Unexpected(err error) *messages.WalletError {
	return Errorf(Wallet, "Unexpected exception: %v", err)
}

// IsAnswer reports whether an error is in the words that the caller is to see.
func IsAnswer(err error) bool {
	var answer *messages.WalletError
	return errors.As(err, &answer)
}

// TextOf is the text of an error for the caller.
func TextOf(err error) string {
	var answer *messages.WalletError
	if errors.As(err, &answer) {
		return answer.Text
	}
	return err.Error()
}

// DeviceError gives what a signing device says the code that Core gives it.
func DeviceError(err error) error {
	if err == nil || IsAnswer(err) || errors.Is(err, context.Canceled) {
		return err
	}
	return Errorf(Misc, "%v", err)
}

// FileSystem is Core's text for an unexpected error of the file system.
func FileSystem(operation string, err error, paths ...string) *messages.WalletError {
	return Errorf(Wallet, "Unexpected exception: %s", FileSystemText(operation, err, paths...))
}

// FileSystemText puts an error of the file system into the words of Core's library.
func FileSystemText(operation string, err error, paths ...string) string {
	reason := err
	var number syscall.Errno
	if errors.As(err, &number) {
		reason = number
	}
	return fmt.Sprintf(
		"filesystem error: %s: %s [%s]", operation, upperFirst(reason.Error()), strings.Join(paths, "] ["),
	)
}

// upperFirst begins a text with a capital.
func upperFirst(text string) string {
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		return string(text[0]-'a'+'A') + text[1:]
	}
	return text
}

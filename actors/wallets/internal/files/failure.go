package files

import (
	"errors"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

var (
	// ErrLoading refuses a wallet that others load, migrate or unload.
	ErrLoading = codes.Errorf(codes.Wallet, "Wallet already loading.")

	// ErrNotLegacy refuses to migrate a wallet.
	ErrNotLegacy = codes.Errorf(codes.Wallet, "Error: This wallet is already a descriptor wallet")
)

// refusedFile puts a refusal of a wallet file into Core's words.
func refusedFile(err error) *messages.WalletError {
	var refused *walletdb.Error
	if !errors.As(err, &refused) {
		return codes.Errorf(codes.Wallet, "Wallet loading failed. %v", err)
	}
	code := codes.Wallet
	for _, kind := range []error{walletdb.ErrFormat, walletdb.ErrLegacy, walletdb.ErrNotFound} {
		if errors.Is(err, kind) {
			code = codes.NotFound
		}
	}
	if errors.Is(err, walletdb.ErrSchema) {
		return codes.Errorf(code, "%s", refused.Text)
	}
	return codes.Errorf(code, "Wallet file verification failed. %s", refused.Text)
}

// refusedRecords puts a refusal of a wallet's records into Core's words.
func (s *Spec) refusedRecords(severity walletfile.Severity) *messages.WalletError {
	return codes.Errorf(codes.Wallet, "Wallet loading failed. %s", severity.Message(s.file, s.cfg.Client))
}

// NotWritten says that a wallet cannot be written, and why.
func NotWritten(err error) error {
	if errors.Is(err, walletdb.ErrMoved) {
		return codes.Errorf(codes.Database,
			"Error: The wallet could not be written to disk: its file was moved or deleted while the wallet "+
				"was loaded. Save it to another place with backupwallet before it is unloaded.")
	}
	return codes.Errorf(
		codes.Database, "Error: The wallet could not be written to disk: %s. It stays loaded for reading.",
		walletdb.Reason(err),
	)
}

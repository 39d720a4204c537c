package wallets

import (
	"errors"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// otherChain refuses a wallet of another chain. daemon is the name of the
// program.
func otherChain(daemon string) *messages.WalletError {
	return codes.Errorf(codes.Wallet, "Wallet loading failed. Wallet files should not be reused across "+
		"chains. Restart %s with -walletcrosschain to override.", daemon)
}

var (
	errLoading    = codes.Errorf(codes.Wallet, "Wallet already loading.")
	errRescanning = codes.Errorf(codes.Wallet, "Wallet is currently rescanning. Abort existing rescan or wait.")
	errAborted    = codes.Errorf(codes.Misc, "Rescan aborted by user.")
	errRescan     = codes.Errorf(
		codes.Wallet, "Wallet loading failed. Failed to rescan the wallet during initialization",
	)
	errBackup      = codes.Errorf(codes.Wallet, "Error: Wallet backup failed!")
	errEmptyPhrase = codes.Errorf(codes.Parameter, "passphrase cannot be empty")
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
func (h *home) refusedRecords(severity walletfile.Severity) *messages.WalletError {
	return codes.Errorf(codes.Wallet, "Wallet loading failed. %s", severity.Message(h.file, h.cfg.Client))
}

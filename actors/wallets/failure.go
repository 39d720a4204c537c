package wallets

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

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
	errPruned = codes.Errorf(codes.Wallet, "Wallet loading failed. Prune: last wallet synchronisation goes "+
		"beyond pruned data. You need to -reindex (download the whole blockchain again in case of a pruned node)")
	errBackground = codes.Errorf(codes.Misc, "Failed to rescan unavailable blocks likely due to an in-progress "+
		"assumeutxo background sync. Check logs or getchainstates RPC for assumeutxo background sync progress and try "+
		"again later.")
	errBackup     = codes.Errorf(codes.Wallet, "Error: Wallet backup failed!")
	errPassphrase = codes.Errorf(codes.Passphrase, "Error: The wallet passphrase entered was incorrect.")
	errLocked     = codes.Errorf(
		codes.UnlockNeeded, "Error: Please enter the wallet passphrase with walletpassphrase first.",
	)
	errEmptyPhrase = codes.Errorf(codes.Parameter, "passphrase cannot be empty")
)

// tooOld is the refusal of a wallet that needs blocks before a snapshot, while
// these are still to come.
func tooOld(height int32) error {
	return codes.Errorf(codes.Wallet, "Wallet loading failed. Error loading wallet. Wallet requires blocks to be "+
		"downloaded, and software does not currently support loading wallets while blocks are being downloaded out of "+
		"order when using assumeutxo snapshots. Wallet should be able to load successfully after node sync reaches "+
		"height %d", height)
}

// unexpected is Core's text for a failure that has no text of its own.
func unexpected(err error) *messages.WalletError {
	return codes.Errorf(codes.Wallet, "Unexpected exception: %v", err)
}

// fileSystem is Core's text for an unexpected error of the file system.
func fileSystem(operation string, err error, paths ...string) *messages.WalletError {
	return codes.Errorf(codes.Wallet, "Unexpected exception: %s", fileSystemText(operation, err, paths...))
}

// fileSystemText puts an error of the file system into the words of Core's library.
func fileSystemText(operation string, err error, paths ...string) string {
	reason := err
	var number syscall.Errno
	if errors.As(err, &number) {
		reason = number
	}
	return fmt.Sprintf(
		"filesystem error: %s: %s [%s]", operation, upperFirst(reason.Error()), strings.Join(paths, "] ["),
	)
}

func upperFirst(text string) string {
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		return string(text[0]-'a'+'A') + text[1:]
	}
	return text
}

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

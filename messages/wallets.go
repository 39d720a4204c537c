package messages

import (
	"fmt"
	"time"
)

var (
	// ErrWalletLoaded reports a wallet that is loaded already.
	ErrWalletLoaded = refusal("wallet is already loaded")

	// ErrWalletNotFound reports a wallet that is not loaded.
	ErrWalletNotFound = refusal("wallet is not loaded")
)

// WalletError is a failure of a wallet in the words that the caller is to see.
// The code is one of Bitcoin Core's for JSON-RPC (src/rpc/protocol.h), because
// Core's wallet decides on it where it fails.
type WalletError struct {
	Code int
	Text string
}

// Error implements error.
func (e *WalletError) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Code) }

// AboutRequest implements [Refusal].
func (*WalletError) AboutRequest() {}

// OnStartup says what happens to a wallet's place in the list of those that are
// loaded when the node starts.
type OnStartup int

// The values of OnStartup.
const (
	LeaveOnStartup OnStartup = iota
	LoadOnStartup
	DontLoadOnStartup
)

// WalletLoaded is the answer to requests that load a wallet. Its actor is in
// the node's directory of wallets by then.
type WalletLoaded struct {
	Name     string
	Warnings []string
}

// CreateWallet makes a new wallet and loads it.
//
// Errors: [*WalletError].
type CreateWallet struct {
	Asks[WalletLoaded]

	Name               string
	DisablePrivateKeys bool
	Blank              bool
	Passphrase         Secret // empty: not encrypted
	AvoidReuse         bool
	OnStartup          OnStartup

	// ExternalSigner: the keys are on a signing device, which tells the descriptors.
	// Private keys must be disabled.
	ExternalSigner bool
}

// Signer is a signing device.
type Signer struct {
	Fingerprint string // of its master key, as the device's program tells it
	Name        string
}

// LoadWallet loads a wallet from the wallets directory.
//
// Errors: [*WalletError].
type LoadWallet struct {
	Asks[WalletLoaded]

	Name      string
	OnStartup OnStartup
}

// UnloadWallet unloads a wallet. It is answered when the wallet's file is
// closed.
//
// Errors: [ErrWalletNotFound], [*WalletError].
type UnloadWallet struct {
	Asks[WalletUnloaded]

	Name      string
	OnStartup OnStartup
}

// WalletUnloaded is the answer to [UnloadWallet].
type WalletUnloaded struct{ Warnings []string }

// RestoreWallet makes a wallet from a backup file, loads it and brings it up to
// the tip. Files that were there before are never touched, and after a failure
// nothing new is left.
//
// Errors: [*WalletError].
type RestoreWallet struct {
	Asks[WalletLoaded]

	Name      string
	Backup    string // path
	OnStartup OnStartup
}

// MigrateWallet makes descriptor wallets of a legacy wallet of Bitcoin Core in the wallets
// directory, and loads them. They are the wallet itself, a wallet for its watched scripts,
// and a wallet for scripts that it could solve but not sign. The old file is copied first.
// After a failure the old wallet is where it was.
//
// Errors: [*WalletError].
type MigrateWallet struct {
	Asks[WalletMigrated]

	Name       string
	Passphrase Secret // of an encrypted wallet
	DontLoad   bool   // the new wallets are not loaded, now or at start
}

// WalletMigrated names the wallets that a legacy wallet has become.
type WalletMigrated struct {
	Name       string // of the first of them; empty where nothing was left to be kept
	WatchOnly  string // of the next; empty: there is none, or it is the first
	Solvables  string // the same
	BackupPath string // of the copy of the old file

	// Warnings name records that were left out, since they belong to none of the wallets.
	Warnings []string
}

// AbortRestore ends the rescan of a wallet that is being restored or loaded, which
// fails then. The answer is false when there is none of that name.
type AbortRestore struct {
	Control[bool]

	Name string
}

// ListWalletDir asks for the names of the wallets in the wallets directory,
// loaded or not.
type ListWalletDir struct{ Asks[[]WalletDirEntry] }

// WalletDirEntry is one wallet in the wallets directory.
type WalletDirEntry struct {
	Name     string
	Warnings []string
}

// GetLoading asks which wallets are being loaded, and how far that has come.
type GetLoading struct{ Control[[]WalletLoading] }

// WalletLoading is a wallet that is being loaded.
type WalletLoading struct {
	Name     string
	Step     string  // what is being done, for a person
	Progress float64 // of the rescan, 0 to 1
	Since    time.Time
}

// SyncWallets is answered when every loaded wallet has on disk its part of the
// changes of the memory pool until now. Answers given after that survive the end of
// the process.
//
// Errors: those of the wallets that cannot write, or cannot follow the chain; the
// others are done then too.
type SyncWallets struct{ Control[Done] }

// WaitWallets is answered when the wallets that are to be loaded at start have
// been, or have failed. The error is a [StartError] where one could not be that Core
// does not pass over.
type WaitWallets struct{ Control[Done] }

// A Secret is text that must not be printed: a passphrase, or a private key. Its last user wipes
// it.
type Secret []byte

// String implements fmt.Stringer and hides the secret.
func (Secret) String() string { return "****" }

// GoString implements fmt.GoStringer and hides the secret.
func (Secret) GoString() string { return "****" }

// MarshalText implements encoding.TextMarshaler and hides the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte("****"), nil }

// Wipe overwrites the secret.
func (s Secret) Wipe() { clear(s) }

// Package files makes, opens, restores, migrates, exports and lists the files of wallets, and looks through backups.
// All of it is straight code that blocks; it knows no actors.
package files

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/seed61375155/trawl/actors/wallets/device"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// Config has the parts of the node that the files of its wallets need. All fields but Scheduler and Signer are set.
type Config struct {
	Dir           string // wallets live below it
	Client        string // name of the program in texts
	KeyPool       int32
	Types         keys.AddressTypes
	OnlyConfirmed bool
	AnyChain      bool // take wallets that have seen another chain
	Unsafe        bool // do not wait for the disk

	Network   *dialect.Network
	Chain     *chainview.Current
	Scheduler *match.Scheduler // nil without the index
	Signer    *device.Program  // nil: there is none
	Now       func() time.Time
	Fail      func() error // a fault of the disk at each write; nil: none
	Log       *slog.Logger
}

func (c *Config) now() int64 { return c.Now().Unix() }

func (c *Config) options() walletdb.Options {
	return walletdb.Options{
		Magic: c.Network.Magic, Client: c.Client, UnsafeSync: c.Unsafe, SetAside: c.renamed,
	}
}

// renamed tells the log of a file that lay where a wallet's journal is.
func (c *Config) renamed(from, to string) {
	c.Log.Warn("a file that another wallet left beside the place of a new one was renamed", "from", from, "to", to)
}

// A Spec is a wallet by its name, and where its file is.
type Spec struct {
	cfg  *Config
	Name string
	dir  string // as Core names it in texts
	file string

	MayLag bool // it may be behind the tip when it is loaded, and follow the blocks that are to come

	// Step is called with the name of the next step of the work, for a person.
	Step func(what string)
}

// Spec returns a wallet by its name, which is a path relative to the wallets directory.
func (c *Config) Spec(name string) *Spec {
	dir := walletdir.Join(c.Dir, name)
	return &Spec{cfg: c, Name: name, dir: dir, file: walletdir.File(dir), Step: func(string) {}}
}

func (s *Spec) params() wallet.Params {
	p := wallet.ParamsOf(s.cfg.Network, s.Name, s.cfg.KeyPool)
	p.Types, p.OnlyConfirmed = s.cfg.Types, s.cfg.OnlyConfirmed
	return p
}

// verify reads a file to its last record.
func (s *Spec) verify(
	ctx context.Context, path string, limits walletdb.Limits,
) (*walletfile.Wallet, walletfile.Severity, error) {
	params := s.params()
	return walletdb.Verify(ctx, path, s.cfg.options(), params.LoadOptions(), limits)
}

// chain returns the active chain. The error says that there is none yet, or that a wallet which has seen these blocks
// is of another chain: it comes with the chain.
func (c *Config) chain(seen walletfile.Locator) (rescan.ActiveChain, error) {
	reader := c.Chain.Open()
	if reader == nil {
		return rescan.ActiveChain{}, codes.Unexpected(chainview.ErrNotReady)
	}
	chain := rescan.ActiveChain{Reader: reader, Active: reader.Active()}
	if n := len(seen); n > 0 && !c.AnyChain && seen[n-1] != chain.Active.At(0).Hash {
		return chain, codes.Errorf(codes.Wallet, "Wallet loading failed. Wallet files should not be reused across "+
			"chains. Restart %s with -walletcrosschain to override.", c.Network.Software.Daemon)
	}
	return chain, nil
}

// checkPath refuses a name that leads to no wallet's directory. New wallets, and those of networks that refuse it, have
// none that leads out of the directory of wallets.
func (s *Spec) checkPath(fresh bool) error {
	if wrong := s.wrongPath(fresh); wrong != "" {
		return codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", wrong)
	}
	return nil
}

// wrongPath says what checkPath refuses; it is empty for nothing.
func (s *Spec) wrongPath(fresh bool) string {
	if fresh || !s.cfg.Network.Answers.AnyWalletName {
		if wrong := walletdir.CheckName(s.Name); wrong != "" {
			return wrong
		}
	}
	return walletdir.CheckPath(s.cfg.Dir, s.Name)
}

// checkNamed refuses to make a wallet without a name.
func (s *Spec) checkNamed() error {
	if s.Name == "" && !s.cfg.Network.Answers.UnnamedWallets {
		return codes.Errorf(codes.Parameter, "Wallet name cannot be empty")
	}
	return nil
}

// Write writes changes in one transaction.
func Write(file *walletdb.DB, changes []records.Change) error {
	if len(changes) == 0 {
		return nil
	}
	return file.Update(Apply(changes))
}

// Apply returns the filling of a transaction with changes.
func Apply(changes []records.Change) func(*walletdb.Batch) error {
	return func(b *walletdb.Batch) error {
		for _, c := range changes {
			var err error
			if c.Delete {
				err = b.Delete(c.Key)
			} else {
				err = b.Put(walletfile.Record{Key: c.Key, Value: c.Value})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

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

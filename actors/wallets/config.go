package wallets

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/seed61375155/trawl/actors/wallets/device"
	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

const (
	// DefaultKeyPool is how many addresses a wallet derives ahead, as in Core.
	DefaultKeyPool = 1000

	// DefaultLoading is how many wallets are loaded at a time.
	DefaultLoading = 2

	// DefaultCalls is how many unanswered requests a wallet takes on.
	DefaultCalls = 64
)

// Config has the settings of the actors, and the parts of the node that they use.
type Config struct {
	Dir       string   // wallets live below it
	Settings  string   // path of settings.json; empty: there is none
	Load      []string // names of wallets to load at start, beside those of the settings
	NoStartup bool     // load none at start
	OnlyNamed bool     // load no wallets of the settings at start
	KeyPool   int32    // default DefaultKeyPool
	Loading   int      // default DefaultLoading
	Calls     int      // of one wallet; default DefaultCalls
	Types     keys.AddressTypes
	AnyChain  bool   // take wallets that have seen another chain (-walletcrosschain)
	Unsafe    bool   // do not wait for the disk (-unsafesqlitesync)
	Client    string // name of the program in texts; default walletdb.DefaultClient

	Network   *dialect.Network
	Chain     *chainview.Current
	Fetch     chainview.Fetch // gets blocks that were pruned; nil where none are
	Tip       *ask.Feed[messages.TipChanged]
	Scheduler *match.Scheduler // matches filters; nil without the index: rescans read every block
	Indexer   *ask.Ref         // absent without the index
	Now       func() time.Time
	Directory *ask.Directory // wallets that are loaded, by name
	Meter     *ask.Meter     // counts the actors of wallets; may be nil

	// Pool owns the unconfirmed transactions and publishes its changes. Nil: there
	// are none. Wallets hand their transactions to the pool, unless NoBroadcast is
	// set.
	Pool        *ask.Ref
	Changes     *ask.Feed[messages.PoolChanged]
	NoBroadcast bool

	// Spending says how wallets pay; nil: as Core does by default.
	Spending *spend.Options

	// Signer speaks to signing devices; nil: there is none.
	Signer *device.Program

	// TxChanges is where changed transactions are published; nil: nowhere.
	TxChanges *ask.Feed[messages.WalletTxChanged]

	// Restored is where a restored wallet tells what lies beyond its addresses; nil: nowhere.
	Restored *ask.Feed[messages.News]

	// Warned is where a wallet that cannot be written tells the operator; nil: nowhere.
	Warned *ask.Feed[nodemsg.WarningChanged]

	Log *slog.Logger

	// Forget makes the memory of secrets that nobody uses any more unreadable. A
	// worker calls it when a wallet was locked or unloaded. Nil: nothing.
	Forget func()

	// Warn is called with a text for the operator about a wallet that is not loaded at
	// start. Nil: nothing.
	Warn func(text string)

	// DeferFill is how long a wallet whose key pool is to be filled up later
	// waits; default DefaultDeferFill.
	DeferFill time.Duration

	window     int32         // blocks; see rescan
	retryAfter time.Duration // see fault
	fail       func() error  // a fault of the disk at each write; nil: none
}

// rescanWindow is how many blocks a rescan matches before it reads the matching
// blocks. It bounds how many blocks are matched again after a top-up of the key
// pool, and how many are kept in memory.
const rescanWindow = 4000

// SetIn completes the configuration for a node that has its files in a folder: with places of the wallets and of the
// settings below it where the operator names none. The error is for the operator.
func (c *Config) SetIn(netDir string, noSettings bool) error {
	if err := keys.CheckTypes(c.Network.Wallet(), c.Types); err != nil {
		return err
	}
	if c.Dir == "" {
		var err error
		if c.Dir, err = walletdir.In(netDir); err != nil {
			return fmt.Errorf("trawl: wallets directory: %w", err)
		}
	}
	if c.Settings == "" && !noSettings {
		c.Settings = filepath.Join(netDir, "settings.json")
	}
	return nil
}

func (c *Config) setDefaults() {
	c.KeyPool = cmp.Or(max(c.KeyPool, 0), DefaultKeyPool)
	c.Loading = cmp.Or(c.Loading, DefaultLoading)
	c.Calls = cmp.Or(c.Calls, DefaultCalls)
	c.DeferFill = cmp.Or(c.DeferFill, DefaultDeferFill)
	c.Client = cmp.Or(c.Client, walletdb.DefaultClient)
	if c.Now == nil {
		c.Now = time.Now
	}
	c.window = cmp.Or(c.window, rescanWindow)
	c.retryAfter = cmp.Or(c.retryAfter, retryAfter)
	if c.Spending == nil {
		c.Spending = new(spend.DefaultOptions())
	}
	if c.Forget == nil {
		c.Forget = func() {}
	}
	if c.Warn == nil {
		c.Warn = func(string) {}
	}
	if c.fail == nil {
		c.fail = func() error { return nil }
	}
}

// files has what the files of wallets need.
func (c *Config) files() files.Config {
	return files.Config{
		Dir: c.Dir, Client: c.Client, KeyPool: c.KeyPool, Types: c.Types, OnlyConfirmed: c.Spending.OnlyOld,
		AnyChain: c.AnyChain, Unsafe: c.Unsafe, Network: c.Network, Chain: c.Chain, Scheduler: c.Scheduler,
		Signer: c.Signer, Now: c.Now, Fail: c.fail, Log: c.Log,
	}
}

func (c *Config) now() int64 { return c.Now().Unix() }

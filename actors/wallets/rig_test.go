package wallets_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/wallets"
	"github.com/seed61375155/trawl/actors/wallets/device"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// rig is a registry over a chain and a wallets directory.
type rig struct {
	sys       *actortest.System
	current   *chainview.Current
	tip       *ask.Feed[messages.TipChanged]
	indexer   *ask.Ref
	source    match.Source
	directory *ask.Directory
	dir       string // of wallets
	ref       *ask.Ref
	changes   ask.Feed[messages.PoolChanged]
	warned    ask.Feed[nodemsg.WarningChanged]
	txs       ask.Feed[messages.WalletTxChanged]
	restored  ask.Feed[messages.News]
}

// setup is what a test changes of a rig.
type setup struct {
	noFilters bool // no filters
	source    func(match.Source) match.Source
	dir       string // default: a new one
	load      []string
	keyPool   int32 // default 20
	loading   int
	wait      bool // for the wallets of the start
	window    int32
	now       time.Time
	network   *dialect.Network // default: Bitcoin's regtest
	fill      time.Duration
	onlyNamed bool // no wallets of the settings are loaded at start
	types     keys.AddressTypes
	fail      func() error                  // faults of the disk
	pool      func() []messages.PoolTx      // nil: there is none
	submitted func(messages.SubmitTx)       // to the pool; nil: it takes nothing
	poolOf    func(*rig) *ask.Ref           // instead of pool
	front     func(*rig, *ask.Ref) *ask.Ref // is asked in place of the pool
	clock     func() time.Time              // nil: now, or else the time
	signer    *device.Program               // nil: there is none
	warn      func(text string)             // nil: nobody is told
	forget    func()                        // called as a wallet is closed
	log       *slog.Logger                  // nil: the test's
}

// newRig starts a registry over a chain that is there. Filters are built unless
// the setup is noFilters.
func newRig(tb testing.TB, reader chainview.Reader, s setup) *rig {
	tb.Helper()
	r := &rig{
		sys: actortest.New(tb), current: new(chainview.Current),
		tip: new(ask.Feed[messages.TipChanged]), directory: new(ask.Directory), dir: s.dir,
	}
	r.current.Set(reader)
	if r.dir == "" {
		r.dir = filepath.Join(tb.TempDir(), "wallets")
		if err := os.Mkdir(r.dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	if s.keyPool == 0 {
		s.keyPool = 20
	}
	if !s.noFilters {
		r.index(tb)
	}
	if s.network == nil {
		s.network = enginetest.Regtest(tb)
	}
	if s.source != nil {
		r.source = s.source(r.source)
	}
	now := time.Now
	if !s.now.IsZero() {
		now = func() time.Time { return s.now }
	}
	if s.clock != nil {
		now = s.clock
	}
	var pool *ask.Ref
	if s.pool != nil {
		pool = r.sys.TakingPool(s.pool, s.submitted)
	}
	if s.poolOf != nil {
		pool = s.poolOf(r)
	}
	if s.front != nil {
		pool = s.front(r, pool)
	}
	var scheduler *match.Scheduler
	if r.source != nil {
		scheduler = match.NewScheduler(match.SchedulerConfig{
			Source: r.source, Workers: 2, Repair: filter.RepairBy(r.indexer), Log: r.sys.Log,
		})
	}
	log := r.sys.Log
	if s.log != nil {
		log = s.log
	}
	r.ref = r.sys.Spawn("wallets", wallets.New(wallets.WithFaults(wallets.WithWindow(wallets.Config{
		Dir: r.dir, Settings: filepath.Join(r.dir, "..", "settings.json"), Load: s.load,
		KeyPool: s.keyPool, Loading: s.loading, Types: s.types, OnlyNamed: s.onlyNamed,
		Network: s.network, DeferFill: s.fill, Chain: r.current, Tip: r.tip, Scheduler: scheduler, Indexer: r.indexer,
		Directory: r.directory, Log: log, Now: now, Pool: pool, Changes: &r.changes, Warned: &r.warned,
		TxChanges: &r.txs, Restored: &r.restored, Signer: s.signer, Warn: s.warn, Forget: s.forget,
	}, s.window), s.fail)), wallets.Requests...)
	if s.wait {
		do(tb, r.ref, messages.WaitWallets{})
	}
	return r
}

// index builds the filters of the chain.
func (r *rig) index(tb testing.TB) {
	tb.Helper()
	store, err := segment.Open(segment.Options{Dir: filepath.Join(tb.TempDir(), "filters"), SegmentSize: 4096})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	r.source = filter.NewSource(store)
	r.indexer = r.sys.Spawn("indexer", indexer.New(indexer.Config{
		Store: store, Chain: r.current, Tip: r.tip,
		HeaderLen: func([]byte) int { return filters.HeaderLen }, Workers: 2, Log: r.sys.Log,
		OnFailed: func(err error) { tb.Error(err) },
	}), indexer.Requests...)
	do(tb, r.indexer, messages.WaitIndexed{Block: r.current.Open().Active().Tip().Hash})
}

// announce tells everyone of the chain's tip.
func (r *rig) announce() {
	tip := r.current.Open().Active().Tip()
	r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
}

// do asks an actor, which must not fail.
func do[Q messages.Request[R], R any](tb testing.TB, ref *ask.Ref, q Q) R {
	tb.Helper()
	got, err := try(tb, ref, q)
	if err != nil {
		tb.Fatalf("%T: %v", q, err)
	}
	return got
}

// try asks an actor.
func try[Q messages.Request[R], R any](tb testing.TB, ref *ask.Ref, q Q) (R, error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return ask.Ask(ctx, ref, q)
}

// wallet returns the actor of a wallet that is loaded.
func (r *rig) wallet(tb testing.TB, name string) *ask.Ref {
	tb.Helper()
	ref := r.directory.Lookup(name)
	if ref == nil {
		tb.Fatalf("wallet %q is not loaded: %q", name, r.directory.Names())
	}
	return ref
}

// refusal checks that an error is a wallet's, with a code and a text.
func refusal(tb testing.TB, err error, code int, text string) {
	tb.Helper()
	var got *messages.WalletError
	if !errors.As(err, &got) || got.Code != code || got.Text != text {
		tb.Errorf("got %v, want %d %q", err, code, text)
	}
}

// unzip returns the unpacked content of a file.
func unzip(tb testing.TB, path string) []byte {
	tb.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

// files lists what is below a directory.
func files(tb testing.TB, dir string) []string {
	tb.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && path != dir {
			name, _ := filepath.Rel(dir, path)
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

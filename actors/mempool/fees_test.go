package mempool_test

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
)

// estimating has the pool estimate fees, in a file of a folder.
func estimating(dir string, more ...func(*mempool.Fees)) func(*mempool.Config) {
	return func(cfg *mempool.Config) {
		initial := chainview.NewInitialDownload(cfg.View, "0", 0, time.Now, func() {})
		cfg.Fees = mempool.NewFees(dir, dialect.Fees{Form: feeestimate.Core30}, false, initial)
		for _, change := range more {
			change(cfg.Fees)
		}
	}
}

// Where those alone are told who debug estimates, they are told the whole path.
func TestSavedForDebugging(t *testing.T) {
	dir, log := t.TempDir(), new(bytes.Buffer)
	r := newRig(t, func(cfg *mempool.Config) {
		cfg.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}, estimating(dir, func(f *mempool.Fees) { f.Debug = true }))
	if err := r.pool.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "Flushed fee estimates to " + filepath.Join(dir, "fee_estimates.dat") + "."
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, want) && strings.Contains(line, "level=DEBUG") &&
			strings.Contains(line, "estimatefee") {
			return
		}
	}
	t.Errorf("no %q in %s", want, log)
}

// counted returns what the short horizon has counted; too little for a rate.
func (r *rig) counted() messages.FeeRange {
	r.t.Helper()
	raw := ok(ask.Ask(r.t.Context(), r.pool, messages.EstimateRawFee{Target: 1, Share: .5})).must(r.t)
	if len(raw) != 3 || raw[0].Horizon != "short" || raw[0].Rate != 0 {
		r.t.Fatalf("%+v", raw)
	}
	return raw[0].Fail
}

func (r *rig) wantCounted(step string, confirmed, within, waiting, left float64) {
	r.t.Helper()
	got := r.counted()
	near := func(a, b float64) bool { return math.Abs(a-b) < .2*max(1, b) } // counts decay a little
	if !near(got.Confirmed, confirmed) || !near(got.Within, within) || !near(got.Waiting, waiting) ||
		!near(got.Left, left) {
		r.t.Errorf("%s: %+v, want about %v confirmed, %v within a block, %v waiting, %v left",
			step, got, confirmed, within, waiting, left)
	}
}

// Only what comes by itself, spends nothing of the pool and is no return from a block says something
// about fees.
func TestFeesCount(t *testing.T) {
	r := newRig(t, estimating(t.TempDir()))
	r.waitLoaded()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r.wantCounted("at first", 0, 0, 0, 0)
	parent := spend(50*coin-1000, r.coins[0])
	must(r.submit(parent))
	must(r.submit(spend(50*coin-2000, outOf(parent))))
	pair := []*wire.MsgTx{spend(50*coin-1000, r.coins[1])}
	pair = append(pair, spend(50*coin-3000, outOf(pair[0])))
	ok(ask.Ask(t.Context(), r.pool, messages.SubmitPackage{Txs: pair})).must(t)
	hash := r.mine(1)
	r.wantCounted("one of four was alone", 1, 1, 0, 0)

	ok(ask.Ask(t.Context(), r.chain, messages.InvalidateBlock{Hash: hash})).must(t)
	r.ids() // the pool has seen it
	ok(ask.Ask(t.Context(), r.chain, messages.Generate{Script: []byte{0x51}, Count: 1, Tries: 1 << 30})).must(t)
	r.mine(1)
	r.wantCounted("they came back, and were confirmed again", 1, 1, 0, 0)

	late, rival := spend(50*coin-1000, r.coins[2]), spend(50*coin-5000, r.coins[2])
	must(r.submit(late))
	r.empty(1)
	r.wantCounted("one waits for more than a block", 1, 1, 1, 0)
	must(r.submit(rival))
	r.wantCounted("another is in its place", 1, 1, 0, 1)
	r.mine(1)
	r.wantCounted("that is confirmed", 2, 2, 0, 1)

	must(r.submit(spend(50*coin-1000, r.coins[3])))
	r.empty(2)
	must(r.confirm(r.coins[3]))
	r.wantCounted("a block has another in its place", 2, 2, 0, 2)
}

// empty mines blocks without transactions.
func (r *rig) empty(n int) {
	r.t.Helper()
	ok(ask.Ask(r.t.Context(), r.chain, messages.Generate{Script: anyone, Count: n, Tries: 1 << 30})).must(r.t)
	r.ids()
}

// confirm mines a block with a transaction that the pool does not know.
func (r *rig) confirm(spent wire.OutPoint) error {
	raw := bytes.Buffer{}
	if err := spend(50*coin-7000, spent).Serialize(&raw); err != nil {
		return err
	}
	_, err := ask.Ask(r.t.Context(), r.chain, messages.Generate{
		Script: anyone, Count: 1, Tries: 1 << 30, Txs: [][]byte{raw.Bytes()}, Fees: 7000,
	})
	r.ids()
	return err
}

// On a chain that is not up to date nothing is counted.
func TestFeesOfOldTip(t *testing.T) {
	for name, change := range map[string]func(cfg *mempool.Config){
		"initial download": func(cfg *mempool.Config) {
			cfg.Fees.Initial = chainview.NewInitialDownload(cfg.View, strings.Repeat("f", 60), 0, time.Now, func() {})
		},
		"a tip of yesterday": func(cfg *mempool.Config) {
			cfg.Now = func() time.Time { return time.Now().Add(6 * time.Hour) }
		},
	} {
		r := newRig(t, estimating(t.TempDir()), change)
		r.waitLoaded()
		if err := r.submit(spend(50*coin-1000, r.coins[0])); err != nil {
			t.Fatal(err)
		}
		r.mine(1)
		if got := r.counted(); got.Confirmed != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Known transactions still count after a restart, and waiting transactions have then failed.
func TestFeesAreKept(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, estimating(dir))
	r.waitLoaded()
	for _, at := range r.coins[:3] {
		if err := r.submit(spend(50*coin-1000, at)); err != nil {
			t.Fatal(err)
		}
	}
	r.mine(1)
	if err := r.submit(spend(50*coin-1000, r.coins[4])); err != nil {
		t.Fatal(err)
	}
	r.empty(2)
	r.wantCounted("before", 3, 3, 1, 0)
	if err := r.pool.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.file); err != nil {
		t.Fatal(err)
	}
	r.start(estimating(dir))
	r.wantCounted("after", 3, 3, 0, 1)
}

// The estimates are written each hour of the timers.
func TestFeesAreWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "fee_estimates.dat")
	r := newRig(t, estimating(dir))
	for _, step := range []struct {
		by      time.Duration
		written bool
	}{
		{30 * time.Minute, false},
		{29 * time.Minute, false},
		{time.Minute, true},
		{59 * time.Minute, false},
		{time.Minute, true},
	} {
		ok(ask.Ask(t.Context(), r.pool, messages.AdvanceTimers{By: step.by})).must(t)
		err := os.Remove(path)
		if (err == nil) != step.written {
			t.Errorf("after %v more: %v", step.by, err)
		}
	}
}

// A disk that fails is told of and harms nothing, and neither does a file that is none.
func TestFeesOnBadDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "fee_estimates.dat")
	if err := os.WriteFile(path, []byte("no estimates"), 0o600); err != nil {
		t.Fatal(err)
	}
	disk := faultfs.New()
	disk.Inject(faultfs.From(1, errors.New("the disk fails")))
	r := newRig(t, estimating(dir, func(f *mempool.Fees) { f.Disk = disk }))
	r.waitLoaded()
	r.wantCounted("without a file", 0, 0, 0, 0)
	if err := r.pool.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "no estimates" {
		t.Errorf("%q, %v", text, err)
	}
}

// A node without estimates says so, and wallets hear of none.
func TestNoFees(t *testing.T) {
	r := newRig(t)
	if _, err := ask.Ask(t.Context(), r.pool, messages.EstimateFee{}); !errors.Is(err, messages.ErrNoFeeEstimates) {
		t.Error(err)
	}
	if _, err := ask.Ask(t.Context(), r.pool, messages.EstimateRawFee{}); !errors.Is(err, messages.ErrNoFeeEstimates) {
		t.Error(err)
	}
	q := messages.GetPoolClusters{IDs: []chainhash.Hash{{}}, Fees: []messages.FeeQuery{{Target: 6}}}
	if got := ok(ask.Ask(t.Context(), r.pool, q)).must(t); len(got.Estimates) != 1 || got.Estimates[0].Rate != 0 {
		t.Errorf("%+v", got)
	}
}

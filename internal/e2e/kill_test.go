package e2e_test

import (
	"context"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/e2e"
)

// killsPerNode is how often a node is killed before a new node takes its place.
const killsPerNode = 4

// count returns how often a test that can go on for ever is to be repeated: the
// value of an environment variable, else few times.
func count(t *testing.T, variable string, few int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestKill9 kills a node at random moments, while it starts, loads and indexes
// blocks, mines, and reorganises its chain. It has to start again, with
// everything that it has acknowledged, and with no wrong filter.
func TestKill9(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)) // the moments differ anyway
	kills := count(t, "TRAWL_SOAK", 8)
	o := newOracle()
	blocks := append(o.addFile(t, chainFile), o.addFile(t, branchFile)...)
	for done := 0; done < kills; done += killsPerNode {
		a := o.audits(startIndexed(t))
		for round := range min(killsPerNode, kills-done) {
			killOnce(t, random, a, blocks, round == 0)
		}
		a.d.Stop()
	}
}

func startIndexed(t *testing.T, blocks ...string) *e2e.Daemon {
	t.Helper()
	return e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1"}, Blocks: blocks})
}

// killOnce keeps the node busy, kills it, starts it again, sometimes after
// killing it once more while it starts, and checks it.
func killOnce(t *testing.T, random *rand.Rand, a *auditor, blocks [][]byte, isNew bool) {
	t.Helper()
	d := a.d
	w := newWorkload(t, d, blocks, isNew)
	calls := int64(random.IntN(50))
	if isNew {
		calls = int64(random.IntN(len(blocks) + 50))
	}
	ended := make(chan error, 1)
	go func() { ended <- w.run(t.Context()) }()
	e2e.Eventually(
		t, time.Minute, "the workload gets on", func() bool { return w.calls.Load() >= calls || len(ended) > 0 },
	)
	<-time.After(time.Duration(random.Int64N(int64(10 * time.Millisecond))))
	w.killed.Store(true)
	d.Kill()
	if err := <-ended; err != nil {
		t.Fatalf("%v\nlog:\n%s", err, d.LogTail())
	}
	for random.IntN(2) == 0 {
		d.KillStarting(time.Duration(random.Int64N(int64(300 * time.Millisecond))))
	}
	d.Restart()
	height := a.check(t)
	if height < w.floor {
		t.Errorf("the tip is at %d, below %d, which was acknowledged", height, w.floor)
	}
	for _, hash := range w.accepted {
		d.Get(nil, "getblock", hash, 0)
	}
	t.Logf("killed after %d calls with %d blocks accepted; up again at height %d", w.calls.Load(), len(w.accepted), height)
}

// workload makes calls that change the chain until the node is killed.
type workload struct {
	call   func(ctx context.Context, result any, method string, params ...any) error
	blocks [][]byte
	isNew  bool // the node has no blocks yet

	calls  atomic.Int64 // answered
	killed atomic.Bool

	// Acknowledged by the node.
	floor    int32 // the tip is not below
	accepted []string
}

func newWorkload(t *testing.T, d *e2e.Daemon, blocks [][]byte, isNew bool) *workload {
	t.Helper()
	w := &workload{call: d.Call, blocks: blocks, isNew: isNew}
	d.Get(&w.floor, "getblockcount")
	return w
}

// run returns the first error that comes before the kill.
func (w *workload) run(ctx context.Context) error {
	err := w.submitAll(ctx)
	for err == nil {
		err = w.reorganise(ctx)
	}
	if w.killed.Load() {
		return nil
	}
	return err
}

func (w *workload) do(ctx context.Context, result any, method string, params ...any) error {
	if err := w.call(ctx, result, method, params...); err != nil {
		return err
	}
	w.calls.Add(1)
	return nil
}

// submitAll submits the blocks to a new node.
func (w *workload) submitAll(ctx context.Context) error {
	if !w.isNew {
		return nil
	}
	heights := map[chainhash.Hash]int32{}
	for _, raw := range w.blocks {
		hash, prev, err := hashes(raw)
		if err != nil {
			return err
		}
		if prev == (chainhash.Hash{}) {
			heights[hash] = 0
			continue
		}
		heights[hash] = heights[prev] + 1
		if err := w.do(ctx, nil, "submitblock", hex.EncodeToString(raw)); err != nil {
			return err
		}
		w.floor = max(w.floor, heights[hash])
		w.accepted = append(w.accepted, hash.String())
	}
	return nil
}

// reorganise mines, takes blocks back, mines others, and lets the first ones
// in again.
func (w *workload) reorganise(ctx context.Context) error {
	if err := w.mine(ctx, 5); err != nil {
		return err
	}
	var hash string
	if err := w.do(ctx, &hash, "getblockhash", w.floor-2); err != nil {
		return err
	}
	w.floor -= 3
	if err := w.do(ctx, nil, "invalidateblock", hash); err != nil {
		return err
	}
	if err := w.mine(ctx, 4); err != nil {
		return err
	}
	return w.do(ctx, nil, "reconsiderblock", hash)
}

// mine mines n blocks one by one, each acknowledged for itself.
func (w *workload) mine(ctx context.Context, n int) error {
	for range n {
		var hashes []string
		if err := w.do(ctx, &hashes, "generatetoaddress", 1, newAddress()); err != nil {
			return err
		}
		if len(hashes) != 1 {
			return errors.New("generatetoaddress: no block")
		}
		w.floor++
		w.accepted = append(w.accepted, hashes[0])
	}
	return nil
}

// newAddress returns the address of a random script. Blocks to the same one
// would be the same ones, if they have the same parent and time; a block that
// was taken back could then not be mined anew.
func newAddress() string {
	var program [sha256.Size]byte
	cryptorand.Read(program[:])
	a, err := btcutil.NewAddressWitnessScriptHash(program[:], &chaincfg.RegressionNetParams)
	if err != nil {
		panic(err) // of a wrong length
	}
	return a.EncodeAddress()
}

// hashes returns the hash of a raw block and that of its parent.
func hashes(raw []byte) (hash, prev chainhash.Hash, err error) {
	if len(raw) < wire.MaxBlockHeaderPayload {
		return hash, prev, errors.New("block is cut")
	}
	copy(prev[:], raw[4:])
	return chainhash.DoubleHashH(raw[:wire.MaxBlockHeaderPayload]), prev, nil
}

// TestKill9DuringImport kills a node while it reads a block file at its start,
// and lets it read the file again.
func TestKill9DuringImport(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	o := newOracle()
	o.addFile(t, chainFile)
	o.addFile(t, branchFile)
	for range count(t, "TRAWL_SOAK", 8) / killsPerNode {
		d := startIndexed(t, chainFile, branchFile)
		a := o.audits(d)
		<-time.After(time.Duration(random.Int64N(int64(300 * time.Millisecond))))
		d.Kill()
		d.Restart()
		height := a.check(t)
		t.Logf("up again at height %d", height)
		d.Stop()
		d.Restart(chainFile, branchFile)
		d.WaitTip(branchTip, branchHeight, true)
		a.check(t)
		d.Stop()
	}
}

// TestReorgBeforeUncleanStop is the sequence that corrupts the filter index of
// Core: https://github.com/bitcoin/bitcoin/issues/34261. A node stops cleanly,
// starts again, reorganises its tip, and is killed before it writes its state.
func TestReorgBeforeUncleanStop(t *testing.T) {
	t.Parallel()
	for name, waitsForIndex := range map[string]bool{"indexed": true, "not waited for": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOracle()
			o.addFile(t, chainFile)
			branch := o.addFile(t, branchFile)

			d := startIndexed(t, chainFile)
			d.WaitTip(chainTip, chainHeight, true)
			d.Stop()

			d.Restart()
			for _, raw := range branch {
				d.Get(nil, "submitblock", hex.EncodeToString(raw))
			}
			if waitsForIndex {
				d.WaitTip(branchTip, branchHeight, true)
			}
			d.Kill()

			d.Restart()
			d.WaitTip(branchTip, branchHeight, true)
			o.audits(d).check(t)
			d.Stop()
		})
	}
}

// TestTipInvalidatedBeforeUncleanStop is the same with a tip that is taken back
// and mined anew.
func TestTipInvalidatedBeforeUncleanStop(t *testing.T) {
	t.Parallel()
	o := newOracle()
	o.addFile(t, chainFile)
	d := startIndexed(t, chainFile)
	d.WaitTip(chainTip, chainHeight, true)
	d.Stop()

	d.Restart()
	d.Get(nil, "invalidateblock", chainTip)
	var mined []string
	d.Get(&mined, "generatetoaddress", 2, newAddress())
	d.Kill()

	d.Restart()
	d.WaitTip(mined[1], chainHeight+1, true)
	o.audits(d).check(t)
	d.Stop()
}

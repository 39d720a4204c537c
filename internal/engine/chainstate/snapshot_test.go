package chainstate_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/coinfile"
)

// baseHeight is the height of the block that the snapshots of these tests are of.
const baseHeight = 120

// A story is a chain with a snapshot in its middle.
type story struct {
	blocks []*made // from height 1 on
	file   string
	known  dialect.Snapshot
	coins  uint64
	want   string // the unspent outputs at the end
	txs    uint64 // of all
}

func (s *story) base() *made { return s.blocks[baseHeight-1] }

// network is regtest, which knows the snapshot.
func (s *story) network(tb testing.TB) *dialect.Network {
	tb.Helper()
	n := network(tb, "regtest")
	n.Snapshots = append(slices.Clone(n.Snapshots), s.known)
	return n
}

// tell makes a chain whose blocks spend, with outputs whose scripts do not parse, and has an
// engine that validates all of it write the snapshot.
func tell(tb testing.TB) *story {
	tb.Helper()
	s := &story{file: filepath.Join(tb.TempDir(), "coins")}
	e := fresh(tb)
	last := genesis(tb)
	for h := 1; h <= baseHeight+30; h++ {
		var txs []*wire.MsgTx
		if h > 101 {
			pay := []byte{0x51, byte(h)}
			if h%5 == 0 {
				pay = []byte{0x51, 0x4c} // a push that is cut off
			}
			txs = append(txs, spending(s.blocks[h-102].txs[0], pay, 1000))
		}
		last = last.on(txs)
		s.blocks = append(s.blocks, last)
		s.txs += uint64(len(txs)) + 1
		must(tb, e.Accept(last.raw))
		if h == baseHeight {
			s.known = dialect.Snapshot{Height: baseHeight, Block: last.hash, Txs: s.txs + 1}
			s.known.Hash, s.coins = dumpSet(tb, e, s.file)
		}
	}
	s.txs++
	s.want = unspent(tb, e)
	return s
}

// dumpSet writes the set of an engine into a file.
func dumpSet(tb testing.TB, e *bitcoin.Engine, path string) (hash chainhash.Hash, coins uint64) {
	tb.Helper()
	set, err := e.Coins()
	must(tb, err)
	defer set.Release()
	at := set.Tip().Hash
	w, err := coinfile.Create(vfs.OS, path, network(tb, "regtest").Magic, &at)
	must(tb, err)
	sum := coinstats.New(coinstats.Serial)
	must(tb, set.Visit(context.Background(), 0, 0xffff, func(c *messages.SetCoin) error {
		script, err := set.Unpack(nil, c.Packed)
		if err != nil {
			return err
		}
		sum.Add(&coinstats.Coin{Out: c.Out, Height: c.Height, Coinbase: c.Coinbase, Amount: c.Amount, Script: script})
		return w.Add(&c.Out, blockfile.Coin{Height: c.Height, Coinbase: c.Coinbase, Amount: c.Amount, Script: script})
	}))
	must(tb, w.Finish())
	return sum.Hash(), w.Count()
}

func rawHeaders(list []*made) (raw [][]byte) {
	for _, b := range list {
		raw = append(raw, b.raw[:80])
	}
	return raw
}

func load(e *bitcoin.Engine, s *story) (messages.LoadedSnapshot, error) {
	return loadFile(context.Background(), e, s.file)
}

func loadFile(ctx context.Context, e *bitcoin.Engine, path string) (messages.LoadedSnapshot, error) {
	snapshot, err := e.LoadSnapshot(messages.LoadSnapshot{Path: path})
	if err != nil {
		return messages.LoadedSnapshot{}, err
	}
	return snapshot.Use(snapshot.Read(ctx))
}

// openLoaded opens an engine that knows all headers and has begun with the snapshot.
func openLoaded(tb testing.TB, s *story, dir string) *bitcoin.Engine {
	tb.Helper()
	e := open(tb, dir, s.network(tb))
	_, _, err := e.AcceptHeaders(rawHeaders(s.blocks))
	must(tb, err)
	_, err = load(e, s)
	must(tb, err)
	return e
}

// settleBackground runs the background until it has nothing to do.
func settleBackground(e *bitcoin.Engine) error {
	for {
		if more, err := e.Background(context.Background(), time.Microsecond); err != nil || !more {
			return err
		}
	}
}

// A chain that begins with a snapshot goes on from there at once, and has one state in the end.
// Its unspent outputs are then those of a chain that has validated all blocks in their order.
func TestSnapshot(t *testing.T) {
	s := tell(t)
	dir := t.TempDir()
	e := open(t, dir, s.network(t))
	_, _, err := e.AcceptHeaders(rawHeaders(s.blocks))
	must(t, err)
	for _, b := range s.blocks[:40] {
		must(t, e.Accept(b.raw))
	}
	must(t, e.Accept(s.blocks[baseHeight].raw)) // waits for the blocks before
	got, err := load(e, s)
	must(t, err)
	if got.Coins != s.coins || got.Block.Height != baseHeight {
		t.Errorf("loaded %+v", got)
	}
	wantTip(t, e, "loaded", s.blocks[baseHeight])
	wantMark(t, dir, &s.known.Block)
	if states := e.States(); len(states) != 2 || states[0].Tip.Height != 40 || !states[0].Validated ||
		states[1].Tip.Height != baseHeight+1 || states[1].Validated || *states[1].Snapshot != s.known.Block {
		t.Errorf("states %+v", states)
	}
	r := e.Reader()
	for _, b := range []*made{s.base(), s.blocks[50]} {
		if _, err := r.Raw(&b.hash); !errors.Is(err, chainview.ErrNotYet) {
			t.Errorf("block at height %d: %v", b.height, err)
		}
		if _, err := r.Spent(&b.hash); !errors.Is(err, chainview.ErrNotYet) {
			t.Errorf("spent by the block at height %d: %v", b.height, err)
		}
		if err := e.Invalidate(&b.hash); !errors.Is(err, messages.ErrBlockPruned) {
			t.Errorf("invalidated: %v", err)
		}
	}
	if err := e.Verify(t.Context(), 4, 0); !errors.Is(err, messages.ErrPartlyVerified) {
		t.Errorf("verified: %v", err)
	}
	if _, err := load(e, s); err == nil || !strings.Contains(err.Error(), "more than once") {
		t.Errorf("again: %v", err)
	}
	for _, b := range s.blocks[baseHeight+1:] {
		must(t, e.Accept(b.raw))
	}
	wantTip(t, e, "above", s.blocks[len(s.blocks)-1])
	if got := unspent(t, e); got != s.want {
		t.Errorf("unspent outputs differ above the snapshot")
	}
	rest := slices.Clone(s.blocks[40:baseHeight])
	slices.Reverse(rest)
	for _, b := range rest {
		must(t, settleBackground(e))
		if len(e.States()) != 2 {
			t.Fatalf("one state before the block at height %d", b.height)
		}
		must(t, e.Accept(b.raw))
	}
	must(t, settleBackground(e))
	checkWhole(t, e, s)
	wantMark(t, dir, &s.known.Block) // until the next start
	must(t, e.Close())
	e = open(t, dir, s.network(t))
	wantMark(t, dir, nil)
	checkWhole(t, e, s)
	must(t, e.Invalidate(&s.blocks[100].hash))
	must(t, e.Reconsider(&s.blocks[100].hash))
	checkWhole(t, e, s)
	must(t, e.Verify(t.Context(), 4, 0))
	must(t, e.Close())
}

// wantMark looks at the mark of a snapshot; nil: none.
func wantMark(tb testing.TB, dir string, want *chainhash.Hash) {
	tb.Helper()
	got, ok, err := markIn(dir).Read()
	if err != nil || ok != (want != nil) || ok && got != *want {
		tb.Errorf("the mark is %v, %v, %v; want %v", got, ok, err, want)
	}
}

// checkWhole looks at an engine that has one state again.
func checkWhole(tb testing.TB, e *bitcoin.Engine, s *story) {
	tb.Helper()
	wantTip(tb, e, "whole", s.blocks[len(s.blocks)-1])
	if states := e.States(); len(states) != 1 || !states[0].Validated {
		tb.Errorf("states %+v", states)
	}
	if got := unspent(tb, e); got != s.want {
		tb.Error("unspent outputs differ")
	}
	if got := e.Totals().Txs; got != s.txs {
		tb.Errorf("%d transactions, want %d", got, s.txs)
	}
	r := e.Reader()
	for _, b := range s.blocks {
		if _, err := r.Raw(&b.hash); err != nil {
			tb.Error(err)
		}
		if spent, err := r.Spent(&b.hash); err != nil || len(spent) != len(b.txs)-1 {
			tb.Errorf("spent at height %d: %d, %v", b.height, len(spent), err)
		}
	}
}

// Blocks and the snapshot come in any order, and the node is killed anywhere. All answered
// changes are there, and the node ends with one state.
func TestSnapshotKilled(t *testing.T) {
	enginetest.SkipUnderRace(t)
	s := tell(t)
	for seed := range uint64(soak(5)) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		dir := t.TempDir()
		e := open(t, dir, s.network(t))
		_, _, err := e.AcceptHeaders(rawHeaders(s.blocks))
		must(t, err)
		at := rnd.IntN(100)
		for _, b := range s.blocks[:at] {
			must(t, e.Accept(b.raw))
		}
		fork := s.blocks[0].on(nil) // a block that is never on the best chain
		loaded := false
		left := rnd.Perm(len(s.blocks))
		left = slices.DeleteFunc(left, func(i int) bool { return i < at })
		for len(left) > 0 {
			switch rnd.IntN(8) {
			case 0:
				if !loaded {
					_, err := load(e, s)
					loaded = err == nil || strings.Contains(err.Error(), "Work does not exceed")
					if !loaded {
						t.Fatal(err)
					}
				}
			case 1:
				dir, e = kill(t, dir, e, s, rnd.IntN(2) == 0)
			case 2:
				_, err := e.Background(context.Background(), time.Microsecond)
				must(t, err)
			case 3:
				if answer := answer(t, e.Accept(fork.raw)); answer != "" && answer != "duplicate" {
					t.Error(answer)
				}
			default:
				must(t, e.Accept(s.blocks[left[0]].raw))
				left = left[1:]
			}
			if loaded && e.Reader().Active().Height() < baseHeight {
				t.Fatalf("seed %d: the snapshot is lost", seed)
			}
		}
		must(t, settleBackground(e))
		checkWhole(t, e, s)
		_, e = kill(t, dir, e, s, true)
		must(t, settleBackground(e))
		checkWhole(t, e, s)
		must(t, e.Close())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// kill opens an engine's files as another engine, with or without the engine's last writes.
func kill(tb testing.TB, dir string, e *bitcoin.Engine, s *story, hard bool) (string, *bitcoin.Engine) {
	tb.Helper()
	if !hard {
		must(tb, e.Close())
		return dir, open(tb, dir, s.network(tb))
	}
	other := tb.TempDir()
	must(tb, os.CopyFS(other, os.DirFS(dir)))
	must(tb, e.Close())
	return other, open(tb, other, s.network(tb))
}

// Whichever write fails: the next start has one state or the two, and comes to the same end.
func TestSnapshotWritesFail(t *testing.T) {
	enginetest.SkipUnderRace(t)
	s := tell(t)
	for n := 0; ; n += 1 + n/3 { // each of the first, some of the many blocks later
		dir := t.TempDir()
		e := open(t, dir, s.network(t))
		_, _, err := e.AcceptHeaders(rawHeaders(s.blocks))
		must(t, err)
		for _, b := range s.blocks[:30] {
			must(t, e.Accept(b.raw))
		}
		must(t, e.Close())
		e = open(t, dir, s.network(t))
		left, failed := n, false
		must(t, chainstate.FailWrites(e, 8<<20, func() error {
			if left--; left < 0 && !failed {
				failed = true
				return syscall.ENOSPC
			}
			return nil
		}))
		live := func(e *bitcoin.Engine) error {
			if len(e.States()) == 1 && e.Reader().Active().Height() < baseHeight {
				if _, err := load(e, s); err != nil {
					return err
				}
			}
			for _, b := range slices.Concat(s.blocks[baseHeight:], s.blocks[30:baseHeight]) {
				if err := e.Accept(b.raw); err != nil && err.Error() != "duplicate" {
					return err
				}
				if _, err := e.Background(context.Background(), time.Microsecond); err != nil {
					return err
				}
			}
			if err := settleBackground(e); err != nil {
				return err
			}
			return e.Sync()
		}
		if err := live(e); failed != (err != nil) {
			t.Fatalf("write %d: %v", n, err)
		}
		if err := e.Sync(); errors.Is(err, syscall.ENOSPC) != failed {
			t.Errorf("write %d: the engine goes on: %v", n, err)
		}
		_ = e.Close()
		e = open(t, dir, s.network(t))
		if err := live(e); err != nil {
			t.Fatalf("write %d: afterwards: %v", n, err)
		}
		checkWhole(t, e, s)
		must(t, e.Close())
		if t.Failed() {
			t.Fatalf("write %d", n)
		}
		if !failed {
			if n < 10 {
				t.Errorf("only %d writes", n)
			}
			return
		}
	}
}

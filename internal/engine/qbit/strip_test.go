package qbit

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// stripDepth is how deep blocks of these tests lose their witnesses.
const stripDepth = 12

// A stripRig is an engine whose old blocks lose their witnesses, with all blocks as they came.
type stripRig struct {
	*rig
	builder

	dir    string
	anew   context.Context
	assume chainhash.Hash

	raws  map[chainhash.Hash][]byte
	files [][]chainhash.Hash // what is in each file, as it should be
	end   int                // of the last file
	short map[chainhash.Hash]bool
}

func newStripRig(t *testing.T) *stripRig {
	t.Helper()
	s := &stripRig{dir: t.TempDir(), raws: map[chainhash.Hash][]byte{}, short: map[chainhash.Hash]bool{}}
	s.tb = t
	s.open()
	t.Cleanup(func() { _ = s.Close() })
	genesis := s.tree.Active().Tip()
	raw, err := s.db.Block(&genesis.Hash)
	if err != nil {
		t.Fatal(err)
	}
	s.raws[genesis.Hash], s.files, s.end = raw, [][]chainhash.Hash{{genesis.Hash}}, blockfile.HeaderSize+len(raw)
	return s
}

func (s *stripRig) open() {
	s.tb.Helper()
	if err := s.tryOpen(); err != nil {
		s.tb.Fatal(err)
	}
}

func (s *stripRig) tryOpen() error {
	net := regtest(s.tb, dialect.Choices{})
	net.Rules.Maturity, net.AssumeValid = 1, s.assume
	options := dbOptions(vfs.OS, s.dir, net)
	options.Strips = true
	db, err := chaindb.Open(options)
	if err != nil {
		return err
	}
	e, err := Open(Config{
		Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Log: options.Log, StartOver: s.anew,
		Strip: &chainstate.StripConfig{Depth: stripDepth},
	})
	if err != nil {
		return err
	}
	s.rig = &rig{Engine: e, net: net, tree: e.Reader().(chainstate.Reader).Tree, db: db}
	s.e = s.rig
	return nil
}

// put adds a block of about a size, which spends an output of a coinbase, and has the oracle do the same.
func (s *stripRig) put(parent *chainview.Block, size int) *chainview.Block {
	s.tb.Helper()
	var txs []*wire.MsgTx
	if from := parent.Ancestor(parent.Height - 3); from != nil && from.Height > 0 {
		read, err := readBlock(s.raws[from.Hash])
		if err != nil {
			s.tb.Fatal(err)
		}
		out := wire.OutPoint{Hash: *read.txs[0].Hash()}
		txs = append(txs, spend(out, read.txs[0].MsgTx().TxOut[0].Value))
	}
	raw := s.build(parent, txs, grow(s.tb, size))
	before := s.tree.Active().Tip()
	if err := s.Accept(raw); err != nil {
		s.tb.Fatal(err)
	}
	hash := chainhash.DoubleHashH(raw[:80])
	s.raws[hash] = raw
	need := blockfile.HeaderSize + len(raw)
	if s.end+need >= blockfile.FastPruneFileSize {
		s.files, s.end = append(s.files, nil), 0
	}
	last := len(s.files) - 1
	s.files[last], s.end = append(s.files[last], hash), s.end+need
	if s.tree.Active().Tip() != before {
		s.strip()
	}
	return s.tree.Lookup(&hash)
}

// strip is the oracle: the lowest file that may lose witnesses has lost them.
func (s *stripRig) strip() {
	cutoff := s.tree.Active().Height() - stripDepth
	for _, file := range s.files[:len(s.files)-1] {
		whole, old := false, true
		for i := range file {
			whole = whole || !s.short[file[i]]
			old = old && s.tree.Lookup(&file[i]).Height <= cutoff
		}
		if !whole || !old || cutoff < 0 {
			continue
		}
		for i := range file {
			s.short[file[i]] = true
		}
		return
	}
}

// check holds every block against the oracle.
func (s *stripRig) check() {
	s.tb.Helper()
	for hash, raw := range s.raws {
		want := raw
		if s.short[hash] {
			var err error
			if want, err = consensus.Strip(nil, raw, s.net.HeaderLen(raw)); err != nil {
				s.tb.Fatal(err)
			}
		}
		b := s.tree.Lookup(&hash)
		if b == nil || chainview.IsStripped(b) != s.short[hash] {
			s.tb.Fatalf("block %v: known to be stripped is not %v", hash, s.short[hash])
		}
		if got, err := s.Reader().Raw(&hash); err != nil || !bytes.Equal(got, want) {
			s.tb.Fatalf("block at height %d: %d bytes, want %d: %v", b.Height, len(got), len(want), err)
		}
		if size, _, err := s.Reader().Size(&hash); err != nil || size != len(want) {
			s.tb.Fatalf("size of the block at height %d: %d, %v", b.Height, size, err)
		}
		if _, err := s.Reader().Spent(&hash); b.Status()&chainview.Valid != 0 && err != nil {
			s.tb.Fatalf("what the block at height %d spends: %v", b.Height, err)
		}
	}
	if chainview.WitnessesOf(s.Reader()).Pruned != (len(s.short) > 0) {
		s.tb.Fatal("the reader says otherwise whether witnesses were removed")
	}
}

// Blocks come in branches and over restarts. Exactly the blocks of old files lose their witnesses, one file for
// each move of the tip, and each block is as it was, with or without its witnesses. Unspent outputs do not
// change.
func TestStripAsOracle(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		s, r := newStripRig(t), rand.New(rand.NewPCG(seed, 31))
		for range 110 {
			tip := s.tree.Active().Tip()
			switch n := r.IntN(20); {
			case n == 0 && tip.Height > 4: // a branch that may win
				at := tip.Ancestor(tip.Height - int32(1+r.IntN(3)))
				for range 1 + r.IntN(5) {
					at = s.put(at, 3000+r.IntN(9000))
				}
			case n == 1:
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s.open()
				s.strip() // once at each start
				if s.tree.Active().Tip().Hash != tip.Hash {
					t.Fatal("another tip")
				}
				s.check()
			default:
				s.put(tip, 3000+r.IntN(9000))
			}
		}
		s.check()
		if len(s.short) < 20 {
			t.Errorf("seed %d: %d blocks are stripped", seed, len(s.short))
		}
		n, sum, hash := unspent(t, s.rig)
		if err := s.Verify(t.Context(), 3, 0); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s.open()
		if n2, sum2, hash2 := unspent(t, s.rig); n != n2 || sum != sum2 || hash != hash2 {
			t.Errorf("seed %d: other unspent outputs", seed)
		}
	}
}

// long returns a chain of which the oldest blocks are stripped, and the highest of these.
func long(t *testing.T) (s *stripRig, last *chainview.Block) {
	t.Helper()
	s = newStripRig(t)
	for range 50 {
		s.put(s.tree.Active().Tip(), 8000)
	}
	for h := int32(0); chainview.IsStripped(s.tree.Active().At(h)); h++ {
		last = s.tree.Active().At(h)
	}
	if last == nil || last.Height < 10 {
		t.Fatal("few blocks are stripped")
	}
	return s, last
}

// A chain leaves blocks without witnesses, and does not come back to them while it would need these; nothing is
// taken for invalid. Where the block that is assumed to be valid covers them it does.
func TestBranchWithoutWitnesses(t *testing.T) {
	t.Parallel()
	s, last := long(t)
	tip := s.tree.Active().Tip()
	if err := s.Invalidate(&s.tree.Active().At(last.Height - 2).Hash); err != nil {
		t.Fatal(err)
	}
	left := s.tree.Active().At(last.Height - 3)
	if s.tree.Active().Tip() != left {
		t.Fatalf("at height %d, want %d", s.tree.Active().Height(), left.Height)
	}
	if err := s.Reconsider(&tip.Ancestor(last.Height - 2).Hash); err != nil {
		t.Fatal(err)
	}
	if s.tree.Active().Tip() != left || tip.Status().Invalid() || last.Status().Invalid() {
		t.Errorf("at height %d; blocks are invalid: %v, %v",
			s.tree.Active().Height(), tip.Status().Invalid(), last.Status().Invalid())
	}
	s.assume = last.Hash
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.open()
	if got := s.tree.Active().Tip().Hash; got != tip.Hash {
		t.Errorf("with an assumed-valid block at height %d", s.tree.Active().Height())
	}
	s.check()
}

// All blocks are verified at level 3; at level 4 as far as scripts need not be executed without their witnesses.
func TestVerifyWithoutWitnesses(t *testing.T) {
	t.Parallel()
	s, last := long(t)
	if err := s.Verify(t.Context(), 3, 0); err != nil {
		t.Error(err)
	}
	if err := s.Verify(t.Context(), 4, 10); err != nil {
		t.Error(err)
	}
	if err := s.Verify(t.Context(), 4, 0); err == nil || !strings.Contains(err.Error(), "found unconnectable block") {
		t.Errorf("without an assumed-valid block: %v", err)
	}
	s.assume = last.Hash
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.open()
	if err := s.Verify(t.Context(), 4, 0); err != nil {
		t.Error(err)
	}
}

// A chain state that is built anew is as before, and is so only where the assumed-valid block covers what has lost
// its witnesses; otherwise nothing is changed.
func TestStartOver(t *testing.T) {
	t.Parallel()
	s, last := long(t)
	active := s.tree.Active()
	n, sum, hash := unspent(t, s.rig)
	branch := s.build(active.At(active.Height()-2), nil, nil)
	if err := s.Accept(branch); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		assume chainhash.Hash
		want   string
	}{
		{chainhash.Hash{}, "without -assumevalid=<hash>. "},
		{chainhash.Hash{1}, "with unknown -assumevalid block "},
		{chainhash.DoubleHashH(branch[:80]), "because that block is not on the best-header chain. "},
		{active.At(last.Height - 1).Hash, "does not cover witness-pruned block " + last.Hash.String()},
	} {
		s.anew, s.assume = t.Context(), c.assume
		err := s.tryOpen()
		if start, ok := errors.AsType[messages.StartError](err); !ok || !strings.Contains(start.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
		s.anew = nil
		s.open()
		if got := s.tree.Active().Tip().Hash; got != active.Tip().Hash {
			t.Fatalf("%q: the tip is another", c.want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, assume := range []chainhash.Hash{last.Hash, active.At(last.Height + 1).Hash} {
		s.anew, s.assume = t.Context(), assume
		s.open()
		s.check()
		if n2, sum2, hash2 := unspent(t, s.rig); n != n2 || sum != sum2 || hash != hash2 {
			t.Error("other unspent outputs")
		}
		if got := s.tree.Active().Tip().Hash; got != active.Tip().Hash {
			t.Errorf("the tip is another: %v", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	s.anew = cancelled
	if err := s.tryOpen(); err == nil {
		t.Error("it did not end with its context")
	}
	s.anew = nil
	s.open() // goes on from there
	if got := s.tree.Active().Tip().Hash; got != active.Tip().Hash {
		t.Errorf("after an interruption the tip is another: %v", got)
	}
}

// A kill may come at any call of the file system while files are rewritten. A copy of the files then opens with
// the same tip, and each file as it was or rewritten.
func TestKillWhileStripping(t *testing.T) {
	t.Parallel()
	s := newStripRig(t)
	for range 30 {
		s.put(s.tree.Active().Tip(), 8000)
	}
	for i := range 12 {
		s.put(s.tree.Active().Tip(), 8000)
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(s.dir)); err != nil {
			t.Fatal(err)
		}
		again := *s
		again.dir = copied
		again.open()
		if again.tree.Active().Tip().Hash != s.tree.Active().Tip().Hash {
			t.Fatalf("%d: another tip", i)
		}
		n, sum, hash := unspent(t, s.rig)
		if n2, sum2, hash2 := unspent(t, again.rig); n != n2 || sum != sum2 || hash != hash2 {
			t.Errorf("%d: other unspent outputs", i)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

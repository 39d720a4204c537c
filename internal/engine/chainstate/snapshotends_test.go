package chainstate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// A bad file is refused in Core's words, and nothing of the file stays.
func TestSnapshotRefused(t *testing.T) {
	s := tell(t)
	content, err := os.ReadFile(s.file)
	must(t, err)
	e := open(t, t.TempDir(), s.network(t))
	defer func() { _ = e.Close() }()
	room := e.States()[0].TipCache
	refused := func(what string, change func([]byte) []byte, want string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "bad")
		must(t, os.WriteFile(path, change(slices.Clone(content)), 0o600))
		_, err := loadFile(t.Context(), e, path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
		must(t, settleBackground(e))
		if left, err := chainstate.HasOtherSet(e); left || err != nil {
			t.Errorf("%s: outputs of it stay on the disk: %v, %v", what, left, err)
		}
		if e.Behind() {
			t.Errorf("%s: something is still to be done in the background", what)
		}
		if now := e.States()[0].TipCache; now != room {
			t.Errorf("%s: unspent outputs may have %d bytes of memory, had %d", what, now, room)
		}
	}
	same := func(b []byte) []byte { return b }
	refused("no header", same, "must appear in the headers chain")
	_, _, err = e.AcceptHeaders(rawHeaders(s.blocks[:baseHeight]))
	must(t, err)
	refused("another block", func(b []byte) []byte { b[11]++; return b }, "snapshot heights are available: 110, 200, 299, 120")
	refused("fewer", func(b []byte) []byte { b[43]--; return b }, "coins left over after deserializing")
	refused("more", func(b []byte) []byte { b[43]++; return b }, "Bad snapshot format or truncated snapshot")
	refused("other", func(b []byte) []byte { b[51]++; return b },
		fmt.Sprintf("Bad snapshot content hash: expected %v, got ", s.known.Hash))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := loadFile(ended, e, s.file); err == nil {
		t.Error("loaded while the node ends")
	}
	must(t, settleBackground(e))
	if _, err := loadFile(t.Context(), e, s.file+"x"); !errors.Is(err,
		messages.ErrNotOpened) {
		t.Error(err)
	}
	must(t, e.Invalidate(&s.blocks[50].hash))
	refused("invalid", same, "is part of an invalid chain")
	must(t, e.Reconsider(&s.blocks[50].hash))
	fork := s.blocks[20].chainOn(110)
	_, _, err = e.AcceptHeaders(rawHeaders(fork))
	must(t, err)
	refused("forked", same, "A forked headers-chain with more work")
	_, _, err = e.AcceptHeaders(rawHeaders(s.blocks))
	must(t, err)
	for _, b := range s.blocks[:baseHeight] {
		must(t, e.Accept(b.raw))
	}
	refused("late", same, "Population failed: Work does not exceed active chainstate")
	if states := e.States(); len(states) != 1 {
		t.Errorf("states %+v", states)
	}
}

// A snapshot of which the blocks say something else is given up: the node ends, and the next
// start has what was validated.
func TestSnapshotWrong(t *testing.T) {
	s := tell(t)
	bad := s.blocks[79].on(nil, greedy) // and a chain on it
	fork := append([]*made{bad}, bad.chainOn(60)...)
	lie := *s
	lie.known.Block, lie.known.Height = fork[39].hash, fork[39].height
	mistaken := *s
	mistaken.known.Block, mistaken.known.Height = s.blocks[129].hash, 130
	for name, test := range map[string]struct {
		story  *story
		blocks []*made // after height 80
		tip    int32
	}{
		"breaks a rule": {&lie, fork, 80},
		"another set":   {&mistaken, s.blocks[80:130], 130},
	} {
		t.Run(name, func(t *testing.T) {
			st := test.story
			st.file = relabel(t, st)
			dir := t.TempDir()
			e := open(t, dir, st.network(t))
			all := slices.Concat(st.blocks[:80], test.blocks)
			_, _, err := e.AcceptHeaders(rawHeaders(all))
			must(t, err)
			_, err = load(e, st)
			must(t, err)
			for _, b := range slices.Concat(test.blocks[st.known.Height-80:], all[:st.known.Height]) {
				must(t, e.Accept(b.raw))
			}
			err = settleBackground(e)
			var fatal *messages.FatalError
			if !errors.As(err, &fatal) || !strings.Contains(fatal.Summary, "failed to validate the -assumeutxo snapshot") {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("will resume syncing from %d without", test.tip); !strings.Contains(fatal.Summary, want) {
				t.Error(fatal.Summary)
			}
			wantMark(t, dir, nil)
			if err := e.Accept(test.blocks[len(test.blocks)-1].on(nil).raw); err == nil {
				t.Error("a block is taken on a chain that is given up")
			}
			_ = e.Close()
			e = open(t, dir, st.network(t))
			if got := e.Reader().Active().Height(); got != test.tip || len(e.States()) != 1 {
				t.Errorf("at height %d, %+v", got, e.States())
			}
			must(t, settleBackground(e))
			for _, b := range s.blocks[80:] {
				if answer := answer(t, e.Accept(b.raw)); answer != "" && answer != "duplicate" {
					t.Error(answer)
				}
			}
			checkWhole(t, e, s)
			must(t, e.Close())
		})
	}
}

// A branch from before the snapshot that has more work waits until the chain may go back behind it, and
// is then taken at once.
func TestSnapshotBranch(t *testing.T) {
	s := tell(t)
	first := s.blocks[baseHeight-11].on(nil)
	branch := append([]*made{first}, first.chainOn(50)...)
	e := openLoaded(t, s, t.TempDir())
	defer func() { _ = e.Close() }()
	top := s.blocks[len(s.blocks)-1]
	for _, b := range slices.Concat(s.blocks[baseHeight:], s.blocks[:baseHeight-1], branch) {
		must(t, e.Accept(b.raw))
	}
	must(t, settleBackground(e))
	wantTip(t, e, "before the last block is there", top)
	must(t, e.Accept(s.base().raw))
	wantTip(t, e, "before it is validated", top)
	must(t, settleBackground(e))
	wantTip(t, e, "afterwards", branch[len(branch)-1])
	if states := e.States(); len(states) != 1 || !states[0].Validated {
		t.Errorf("states %+v", states)
	}
	must(t, e.Verify(t.Context(), 4, 0))
}

// relabel writes a file whose set is said to be of another block.
func relabel(tb testing.TB, s *story) string {
	tb.Helper()
	content, err := os.ReadFile(s.file)
	must(tb, err)
	copy(content[11:], s.known.Block[:])
	path := filepath.Join(tb.TempDir(), "relabeled")
	must(tb, os.WriteFile(path, content, 0o600))
	return path
}

// A node that has begun with a snapshot and validated it may begin with a later one.
func TestSecondSnapshot(t *testing.T) {
	s := tell(t)
	later := *s
	later.file = filepath.Join(t.TempDir(), "later")
	dir := t.TempDir()
	e := openLoaded(t, s, dir)
	for _, b := range s.blocks[:baseHeight] {
		must(t, e.Accept(b.raw))
	}
	must(t, settleBackground(e))
	must(t, e.Close())

	whole := fresh(t)
	for _, b := range s.blocks[:baseHeight+20] {
		must(t, whole.Accept(b.raw))
	}
	later.known = dialect.Snapshot{
		Height: baseHeight + 20, Block: s.blocks[baseHeight+19].hash, Txs: whole.Totals().Txs,
	}
	later.known.Hash, later.coins = dumpSet(t, whole, later.file)
	e = open(t, dir, later.network(t))
	_, err := load(e, &later)
	must(t, err)
	wantTip(t, e, "loaded", s.blocks[baseHeight+19])
	wantMark(t, dir, &later.known.Block)
	dir, e = kill(t, dir, e, &later, true)
	wantTip(t, e, "loaded and killed", s.blocks[baseHeight+19])
	for _, b := range s.blocks[baseHeight:] {
		must(t, e.Accept(b.raw))
	}
	must(t, settleBackground(e))
	checkWhole(t, e, s)
	_, e = kill(t, dir, e, &later, true)
	must(t, settleBackground(e))
	checkWhole(t, e, s)
	must(t, e.Close())
}

// A mark of a block that is not known ends the start; a leftover mark is removed.
func TestSnapshotMarks(t *testing.T) {
	dir := t.TempDir()
	net := network(t, "regtest")
	must(t, open(t, dir, net).Close())
	must(t, markIn(dir).Write(&net.Snapshots[0].Block))
	must(t, open(t, dir, net).Close())
	wantMark(t, dir, nil)
	must(t, markIn(dir).Write(&chainhash.Hash{7}))
	db, err := chaindb.Open(chaindb.Options{
		Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"), Magic: net.Magic, XOR: true,
	})
	must(t, err)
	_, err = bitcoin.Open(bitcoin.Config{
		Network: net, DB: db, Cache: 1 << 20, Clock: new(clock.Clock), Log: slog.New(slog.DiscardHandler),
		Mark: markIn(dir),
	})
	var fatal *messages.FatalError
	if want := "Assumeutxo data not found for the given blockhash '" + (chainhash.Hash{7}).String() + "'."; !errors.As(
		err, &fatal) || fatal.Summary != want {
		t.Errorf("%v, want %s", err, want)
	}
	wantMark(t, dir, &chainhash.Hash{7})
}

// The chain goes on while a file is read. There is one file at a time, and it is of no use any more when
// the chain has come to its block meanwhile.
func TestSnapshotReadBeside(t *testing.T) {
	s := tell(t)
	for _, test := range []struct {
		name   string
		blocks int // that come while the file is read
		want   string
	}{
		{"below", 60, ""},
		{"at its block", baseHeight, "Population failed: Work does not exceed active chainstate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := open(t, t.TempDir(), s.network(t))
			_, _, err := e.AcceptHeaders(rawHeaders(s.blocks))
			must(t, err)
			snapshot, err := e.LoadSnapshot(messages.LoadSnapshot{Path: s.file})
			must(t, err)
			read := make(chan error, 1)
			go func() { read <- snapshot.Read(context.Background()) }()
			for _, b := range s.blocks[:test.blocks] {
				must(t, e.Accept(b.raw))
			}
			if _, err := load(e, s); err == nil || err.Error() != "A snapshot is being loaded already" {
				t.Errorf("a second file: %v", err)
			}
			_, err = snapshot.Use(<-read)
			var refused *messages.SnapshotError
			if errors.As(err, &refused) != (test.want != "") || refused != nil && refused.Reason != test.want {
				t.Fatal(err)
			}
			for _, b := range s.blocks[test.blocks:] {
				must(t, e.Accept(b.raw))
			}
			must(t, settleBackground(e))
			checkWhole(t, e, s)
			must(t, e.Close())
		})
	}
}

// A block that was pruned cannot be validated: the background waits for it before it goes on.
func TestSnapshotOverPrunedBlock(t *testing.T) {
	s := tell(t)
	e := openLoaded(t, s, t.TempDir())
	defer func() { _ = e.Close() }()
	for _, b := range s.blocks {
		if b.height != s.base().height {
			must(t, e.Accept(b.raw))
		}
	}
	pruned := s.blocks[29]
	chainstate.ForgetData(e, &pruned.hash)
	must(t, e.Accept(s.base().raw))
	must(t, settleBackground(e))
	if states := e.States(); len(states) != 2 || states[0].Tip.Height != pruned.height-1 {
		t.Errorf("the background is at %+v, want height %d", states, pruned.height-1)
	}
	must(t, e.Accept(pruned.raw))
	must(t, settleBackground(e))
	checkWhole(t, e, s)
}

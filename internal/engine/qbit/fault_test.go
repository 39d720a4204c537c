package qbit

import (
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// A session is what an engine lives through, and what of it was made durable.
type session struct {
	blocks  [][]byte // recorded ones
	branch  [][]byte // that wins over the last of them
	durable [][]byte // blocks that were accepted before a sync
	tip     int      // how many blocks the active chain had then
}

// newSession records the branch with an engine of its own.
func newSession(t *testing.T) *session {
	t.Helper()
	e := fresh(t, dialect.Choices{})
	s := &session{blocks: chainBlocks(t)[1:25]}
	feed(t, e, s.blocks)
	b := &builder{tb: t, e: e}
	at := e.tree.Active().At(20)
	for range 6 {
		raw := b.build(at, nil, nil)
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
		read, err := readBlock(raw)
		if err != nil {
			t.Fatal(err)
		}
		s.branch, at = append(s.branch, raw), e.tree.Lookup(&read.Hash)
	}
	return s
}

// live uses an engine until something fails.
func (s *session) live(e *rig) error {
	var taken [][]byte
	accept := func(blocks [][]byte) error {
		for _, raw := range blocks {
			if err := e.Accept(raw); err != nil {
				return err
			}
			taken = append(taken, raw)
		}
		return nil
	}
	sync := func() error {
		err := e.Sync()
		if err == nil {
			s.durable, s.tip = taken, int(e.tree.Active().Height())
		}
		return err
	}
	for _, step := range []func() error{
		func() error { return accept(s.blocks[:10]) }, sync,
		func() error { return accept(s.blocks[10:]) }, sync,
		func() error { return chainstate.Rest(e.Engine) },
		func() error { return accept(s.branch) }, sync, e.Close,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// After any write or sync fails and power is lost, the engine opens again. It knows
// all that was durable, and its unspent outputs are those of its chain.
func TestFaultsAndPowerLoss(t *testing.T) {
	t.Parallel()
	record := newSession(t)
	random := rand.New(rand.NewPCG(3, 4))
	failed := true
	for n := 0; failed; n += 1 + n/5 {
		dir, disk := t.TempDir(), faultfs.New()
		s := &session{blocks: record.blocks, branch: record.branch}
		disk.Inject(faultfs.From(n, syscall.EIO))
		e, err := openOn(disk, dir, regtest(t, dialect.Choices{}))
		if err == nil {
			if err = s.live(e); err != nil {
				_ = e.Close()
			}
		}
		failed = err != nil
		if err := disk.PowerLoss(random); err != nil {
			t.Fatal(err)
		}
		again, err := reopen(dir, regtest(t, dialect.Choices{}))
		if err != nil {
			t.Fatalf("fault %d: %v", n, err)
		}
		s.check(t, again, n)
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// reopen opens an engine as a node does: what is damaged is built anew from the block
// files.
func reopen(dir string, net *dialect.Network) (*rig, error) {
	e, err := openOn(vfs.OS, dir, net)
	if errors.Is(err, chaindb.ErrDamaged) {
		if err := chaindb.Rebuild(dbOptions(vfs.OS, dir, net)); err != nil {
			return nil, err
		}
		e, err = openOn(vfs.OS, dir, net)
	}
	if err != nil {
		return nil, err
	}
	blocks, done := e.Unread()
	if blocks == nil {
		return e, nil
	}
	for record, err := range blocks {
		if err != nil {
			return nil, err
		}
		var refused *messages.RejectError
		if err := e.Accept(record.Block); err != nil && !errors.As(err, &refused) {
			return nil, err
		}
	}
	return e, done()
}

func (s *session) check(t *testing.T, e *rig, n int) {
	t.Helper()
	for _, raw := range s.durable {
		read, err := readBlock(raw)
		if err != nil {
			t.Fatal(err)
		}
		b := e.tree.Lookup(&read.Hash)
		if b == nil || b.Status()&chainview.HasData == 0 {
			t.Fatalf("fault %d: block %v is lost", n, read.Hash)
		}
		if stored, err := e.db.Block(&b.Hash); err != nil || string(stored) != string(raw) {
			t.Errorf("fault %d: block %v reads back otherwise: %v", n, read.Hash, err)
		}
	}
	if got := int(e.tree.Active().Height()); got < s.tip {
		t.Errorf("fault %d: at height %d, was durable at %d", n, got, s.tip)
	}
	compare(t, e)
}

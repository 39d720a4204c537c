package chainstate_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// A strippedRig is a chain in small files whose blocks lose their witnesses ten blocks below the tip.
type strippedRig struct {
	*bitcoin.Engine

	t    testing.TB
	dir  string
	disk vfs.FS
	log  bytes.Buffer
}

func openStripped(tb testing.TB) *strippedRig {
	tb.Helper()
	r := &strippedRig{t: tb, dir: tb.TempDir(), disk: vfs.OS}
	r.open()
	tb.Cleanup(func() { _ = r.Close() })
	return r
}

func (r *strippedRig) open() {
	r.t.Helper()
	net, log := enginetest.Regtest(r.t), slog.New(slog.NewTextHandler(&r.log, nil))
	db, err := chaindb.Open(chaindb.Options{
		Dir: filepath.Join(r.dir, "chainstate"), BlocksDir: filepath.Join(r.dir, "blocks"), Magic: net.Magic,
		XOR: true, FastPrune: true, Strips: true, FS: r.disk, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.Engine, err = bitcoin.Open(bitcoin.Config{
		Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Log: log,
		Strip: &chainstate.StripConfig{Depth: 10},
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *strippedRig) reopen() {
	r.t.Helper()
	must(r.t, r.Close())
	r.open()
}

// lacks returns the block whose witnesses are wanted, nil: none.
func (r *strippedRig) wants() *chainview.Block { return chainview.WitnessesOf(r.Reader()).Wanted }

// copies lists the copies that there are.
func (r *strippedRig) copies() []string {
	r.t.Helper()
	list, err := filepath.Glob(filepath.Join(r.dir, "blocks", blockfile.CopiesFolder, "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// witnessScript takes any witness, which is large.
var witnessScript = []byte{txscript.OP_DROP, txscript.OP_TRUE}

// withWitness returns a pair of transactions, the second of which has a witness. A bad witness shows another
// script than the spent output names.
func withWitness(coinbase *wire.MsgTx, bad bool) []*wire.MsgTx {
	hash := chainhash.HashB(witnessScript)
	first := spending(coinbase, append([]byte{txscript.OP_0, txscript.OP_DATA_32}, hash...), 0)
	second := spending(first, trueScript, 0)
	script := witnessScript
	if bad {
		script = []byte{txscript.OP_TRUE}
	}
	second.TxIn[0].Witness = wire.TxWitness{bytes.Repeat([]byte{7}, 500), script}
	return []*wire.MsgTx{first, second}
}

// large has a block fill a third of a file.
var large = remake(func(b *wire.MsgBlock) {
	b.Transactions[0].AddTxOut(wire.NewTxOut(0, append([]byte{txscript.OP_RETURN}, make([]byte, 20_000)...)))
})

// branches is the chain of a test: the base of both branches, the first branch, whose blocks have witnesses, and
// the second. The first branch has more blocks that come late; without these the second branch has more work.
type branches struct {
	base, first, late, second []*made
}

const (
	branchAt   = 120
	firstLong  = 30
	secondLong = 33
)

// newBranches builds them. The witness of the first branch's block of a number is bad, if that is not negative.
func newBranches(tb testing.TB, bad int) branches {
	tb.Helper()
	var b branches
	b.base = genesis(tb).chainOn(branchAt)
	at := b.base[branchAt-1]
	for i := range firstLong {
		at = at.on(withWitness(b.base[i%15].txs[0], i == bad), large)
		if i >= 15 {
			at = b.first[i-1].on(nil, large)
		}
		b.first = append(b.first, at)
	}
	b.late = at.chainOn(5)
	b.second = b.base[branchAt-1].chainOn(secondLong)
	return b
}

// leave has a node take the first branch, delete its witnesses, and go over to the second. Then the late blocks come.
func (r *strippedRig) leave(b branches) {
	r.t.Helper()
	for _, list := range [][]*made{b.base, b.first, b.second, b.late} {
		for _, m := range list {
			must(r.t, r.Accept(m.raw))
		}
	}
	wantTip(r.t, r.Engine, "before the witnesses come again", b.second[secondLong-1])
}

func (r *strippedRig) stripped(b branches) (n int) {
	for _, m := range b.first {
		if at := r.Reader().Lookup(&m.hash); at.Status()&chainview.Stripped != 0 {
			n++
		}
	}
	return n
}

func TestReturnToStrippedBranch(t *testing.T) {
	b := newBranches(t, -1)
	r := openStripped(t)
	r.leave(b)
	n := r.stripped(b)
	if n < 10 || n == firstLong {
		t.Fatalf("%d of %d blocks were stripped", n, firstLong)
	}
	if wanted := r.wants(); wanted == nil || wanted.Hash != b.first[0].hash {
		t.Fatalf("wanted is %v", wanted)
	}
	if !strings.Contains(r.log.String(), "Scheduling temporary witness recovery for block "+b.first[0].hash.String()+
		" at height 121") {
		t.Error(r.log.String())
	}
	// Only the block with its witnesses is taken.
	short, err := r.Reader().Raw(&b.first[0].hash)
	must(t, err)
	for what, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"without witnesses": {short, "bad-witness-nonce-size"},
		"cut short":         {b.first[0].raw[:100], "bad-block"},
		"not wanted":        {b.second[0].raw, "duplicate"},
		"of no tree":        {genesis(t).on(nil).raw, "duplicate"},
	} {
		if got := answer(t, r.Recover(c.raw)); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	for i := range n {
		wanted := r.wants()
		if wanted == nil || wanted.Hash != b.first[i].hash {
			t.Fatalf("after %d: wanted is %v", i, wanted)
		}
		if got := len(r.copies()); got != i {
			t.Fatalf("%d copies, want %d", got, i)
		}
		wantTip(t, r.Engine, "in between", b.second[secondLong-1])
		must(t, r.Recover(b.first[i].raw))
	}
	if !strings.Contains(r.log.String(), "Replacing pending temporary witness recovery for block") {
		t.Error("no line about the next one")
	}
	for range 2 {
		wantTip(t, r.Engine, "with all witnesses", b.late[len(b.late)-1])
		if r.wants() != nil || len(r.copies()) != 0 {
			t.Errorf("wanted %v, copies %v", r.wants(), r.copies())
		}
		if got, err := r.Reader().Raw(&b.first[0].hash); err != nil || !bytes.Equal(got, short) {
			t.Errorf("the stored block has changed: %v", err)
		}
		r.reopen()
	}
}

// Copies that are damaged are given up, and come again; the block is not blamed, and the chain stays what it was.
func TestDamagedCopies(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"gone":      os.Remove,
		"cut short": func(path string) error { return os.Truncate(path, 90) },
		"other": func(path string) error {
			raw, err := os.ReadFile(path)
			if err == nil {
				raw[len(raw)-300] ^= 1
				err = os.WriteFile(path, raw, 0o600)
			}
			return err
		},
		"endless": func(path string) error { return os.Truncate(path, 1<<30) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBranches(t, -1)
			r := openStripped(t)
			r.leave(b)
			n, hurt := r.stripped(b), false
			for i := 0; r.wants() != nil; i++ {
				wanted := r.wants()
				if i > 2*n {
					t.Fatal("no end")
				}
				at := int(wanted.Height) - branchAt - 1
				if !hurt && at == n-1 {
					hurt = true
					folder := filepath.Join(r.dir, "blocks", blockfile.CopiesFolder)
					must(t, damage(filepath.Join(folder, b.first[4].hash.String()+".dat")))
					must(t, r.Recover(b.first[at].raw))
					wantTip(t, r.Engine, "with a damaged copy", b.second[secondLong-1])
					if w := r.wants(); w == nil || w.Hash != b.first[4].hash || w.Status().Invalid() {
						t.Fatalf("wanted is %v", w)
					}
					continue
				}
				must(t, r.Recover(b.first[at].raw))
			}
			wantTip(t, r.Engine, "at the end", b.late[len(b.late)-1])
			if !strings.Contains(r.log.String(), "Recovered witness block "+b.first[4].hash.String()+" could not be read; "+
				"discarding recovered payload and retrying recovery") {
				t.Error(r.log.String())
			}
		})
	}
}

// A block that breaks a rule with its witnesses is not marked, as the fault may be the copy's. The chain stays.
func TestInvalidCopy(t *testing.T) {
	const bad = 3
	b := newBranches(t, bad)
	r := openStripped(t)
	// The second branch first: so nobody has connected the block.
	for _, list := range [][]*made{b.base, b.second, b.first} {
		for _, m := range list {
			must(t, r.Accept(m.raw))
		}
	}
	more := b.second[secondLong-1].chainOn(20)
	for _, m := range more { // the files grow old
		must(t, r.Accept(m.raw))
	}
	if r.stripped(b) < 10 {
		t.Fatalf("%d blocks were stripped", r.stripped(b))
	}
	late := b.first[firstLong-1].chainOn(30)
	for _, m := range late {
		must(t, r.Accept(m.raw))
	}
	for range 2 * firstLong {
		wanted := r.wants()
		if wanted == nil {
			t.Fatal("nothing is wanted")
		}
		must(t, r.Recover(b.first[int(wanted.Height)-branchAt-1].raw))
		if strings.Contains(r.log.String(), "failed validation") {
			break
		}
	}
	if w := r.wants(); w == nil || w.Hash != b.first[bad].hash || w.Status().Invalid() {
		t.Errorf("wanted is %v", w)
	}
	wantTip(t, r.Engine, "after the bad block", more[len(more)-1])
	if !strings.Contains(r.log.String(), "Recovered witness block "+b.first[bad].hash.String()+" failed validation (") {
		t.Error(r.log.String())
	}
}

// A copy that cannot be written is none, and the node goes on.
func TestCopyNotKept(t *testing.T) {
	b := newBranches(t, -1)
	r := openStripped(t)
	disk := faultfs.New()
	must(t, r.Close())
	r.disk = disk
	r.open()
	r.leave(b)
	disk.Inject(func(op faultfs.Op) error {
		if strings.Contains(op.Path, blockfile.CopiesFolder) {
			return errors.New("no room")
		}
		return nil
	})
	if err := r.Recover(b.first[0].raw); !errors.Is(err, nodemsg.ErrNotKept) {
		t.Fatalf("got %v", err)
	}
	if w := r.wants(); w == nil || w.Hash != b.first[0].hash || len(r.copies()) != 0 {
		t.Errorf("wanted is %v, copies %v", w, r.copies())
	}
	disk.Inject(nil)
	for w := r.wants(); w != nil; w = r.wants() {
		must(t, r.Recover(b.first[int(w.Height)-branchAt-1].raw))
	}
	wantTip(t, r.Engine, "at last", b.late[len(b.late)-1])
}

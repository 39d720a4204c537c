package e2e_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/e2e"
)

// An attachMode is where an attached node may take blocks and filters from.
type attachMode struct {
	name   string
	remote bool // Core is known by its address alone
	rest   bool
	hidden bool // Core's filters lie where a node does not look
}

var attachModes = []attachMode{
	{name: "filters", rest: true},
	{name: "files", hidden: true},
	{name: "rest", remote: true, rest: true},
	{name: "rpc", remote: true},
}

// start starts a Core and an attached node.
func (m attachMode) start(t *testing.T) (*bitcoind, *e2e.Daemon) {
	t.Helper()
	c := prepareBitcoind(t, "fastprune=1", "rest="+map[bool]string{true: "1", false: "0"}[m.rest])
	if m.hidden { // behind a link out of Core's directory, which is not followed
		outside := t.TempDir()
		if err := os.MkdirAll(filepath.Join(c.dir, "regtest"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(c.dir, "regtest", "indexes")); err != nil {
			t.Fatal(err)
		}
	}
	c.start()
	args := []string{"-attach=" + c.dir}
	if m.remote {
		args = []string{"-attach=http://" + c.addr, "-attachcookie=" + c.cookie()}
	}
	for range 12 {
		c.get(nil, "generatetodescriptor", 10, anyScript(rand.New(rand.NewPCG(rand.Uint64(), 1))))
	}
	c.get(nil, "gettxoutsetinfo", "none") // writes them
	return c, e2e.Start(t, e2e.Config{Chain: "regtest", Args: args})
}

// From each source a node has Core's filters and headers, of the blocks of all branches,
// while rival branches of the same shape take turns and both programs are killed.
func TestLiveAttachModes(t *testing.T) {
	t.Parallel()
	rounds, seeds := 12, uint64(1)
	if os.Getenv("TRAWL_SOAK") != "" {
		rounds, seeds = 60, 10
	}
	for i, m := range attachModes {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", m.name, seed), func(t *testing.T) {
				t.Parallel()
				s := &attachStress{t: t, random: rand.New(rand.NewPCG(seed, uint64(i))), seen: map[string]bool{}}
				s.core, s.node = m.start(t)
				s.follow()
				for range rounds {
					s.round()
					s.follow()
				}
				s.core.change("generatetodescriptor", 1, anyScript(s.random)) // its index has to be whole
				wantSame(t, s.core, s.node)
				s.wantStale()
				m.wantSources(t, s.core, s.node)
				t.Logf("%d rounds, %d reorganisations, %d restarts and %d kills of Core, %d kills of the node, %d blocks",
					rounds, s.reorgs, s.restarts, s.kills, s.ownKills, len(s.seen))
			})
		}
	}
}

// wantSources restarts a node without what it has, so that all is taken anew, and looks
// where from.
func (m attachMode) wantSources(t *testing.T, c *bitcoind, d *e2e.Daemon) {
	t.Helper()
	d.Stop()
	if err := os.RemoveAll(d.NetDir); err != nil {
		t.Fatal(err)
	}
	d.Restart()
	wantSame(t, c, d)
	var info struct {
		Sources map[string]struct{ Blocks, Undo, Filters int }
	}
	d.Get(&info, "getattachinfo")
	from := info.Sources
	for source, may := range map[string]bool{"files": !m.remote, "rest": m.rest} {
		if got := from[source]; !may && got.Blocks+got.Undo+got.Filters > 0 {
			t.Errorf("from %s: %+v", source, got)
		}
	}
	files := from["files"]
	switch {
	case m.name == "filters" && files.Filters > 0:
	case m.name == "files" && files.Undo > 0 && files.Filters == 0:
	case m.name == "rest" && from["rest"].Undo > 0 && from["rpc"].Undo == 0:
	case m.name == "rpc" && from["rpc"].Blocks+from["rpc"].Filters > 0: // blocks until REST is known to be off
	default:
		t.Errorf("%+v", from)
	}
	t.Logf("%+v", from)
}

// An attachStress is a random history of a Core and the node beside it.
type attachStress struct {
	t      *testing.T
	random *rand.Rand
	core   *bitcoind
	node   *e2e.Daemon
	seen   map[string]bool // hashes of tips

	reorgs, restarts, kills, ownKills int
}

func (s *attachStress) round() {
	if s.random.IntN(4) == 0 {
		s.core.get(nil, "gettxoutsetinfo", "none") // a kill loses no block before this
	}
	switch n := s.random.IntN(20); {
	case n < 8:
		s.mine(1+s.random.IntN(3), s.random.IntN(4))
	case n < 16:
		s.reorganise()
	case n < 18:
		s.core.stop()
		wantAnswersAlone(s.t, s.node)
		s.core.start()
		s.restarts++
	default:
		s.core.process.Kill()
		s.core.start()
		s.mine(1, 0) // without, Core says that it is still to get the blocks that it has lost
		s.kills++
	}
	if s.random.IntN(12) == 0 {
		s.node.Kill()
		s.node.Restart()
		s.ownKills++
	}
}

// reorganise makes a branch, and a rival of the same shape; the first may come back.
func (s *attachStress) reorganise() {
	depth, shape := 1+s.random.IntN(6), s.random.IntN(4)
	s.mine(depth, shape)
	if s.random.IntN(2) == 0 {
		s.follow()
	}
	var height int
	var first string
	s.core.get(&height, "getblockcount")
	s.core.get(&first, "getblockhash", max(1, height-depth+1))
	s.core.change("invalidateblock", first)
	s.mine(depth+s.random.IntN(2), shape)
	if s.random.IntN(5) < 2 {
		_ = s.core.Call(s.t.Context(), nil, "reconsiderblock", first) // a kill may have taken it away
	}
	s.reorgs++
}

// mine makes blocks, each with a number of transactions that spend a coinbase each.
func (s *attachStress) mine(n, txs int) {
	for range n {
		raws := []string{}
		used := map[int]bool{}
		for range txs {
			if raw, ok := s.spend(used); ok {
				raws = append(raws, raw)
			}
		}
		s.core.change("generateblock", anyScript(s.random), raws)
		var best string
		s.core.get(&best, "getbestblockhash")
		s.seen[best] = true
	}
}

// spend returns a transaction that spends an old coinbase, which it looks for some times.
func (s *attachStress) spend(used map[int]bool) (raw string, ok bool) {
	var height int
	s.core.get(&height, "getblockcount")
	for range 5 {
		at := 1 + s.random.IntN(max(1, height-101))
		var hash string
		var block struct{ Tx []string }
		var coin *struct {
			Confirmations int
			Value         float64
		}
		s.core.get(&hash, "getblockhash", at)
		s.core.get(&block, "getblock", hash)
		s.core.get(&coin, "gettxout", block.Tx[0], 0, false)
		if coin == nil || coin.Confirmations < 101 || coin.Value < 1 || used[at] {
			continue
		}
		used[at] = true
		id, err := chainhash.NewHashFromStr(block.Tx[0])
		if err != nil {
			s.t.Fatal(err)
		}
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(id, 0), nil, nil))
		for range 1 + s.random.IntN(3) {
			tx.AddTxOut(wire.NewTxOut(1e7, s.bytes(22, 0)))
		}
		if s.random.IntN(2) == 0 {
			tx.AddTxOut(wire.NewTxOut(1e3, s.bytes(4000, 0x51))) // files are soon full
		}
		var serialized bytes.Buffer
		if err := tx.Serialize(&serialized); err != nil {
			s.t.Fatal(err)
		}
		return hex.EncodeToString(serialized.Bytes()), true
	}
	return "", false
}

// bytes returns a script of random bytes after the first.
func (s *attachStress) bytes(n int, first byte) []byte {
	script := make([]byte, n)
	for i := range script {
		script[i] = byte(s.random.Uint32())
	}
	script[0] = first
	if first == 0 {
		script[1] = 20
	}
	return script
}

// follow waits until the node has Core's tip and its filter.
func (s *attachStress) follow() {
	s.t.Helper()
	var best string
	var height int32
	s.core.get(&best, "getbestblockhash")
	s.core.get(&height, "getblockcount")
	s.node.WaitTip(best, height, true)
	var ours, theirs attachedFilter
	e2e.Eventually(s.t, time.Minute, "Core's filter", func() bool {
		return s.core.Call(s.t.Context(), &theirs, "getblockfilter", best) == nil
	})
	if s.node.Get(&ours, "getblockfilter", best); ours != theirs {
		s.t.Fatalf("block %s: the filter is %v, Core's %v", best, ours, theirs)
	}
}

// wantStale holds what the node has of blocks on any branch against Core's.
func (s *attachStress) wantStale() {
	s.t.Helper()
	for hash := range s.seen {
		var ours, theirs attachedFilter
		if s.core.Call(s.t.Context(), &theirs, "getblockfilter", hash) != nil {
			continue // lost by a kill
		}
		if s.node.Call(s.t.Context(), &ours, "getblockfilter", hash) == nil && ours != theirs {
			s.t.Errorf("block %s: the filter is %v, Core's %v", hash, ours, theirs)
		}
	}
}

// anyScript returns a descriptor of outputs that anyone may spend, another each time.
func anyScript(random *rand.Rand) string { return fmt.Sprintf("raw(04%08x7551)", random.Uint32()) }

// change calls what moves the chain. Core may end over it by itself: while its filter
// index is behind, taking a block back can break that.
func (c *bitcoind) change(method string, params ...any) {
	c.t.Helper()
	err := c.Call(c.t.Context(), nil, method, params...)
	if err == nil {
		return
	}
	deadline := time.Now().Add(5 * time.Second)
	for !c.process.HasEnded() && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	if !c.process.HasEnded() {
		c.t.Fatalf("bitcoind: %s%v: %v", method, params, err)
	}
	c.t.Logf("bitcoind has ended over %s", method)
	c.start()
}

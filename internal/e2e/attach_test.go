package e2e_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// A bitcoind is a Bitcoin Core that a node is attached to.
type bitcoind struct {
	*jsonrpc.Client

	t       *testing.T
	dir     string
	addr    string
	process *e2e.Process
}

func startBitcoind(t *testing.T, options ...string) *bitcoind {
	t.Helper()
	c := prepareBitcoind(t, options...)
	c.start()
	return c
}

// prepareBitcoind makes a data directory with a configuration for start.
func prepareBitcoind(t *testing.T, options ...string) *bitcoind {
	t.Helper()
	if os.Getenv("BITCOIND") == "" {
		t.Skip("BITCOIND is not set")
	}
	c := &bitcoind{t: t, dir: t.TempDir(), addr: e2e.FreeAddr(t)}
	_, port, _ := strings.Cut(c.addr, ":")
	lines := slices.Concat([]string{"regtest=1", "blockfilterindex=1", "[regtest]"}, options, []string{
		"listen=0", "rpcport=" + port, // the first of each counts
	})
	text := strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(c.dir, "bitcoin.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.process != nil {
			c.process.Kill()
		}
	})
	return c
}

// start starts it and waits for its answers. A kill may have left its index so that it
// has to be rebuilt.
func (c *bitcoind) start() {
	c.t.Helper()
	cookie := c.cookie()
	_ = os.Remove(cookie)
	if c.run(cookie); c.process.HasEnded() {
		if err := os.RemoveAll(filepath.Join(c.dir, "regtest", "indexes", "blockfilter")); err != nil {
			c.t.Fatal(err)
		}
		c.run(cookie)
	}
	if c.process.HasEnded() {
		c.t.Fatalf("bitcoind does not start: %s", c.process.Stderr())
	}
}

func (c *bitcoind) run(cookie string) {
	c.t.Helper()
	c.process = e2e.Run(c.t, os.Getenv("BITCOIND"), "-datadir="+c.dir, "-printtoconsole=0")
	e2e.Eventually(c.t, time.Minute, "bitcoind answers", func() bool {
		login, err := os.ReadFile(cookie)
		if err != nil {
			return c.process.HasEnded()
		}
		c.Client = jsonrpc.New(c.addr, string(login))
		return c.Call(c.t.Context(), nil, "getblockcount") == nil || c.process.HasEnded()
	})
}

func (c *bitcoind) cookie() string { return filepath.Join(c.dir, "regtest", ".cookie") }

func (c *bitcoind) stop() {
	c.t.Helper()
	c.process.Signal(syscall.SIGTERM)
	c.process.Wait(c.t)
}

func (c *bitcoind) get(result any, method string, params ...any) {
	c.t.Helper()
	if err := c.Call(c.t.Context(), result, method, params...); err != nil {
		c.t.Fatalf("bitcoind: %s%v: %v", method, params, err)
	}
}

// mine makes blocks that pay to different scripts, so that branches are different.
func (c *bitcoind) mine(random *rand.Rand, n int) {
	c.t.Helper()
	for range n {
		var info struct{ Descriptor string }
		c.get(&info, "getdescriptorinfo", "raw(51"+strconv.FormatInt(int64(100+random.IntN(800)), 10)+"0)")
		c.get(nil, "generatetodescriptor", 1, info.Descriptor)
	}
}

type attachedFilter struct{ Filter, Header string }

// wantSame waits for Core's tip, and compares the filters of all blocks, whose headers
// depend on all before.
func wantSame(t *testing.T, c *bitcoind, d *e2e.Daemon) {
	t.Helper()
	var best string
	c.get(&best, "getbestblockhash")
	var height int
	c.get(&height, "getblockcount")
	d.WaitTip(best, int32(height), true)
	for h := range height + 1 {
		var hash string
		var ours, theirs attachedFilter
		c.get(&hash, "getblockhash", h)
		e2e.Eventually(t, time.Minute, "Core's filter", func() bool {
			return c.Call(t.Context(), &theirs, "getblockfilter", hash) == nil
		})
		d.Get(&ours, "getblockfilter", hash)
		if ours != theirs {
			t.Fatalf("block %d, %s: the filter is %v, Core's %v", h, hash, ours, theirs)
		}
	}
}

// A node beside a Core has its chain and its filters whatever happens to Core: blocks,
// reorganisations, restarts, kills. While Core is away it answers from its own data. It
// never changes Core's files.
func TestLiveAttach(t *testing.T) {
	t.Parallel()
	random, rounds := rand.New(rand.NewPCG(1, 2)), 8
	if os.Getenv("TRAWL_SOAK") != "" {
		random, rounds = rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 3)), 200
	}
	c := startBitcoind(t, "rest=1")
	c.mine(random, 20)
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-attach=" + c.dir}})
	wantSame(t, c, d)
	for range rounds {
		switch random.IntN(5) {
		case 0, 1:
			c.mine(random, 1+random.IntN(4))
		case 2:
			reorganise(c, random)
		case 3:
			c.stop()
			c.start()
			c.mine(random, 1)
		case 4:
			c.process.Kill()
			c.start()
			c.mine(random, 1)
		}
		if random.IntN(4) == 0 {
			d.Kill()
			d.Restart()
		}
		wantSame(t, c, d)
	}
	secret, err := os.ReadFile(c.cookie())
	if err != nil {
		t.Fatal(err)
	}
	c.stop()
	before := tree(t, c.dir)
	wantAnswersAlone(t, d)
	d.Stop()
	d.Restart()
	wantAnswersAlone(t, d)
	for path, was := range before {
		if now := tree(t, c.dir)[path]; now != was {
			t.Errorf("%s was changed: %s, was %s", path, now, was)
		}
	}
	if now := tree(t, c.dir); len(now) != len(before) {
		t.Errorf("Core's directory has %d files, had %d", len(now), len(before))
	}
	if strings.Contains(d.Log(), string(secret)) {
		t.Error("the log holds Core's cookie")
	}
	c.start()
	c.mine(random, 2)
	wantSame(t, c, d)
}

// reorganise replaces some blocks by more others.
func reorganise(c *bitcoind, random *rand.Rand) {
	c.t.Helper()
	var height int
	c.get(&height, "getblockcount")
	depth := 1 + random.IntN(min(height, 8))
	var hash string
	c.get(&hash, "getblockhash", height-depth+1)
	c.get(nil, "invalidateblock", hash)
	c.mine(random, random.IntN(depth+2))
	if random.IntN(2) == 0 {
		c.get(nil, "reconsiderblock", hash)
	}
}

// wantAnswersAlone wants a scan and a state of a node whose Core is away, and an error
// for what only that can answer.
func wantAnswersAlone(t *testing.T, d *e2e.Daemon) {
	t.Helper()
	var tip int32
	d.Get(&tip, "getblockcount")
	var scan struct {
		To        int32    `json:"to_height"`
		Completed bool     `json:"completed"`
		Relevant  []string `json:"relevant_blocks"`
	}
	e2e.Eventually(t, time.Minute, "the index is read", func() bool {
		return d.Call(t.Context(), &scan, "scanblocks", "start", []string{"raw(51)"}) == nil && scan.To == tip
	})
	if !scan.Completed {
		t.Errorf("scanned to %d of %d, completed: %v", scan.To, tip, scan.Completed)
	}
	if err := d.Call(t.Context(), nil, "getmempoolinfo"); !jsonrpc.IsError(err, -9) {
		t.Errorf("getmempoolinfo: %v", err)
	}
	e2e.Eventually(t, time.Minute, "the state is away", func() bool {
		var info struct{ State string }
		d.Get(&info, "getattachinfo")
		return info.State == "away"
	})
}

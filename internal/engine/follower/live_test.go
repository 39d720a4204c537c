package follower_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/engine/follower"
	"github.com/seed61375155/trawl/messages"
)

// A liveCore is a bitcoind of the test's own.
type liveCore struct {
	*corenode.Client
	t    *testing.T
	dir  string
	args []string
	cmd  *exec.Cmd
	end  chan struct{} // closed when it has ended
}

// startLive starts the bitcoind that BITCOIND names.
func startLive(t *testing.T, args ...string) *liveCore {
	t.Helper()
	if os.Getenv("BITCOIND") == "" {
		t.Skip("BITCOIND names no bitcoind")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of TCP
	_ = listener.Close()
	core := &liveCore{t: t, dir: t.TempDir(), args: args}
	config := "regtest=1\n[regtest]\nlisten=0\nrpcport=" + strconv.Itoa(port) + "\n"
	if err := os.WriteFile(filepath.Join(core.dir, "bitcoin.conf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	configured, err := corenode.ReadConfig(core.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	core.Client, err = corenode.New(corenode.Config{Address: configured.Address, Cookie: configured.Cookie})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(core.Close)
	t.Cleanup(core.kill)
	core.start()
	return core
}

// start starts it and waits until it answers. After a kill its filter index may be such
// that it does not start any more until that is gone.
func (l *liveCore) start() {
	l.t.Helper()
	l.run()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, err := l.BestBlock(l.t.Context())
		if err == nil {
			return
		}
		if !errors.Is(err, corenode.ErrAway) || time.Now().After(end) {
			l.t.Fatal(err)
		}
		select {
		case <-l.end:
			l.t.Log("Core does not start with its filter index")
			if err := os.RemoveAll(filepath.Join(l.dir, "regtest", "indexes")); err != nil {
				l.t.Fatal(err)
			}
			l.run()
		default:
		}
	}
}

func (l *liveCore) run() {
	l.t.Helper()
	l.cmd = exec.Command(os.Getenv("BITCOIND"), append(l.args, "-datadir="+l.dir)...) //nolint:noctx // killed
	if err := l.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.end = make(chan struct{})
	go func(cmd *exec.Cmd, end chan struct{}) {
		_ = cmd.Wait()
		close(end)
	}(l.cmd, l.end)
}

func (l *liveCore) kill() {
	if l.cmd != nil {
		_ = l.cmd.Process.Kill()
		<-l.end
	}
}

func (l *liveCore) call(to any, method string, params ...any) {
	l.t.Helper()
	if err := l.Call(l.t.Context(), to, method, params...); err != nil {
		l.t.Fatalf("%s %v: %v", method, params, err)
	}
}

// change is call for what changes the chain, over which Core may end by itself: while its
// filter index is behind, taking a block back can break it.
func (l *liveCore) change(method string, params ...any) {
	l.t.Helper()
	err := l.Call(l.t.Context(), nil, method, params...)
	if !errors.Is(err, corenode.ErrAway) {
		if err != nil {
			l.t.Fatalf("%s %v: %v", method, params, err)
		}
		return
	}
	select {
	case <-l.end:
		l.t.Logf("Core has ended over %s", method)
		l.start()
	case <-time.After(time.Minute):
		l.t.Fatalf("%s %v: %v", method, params, err)
	}
}

// Beside a Core whose chain is turned over at random and that is killed, each filter of
// the followed chain is Core's.
func TestLiveFollow(t *testing.T) {
	rounds, seeds := 25, uint64(1)
	if os.Getenv("TRAWL_SOAK") != "" {
		rounds, seeds = 120, 10
	}
	for _, mode := range []string{"rest", "rpc", "files"} {
		for seed := range seeds {
			t.Run(mode+strconv.FormatUint(seed, 10), func(t *testing.T) {
				rest := map[string]string{"rest": "1", "rpc": "0", "files": "1"}[mode]
				core := startLive(t, "-blockfilterindex=1", "-rest="+rest, "-fastprune")
				cfg := follower.Config{
					Network: regtest(t), Core: core.Client, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
				}
				if mode == "files" {
					cfg.Blocks = filepath.Join(core.dir, "regtest", "blocks")
					cfg.Filters = filepath.Join(core.dir, "regtest")
				}
				liveRun(t, core, cfg, rand.New(rand.NewPCG(seed, 1)), rounds)
			})
		}
	}
}

func liveRun(t *testing.T, core *liveCore, cfg follower.Config, r *rand.Rand, rounds int) {
	t.Helper()
	e := open(t, cfg)
	core.change("generatetodescriptor", 110, anyone(r))
	var invalid []string
	for range rounds {
		switch n := r.IntN(12); {
		case n < 4:
			core.change("generatetodescriptor", 1+r.IntN(20), anyone(r))
		case n < 7:
			core.spend(r)
		case n < 8:
			var height int
			core.call(&height, "getblockcount")
			if height < 2 {
				continue
			}
			var hash string
			core.call(&hash, "getblockhash", max(1, height-r.IntN(8)))
			core.change("invalidateblock", hash)
			invalid = append(invalid, hash)
		case n < 9:
			if len(invalid) > 0 {
				again := invalid[r.IntN(len(invalid))]
				_ = core.Call(t.Context(), nil, "reconsiderblock", again) // it may be lost by a kill
			}
		case n < 10:
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = open(t, cfg)
		default:
			if r.IntN(2) == 0 {
				if r.IntN(2) == 0 {
					core.call(nil, "stop")
					<-core.end
				}
				core.kill() // what it did not write is gone
				if err := e.Follow(t.Context()); !errors.Is(err, messages.ErrNodeAway) {
					t.Fatalf("Core was killed: %v", err)
				}
				core.start()
			}
		}
		follow(t, e)
	}
	core.change("generatetodescriptor", 1, anyone(r)) // nothing to wait for any more
	follow(t, e)
	compareLive(t, core, e)
}

// anyone returns a descriptor of outputs that anyone may spend, another each time: else
// the same block would be made again.
func anyone(r *rand.Rand) string { return fmt.Sprintf("raw(04%08x7551)", r.Uint32()) }

// spend makes a block with a transaction that spends up to five old coinbases.
func (l *liveCore) spend(r *rand.Rand) {
	l.t.Helper()
	var height int
	if l.call(&height, "getblockcount"); height <= 100 {
		l.change("generatetodescriptor", 101, anyone(r))
		return
	}
	tx := wire.NewMsgTx(2)
	for range 5 {
		var hash string
		var block struct{ Tx []string }
		l.call(&hash, "getblockhash", 1+r.IntN(height-100))
		l.call(&block, "getblock", hash)
		id, err := chainhash.NewHashFromStr(block.Tx[0])
		if err != nil {
			l.t.Fatal(err)
		}
		var unspent *struct{ Confirmations int }
		l.call(&unspent, "gettxout", block.Tx[0], 0, false)
		out := wire.NewOutPoint(id, 0)
		known := slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool { return in.PreviousOutPoint == *out })
		if unspent != nil && unspent.Confirmations > 100 && !known {
			tx.AddTxIn(wire.NewTxIn(out, nil, nil))
		}
	}
	if len(tx.TxIn) == 0 {
		return
	}
	tx.AddTxOut(wire.NewTxOut(1e8, []byte{0x04, byte(r.Uint32()), byte(r.Uint32()), 3, 4, 0x75, 0x51}))
	tx.AddTxOut(wire.NewTxOut(0, bytes.Repeat([]byte{byte(r.Uint32())}, 9000))) // files are soon full
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		l.t.Fatal(err)
	}
	l.change("generateblock", anyone(r), []string{hex.EncodeToString(raw.Bytes())})
}

// compareLive holds the whole chain against Core's.
func compareLive(t *testing.T, core *liveCore, e *follower.Engine) {
	t.Helper()
	var tip corenode.Hash
	core.call(&tip, "getbestblockhash")
	reader := e.Reader()
	active := reader.Active()
	if active.Tip().Hash != chainhash.Hash(tip) {
		t.Fatalf("tip %v, want %v", active.Tip().Hash, chainhash.Hash(tip))
	}
	var builder filters.Builder
	for h := range active.Height() + 1 {
		hash := active.At(h).Hash
		raw, err := reader.Raw(&hash)
		if err != nil {
			t.Fatal(err)
		}
		spent, err := reader.SpentScripts(&hash)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := builder.BuildBlock(&hash, raw, 80, spent)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := hex.EncodeToString(filter), core.filterOf(hash); got != want {
			t.Fatalf("filter of block %v at height %d: %s, want %s", hash, h, got, want)
		}
	}
	t.Logf("%d filters are Core's: %+v", active.Height()+1, e.State().Sources)
}

// filterOf returns Core's filter, whose index may be a moment behind.
func (l *liveCore) filterOf(hash chainhash.Hash) string {
	l.t.Helper()
	var answer struct{ Filter string }
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := l.Call(l.t.Context(), &answer, "getblockfilter", hash.String())
		if err == nil {
			return answer.Filter
		}
		if time.Now().After(end) {
			l.t.Fatal(err)
		}
	}
}

package chainstate_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
	"github.com/seed61375155/trawl/store/coinfile"
)

var trueScript = []byte{0x51}

// open opens an engine in dir.
func open(tb testing.TB, dir string, net *dialect.Network) *bitcoin.Engine {
	tb.Helper()
	return openWith(tb, dir, net, func(*bitcoin.Config) {})
}

// openWith opens an engine in dir after a change of its configuration.
func openWith(tb testing.TB, dir string, net *dialect.Network, change func(*bitcoin.Config)) *bitcoin.Engine {
	tb.Helper()
	db, err := chaindb.Open(chaindb.Options{
		Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"),
		Magic: net.Magic, XOR: true, FastPrune: true, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	cfg := bitcoin.Config{
		Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Log: slog.New(slog.DiscardHandler),
		Mark: markIn(dir),
	}
	change(&cfg)
	e, err := bitcoin.Open(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func markIn(dir string) coinfile.Mark {
	return coinfile.Mark{FS: vfs.OS, Dir: filepath.Join(dir, "chainstate_snapshot")}
}

func network(tb testing.TB, chain string) *dialect.Network {
	tb.Helper()
	n, err := dialect.Bitcoin(chain)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// mine extends the active chain by n blocks and returns their hashes.
func mine(tb testing.TB, e *bitcoin.Engine, script []byte, n int) []chainhash.Hash {
	tb.Helper()
	var hashes []chainhash.Hash
	for range n {
		tries := uint64(1 << 20)
		raw, err := e.Mine(context.Background(), script, nil, 0, &tries)
		if err != nil || raw == nil {
			tb.Fatalf("mine: %v, %d bytes", err, len(raw))
		}
		if err := e.Accept(raw); err != nil {
			tb.Fatal(err)
		}
		hashes = append(hashes, e.Reader().Active().Tip().Hash)
	}
	return hashes
}

func TestMineReopenInvalidate(t *testing.T) {
	dir, net := t.TempDir(), network(t, "regtest")
	e := open(t, dir, net)
	a := mine(t, e, trueScript, 150)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	e = open(t, dir, network(t, "regtest"))
	defer func() { _ = e.Close() }()
	if tip := e.Reader().Active().Tip(); tip.Hash != a[149] || tip.Height != 150 {
		t.Fatalf("reopened at height %d", tip.Height)
	}

	if err := e.Invalidate(&a[99]); err != nil {
		t.Fatal(err)
	}
	r := e.Reader()
	if got := r.Active().Height(); got != 99 {
		t.Errorf("after invalidation at height %d, want 99", got)
	}
	if s := r.Lookup(&a[149]).Status(); s&chainview.FailedAncestor == 0 {
		t.Errorf("descendant has status %b", s)
	}
	// A block that left the chain stays readable, with its spent outputs.
	if _, err := r.Raw(&a[149]); err != nil {
		t.Error(err)
	}
	if _, err := r.SpentScripts(&a[149]); err != nil {
		t.Error(err)
	}
	mine(t, e, []byte{0x52}, 5)
	if err := e.Reconsider(&a[120]); err != nil {
		t.Fatal(err)
	}
	if tip := r.Active().Tip(); tip.Hash != a[149] {
		t.Errorf("reconsidered: tip at height %d", tip.Height)
	}
	if err := e.Invalidate(&chainhash.Hash{1}); !errors.Is(err, messages.ErrBlockNotFound) {
		t.Errorf("unknown block: %v", err)
	}
}

// Reconsidering one block reconsiders all that come before it and after it,
// each of which may have been invalidated for itself.
func TestReconsiderAll(t *testing.T) {
	for _, test := range []struct {
		invalidate []int
		reconsider int
		want       int32
	}{
		{[]int{9, 8}, 9, 10},
		{[]int{9, 8}, 8, 10},
		{[]int{9, 7, 4}, 5, 10},
		{[]int{9, 7, 4}, 9, 10},
		{[]int{9, 5}, 2, 10},
		{[]int{9}, 9, 10},
	} {
		e := open(t, t.TempDir(), network(t, "regtest"))
		blocks := mine(t, e, trueScript, 10)
		for _, i := range test.invalidate {
			if err := e.Invalidate(&blocks[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Reconsider(&blocks[test.reconsider]); err != nil {
			t.Fatal(err)
		}
		if got := e.Reader().Active().Height(); got != test.want {
			t.Errorf("%+v: at height %d", test, got)
		}
		_ = e.Close()
	}
}

// Refused blocks are refused for the reason that Core gives.
func TestRejectReasons(t *testing.T) {
	e := open(t, t.TempDir(), network(t, "regtest"))
	defer func() { _ = e.Close() }()
	mine(t, e, trueScript, 3)
	tries := uint64(1 << 20)
	good, err := e.Mine(t.Context(), trueScript, nil, 0, &tries)
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func([]byte)) []byte {
		b := bytes.Clone(good)
		f(b)
		return b
	}
	for _, test := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"unknown parent", solved(t, change(func(b []byte) { b[4] ^= 1 })), "prev-blk-not-found"},
		{"unknown parent and no work", unsolved(change(func(b []byte) { b[4] ^= 1 })), "high-hash"},
		{"no work", unsolved(good), "high-hash"},
		{"wrong merkle root", solved(t, change(func(b []byte) { b[36] ^= 1 })), "bad-txnmrklroot"},
		{"too old", solved(t, change(func(b []byte) { copy(b[68:], make([]byte, 4)) })), "time-too-old"},
		{"too new", solved(t, change(func(b []byte) { b[71] = 0xff })), "time-too-new"},
		{"version", solved(t, change(func(b []byte) { copy(b[:4], []byte{1, 0, 0, 0}) })), "bad-version(0x00000001)"},
		{"bits", solved(t, change(func(b []byte) { b[72] = 0xfe })), "bad-diffbits"},
		{"trailing byte", append(bytes.Clone(good), 0), "bad-block"},
		{"good", good, ""},
		{"again", good, "duplicate"},
	} {
		err := e.Accept(test.raw)
		var reject *messages.RejectError
		got := ""
		if errors.As(err, &reject) {
			got = reject.Reason
		} else if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q (%v)", test.name, got, test.want, err)
		}
	}
}

// highest returns the highest byte of a header's hash. Below 0x7f it has regtest's work, from 0x80 on it has not.
func highest(raw []byte) byte {
	hash := chainhash.DoubleHashH(raw[:80])
	return hash[31]
}

func meets(raw []byte) bool { return highest(raw) < 0x7f }

func solved(tb testing.TB, raw []byte) []byte {
	tb.Helper()
	for n := range 256 {
		if raw[76] = byte(n); meets(raw) {
			return raw
		}
	}
	tb.Fatal("no nonce")
	return nil
}

func unsolved(raw []byte) []byte {
	raw = bytes.Clone(raw)
	for highest(raw) < 0x80 {
		raw[76]++
	}
	return raw
}

// The generated chain and its branch come in whole, reorganise, and end where
// Core's do.
func TestRegtestChain(t *testing.T) {
	e := open(t, t.TempDir(), network(t, "regtest"))
	defer func() { _ = e.Close() }()
	for _, step := range []struct{ file, tip string }{
		{"chain.blk.gz", "139127cbc18a93b9944df362e9159b093a2c90696e6695150316b3ba83d8ae48"},
		{"branch.blk.gz", "442ad4a94627d848dd4612c1c94bca4e2a55e05790c990046a71487b33a6773b"},
	} {
		for _, raw := range blocks(t, filepath.Join("../../e2e/testdata/golden/regtest-chain", step.file), network(t, "regtest").Magic) {
			err := e.Accept(raw)
			var reject *messages.RejectError
			if errors.As(err, &reject) && reject.Reason == "duplicate" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := e.Reader().Active().Tip().Hash.String(); got != step.tip {
			t.Errorf("%s: tip %s", step.file, got)
		}
	}
}

// blocks reads a compressed block file.
func blocks(tb testing.TB, path string, magic [4]byte) [][]byte {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	var out [][]byte
	s := blockfile.NewScanner(bytes.NewReader(all), int64(len(all)), magic, blockfile.Key{}, blockfile.MaxBlockSize)
	for {
		rec, err := s.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, rec.Block)
	}
}

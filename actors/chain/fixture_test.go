package chain_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

var trueScript = []byte{0x51}

// many is more tries than a block of regtest ever takes.
const many = 1 << 20

// hooked is the real engine. Before each of its methods runs, hook is told the
// method's name; it may wait, panic or fail in its place.
type hooked struct {
	*bitcoin.Engine
	db   *blockfile.Files
	hook func(method string) error
	file engine.Snapshot // that LoadSnapshot returns; nil: what the real one does
}

func (e *hooked) LoadSnapshot(q messages.LoadSnapshot) (engine.Snapshot, error) {
	if err := e.hook("LoadSnapshot"); err != nil {
		return nil, err
	}
	if e.file != nil {
		return e.file, nil
	}
	return e.Engine.LoadSnapshot(q)
}

func (e *hooked) Accept(raw []byte) error {
	if err := e.hook("Accept"); err != nil {
		return err
	}
	return e.Engine.Accept(raw)
}

func (e *hooked) Prepare(raw []byte) func() error {
	if err := e.hook("Prepare"); err != nil {
		panic(err)
	}
	accept := e.Engine.Prepare(raw)
	return func() error {
		if err := e.hook("Accept"); err != nil {
			return err
		}
		return accept()
	}
}

func (e *hooked) Mine(
	ctx context.Context, script []byte, txs [][]byte, fees btcutil.Amount, tries *uint64,
) ([]byte, error) {
	if err := e.hook("Mine"); err != nil {
		return nil, err
	}
	return e.Engine.Mine(ctx, script, txs, fees, tries)
}

func (e *hooked) Reader() chainview.Reader {
	if err := e.hook("Reader"); err != nil {
		panic(err)
	}
	return e.Engine.Reader()
}

// Behind implements engine.Engine: with an error of the hook nothing is done in the background.
func (e *hooked) Behind() bool { return e.hook("Behind") == nil && e.Engine.Behind() }

func (e *hooked) Sync() error {
	if err := e.hook("Sync"); err != nil {
		return err
	}
	return e.Engine.Sync()
}

// Stored implements engine.Engine.
func (e *hooked) Stored() *engine.Stored {
	blocks, done := e.Unread()
	if blocks == nil {
		return nil
	}
	return &engine.Stored{
		Blocks: blocks,
		Read: func(file int, offset int64, size int) ([]byte, error) {
			return e.db.ReadRecord(file, offset, size, 0)
		},
		Done: done, Size: 1,
	}
}

// fixture is a chain actor over the real engine.
type fixture struct {
	*ask.Ref
	sys     *actortest.System
	current *chainview.Current
	tip     *ask.Feed[messages.TipChanged]
	dir     string
	cfg     chain.Config

	mu     sync.Mutex
	hook   func(method string) error
	failed []error
	opened int
	engine *bitcoin.Engine // that was opened last
	file   engine.Snapshot // for the next that is opened
}

// spawn starts the actor over an engine in a new folder, to read files.
func spawn(tb testing.TB, files ...string) *fixture {
	tb.Helper()
	return spawnIn(tb, tb.TempDir(), func(string) error { return nil }, files...)
}

// spawnWith is spawn with another configuration.
func spawnWith(tb testing.TB, change func(*chain.Config), files ...string) *fixture {
	tb.Helper()
	return spawnChanged(tb, tb.TempDir(), func(string) error { return nil }, change, files...)
}

// spawnIn starts the actor over an engine in dir. hook is also told of "Open".
func spawnIn(tb testing.TB, dir string, hook func(method string) error, files ...string) *fixture {
	tb.Helper()
	return spawnChanged(tb, dir, hook, func(*chain.Config) {}, files...)
}

// spawnFile starts the actor over an engine that has a snapshot loaded.
func spawnFile(tb testing.TB, file engine.Snapshot) *fixture {
	tb.Helper()
	f := spawn(tb)
	if err := f.Stop(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	f.file = file
	f.Ref = f.sys.Spawn("chain again", chain.New(f.cfg), chain.Requests...)
	do(tb, f, messages.WaitOpen{})
	return f
}

func spawnChanged(
	tb testing.TB, dir string, hook func(method string) error, change func(*chain.Config), files ...string,
) *fixture {
	tb.Helper()
	f := &fixture{
		sys: actortest.New(tb), current: new(chainview.Current), tip: new(ask.Feed[messages.TipChanged]), dir: dir,
		hook: hook,
	}
	net := enginetest.Regtest(tb)
	cfg := chain.Config{
		Open:    f.open,
		Network: net,
		Current: f.current, Tip: f.tip, Log: f.sys.Log, Files: files,
		OnFailed: func(err error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.failed = append(f.failed, err)
		},
	}
	change(&cfg)
	f.cfg = cfg
	f.Ref = f.sys.Spawn("chain", chain.New(cfg), chain.Requests...)
	return f
}

func (f *fixture) open(context.Context) (engine.Engine, error) {
	f.mu.Lock()
	f.opened++
	f.mu.Unlock()
	if err := f.run("Open"); err != nil {
		return nil, err
	}
	e, err := enginetest.Open(f.dir)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.engine = e
	f.mu.Unlock()
	net, blocks := [4]byte{0xfa, 0xbf, 0xb5, 0xda}, filepath.Join(f.dir, "blocks")
	key, err := blockfile.LoadKey(vfs.OS, blocks)
	return &hooked{e, blockfile.NewFiles(vfs.OS, blocks, blockfile.Blocks, net, key), f.run, f.file}, err
}

func (f *fixture) run(method string) error {
	f.mu.Lock()
	hook := f.hook
	f.mu.Unlock()
	return hook(method)
}

// onCall replaces the hook.
func (f *fixture) onCall(hook func(method string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = hook
}

func (f *fixture) failures() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// do asks the actor, which must not fail.
func do[Q messages.Request[R], R any](tb testing.TB, f *fixture, q Q) R {
	tb.Helper()
	got, err := ask.Ask(tb.Context(), f.Ref, q)
	if err != nil {
		tb.Fatalf("%T: %v", q, err)
	}
	return got
}

func (f *fixture) generate(tb testing.TB, n int) messages.Tip {
	tb.Helper()
	do(tb, f, messages.Generate{Script: trueScript, Count: n, Tries: many})
	return do(tb, f, messages.GetTip{})
}

// once returns a hook that does something the first time that a method is
// called.
func once(method string, then func() error) func(string) error {
	var first sync.Once
	return func(called string) (err error) {
		if called == method {
			first.Do(func() { err = then() })
		}
		return err
	}
}

// blockFile writes blocks to a file as Core does, each between padding of so
// many zeros.
func blockFile(tb testing.TB, padding int, blocks ...[]byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "blocks.dat")
	if err := os.WriteFile(path, records(tb, padding, blocks...), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func records(tb testing.TB, padding int, blocks ...[]byte) []byte {
	tb.Helper()
	magic := enginetest.Regtest(tb).Magic
	var file bytes.Buffer
	for _, raw := range blocks {
		file.Write(make([]byte, padding))
		file.Write(magic[:])
		file.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(raw))))
		file.Write(raw)
	}
	file.Write(make([]byte, padding))
	return file.Bytes()
}

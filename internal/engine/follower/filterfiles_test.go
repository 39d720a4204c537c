package follower_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/engine/follower"
)

// writeFilters makes the files of Core's filter index, with a filter of each block up to
// the tip and of others; change makes another record of one.
func (f *fakeCore) writeFilters(t *testing.T, change func(b *chainview.Block, record []byte) []byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var content []byte
	for height := range f.tip.Height + 1 {
		b := f.tip.Ancestor(height)
		filter := f.filter(b)
		record := append(b.Hash[:], 0xfd)
		record = append(binary.LittleEndian.AppendUint16(record, uint16(len(filter))), filter...)
		if change != nil {
			record = change(b, record)
		}
		content = append(content, record...)
	}
	folder := filepath.Join(dir, "indexes", "blockfilter", "basic")
	err := errors.Join(
		os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "fltr00000.dat"), content, 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// readFilters returns how many filters of the active chain are Core's, which must be right.
func (f *fakeCore) readFilters(t *testing.T, e *follower.Engine) (taken int) {
	t.Helper()
	reader := e.Reader().(chainview.FilterReader)
	for height := range f.tip.Height + 1 {
		b := f.tip.Ancestor(height)
		filter, ok, err := reader.Filter(&b.Hash)
		if err != nil || ok && !bytes.Equal(filter, f.filter(b)) {
			t.Fatalf("filter of block %d: %x, %v", height, filter, err)
		}
		if ok {
			taken++
		}
	}
	return taken
}

// Filters of Core's files are taken where its filter headers tell of them, and no others.
func TestFiltersOfFiles(t *testing.T) {
	t.Parallel()
	const blocks = 2200
	of := func(height int32, change func([]byte) []byte) func(*chainview.Block, []byte) []byte {
		return func(b *chainview.Block, record []byte) []byte {
			if b.Height != height {
				return record
			}
			return change(record)
		}
	}
	for name, c := range map[string]struct {
		change func(*chainview.Block, []byte) []byte
		spoil  func(what string, reply []byte) []byte
		room   int
		want   int
	}{
		"all fit":       {want: blocks - 10},
		"too large":     {room: 2000},
		"another's":     {change: of(1500, func(r []byte) []byte { r[len(r)-1] ^= 1; return r }), want: 999},
		"no filter":     {change: of(10, func(r []byte) []byte { return append(r[:33], 1, 0, 200) }), want: 0},
		"one is absent": {change: of(2100, func([]byte) []byte { return nil }), want: 1999},
		"torn":          {change: of(900, func(r []byte) []byte { return r[:20] }), want: 0},
		"headers of nonsense": {spoil: func(what string, reply []byte) []byte {
			if what == "getblockfilter" {
				return []byte(`{"filter":"00","header":"xyz"}`)
			}
			return reply
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeCore(t)
			f.filters = true
			f.tip = f.mine(f.tip, blocks, 1)
			cfg := f.config(t, t.TempDir())
			cfg.Filters = f.writeFilters(t, c.change)
			e := open(t, cfg)
			follow(t, e)
			if c.room > 0 {
				e.LimitWindow(c.room)
			}
			f.set(func(f *fakeCore) { f.spoil = c.spoil })
			if taken := f.readFilters(t, e); taken != c.want {
				t.Errorf("%d filters are taken, want %d", taken, c.want)
			}
			files := e.State().Sources[0]
			if c.want > 0 != (files.Filters > 0) || int(files.Filters) < c.want {
				t.Errorf("counted %+v", files)
			}
		})
	}
}

// Without Core, which tells the headers, none is taken, and nothing of a directory that
// has none is an error.
func TestNoFiltersOfFiles(t *testing.T) {
	t.Parallel()
	f := newFakeCore(t)
	f.filters = true
	f.tip = f.mine(f.tip, 50, 1)
	cfg := f.config(t, t.TempDir())
	cfg.Filters = f.writeFilters(t, nil)
	e := open(t, cfg)
	follow(t, e)
	f.set(func(f *fakeCore) { f.down = true })
	if taken := f.readFilters(t, e); taken != 0 {
		t.Errorf("%d filters are taken while Core is away", taken)
	}

	g := newFakeCore(t)
	g.filters = true
	g.tip = g.mine(g.tip, 50, 1)
	cfg = g.config(t, t.TempDir())
	cfg.Filters = t.TempDir()
	e = open(t, cfg)
	follow(t, e)
	if taken := g.readFilters(t, e); taken != 0 {
		t.Errorf("%d filters are taken of no files", taken)
	}
}

// A live Core's filters are those that it answers with.
func TestLiveFiltersOfFiles(t *testing.T) {
	t.Parallel()
	core := startLive(t, "-blockfilterindex=1")
	for range 6 {
		core.change("generatetodescriptor", 200, anyone(rand.New(rand.NewPCG(1, 1))))
	}
	var index map[string]struct {
		Height int `json:"best_block_height"`
	}
	for index[corenode.FilterIndex].Height < 1200 {
		core.call(&index, "getindexinfo")
	}
	e := open(t, follower.Config{
		Network: regtest(t), Core: core.Client, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
		Filters: filepath.Join(core.dir, "regtest"),
	})
	follow(t, e)
	reader := e.Reader().(chainview.FilterReader)
	taken := 0
	for height := range e.Reader().Active().Height() + 1 {
		b := e.Reader().Active().At(height)
		filter, ok, err := reader.Filter(&b.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		taken++
		var want struct{ Filter string }
		if err := core.Call(t.Context(), &want, "getblockfilter", b.Hash.String()); err != nil {
			t.Fatal(err)
		}
		if want.Filter != hex.EncodeToString(filter) {
			t.Fatalf("filter of block %d: %x, want %s", height, filter, want.Filter)
		}
	}
	if files := e.State().Sources[0]; taken < 1190 || files.Filters != 1191 { // the genesis block's too
		t.Errorf("%d filters are taken, %+v", taken, files)
	}
}

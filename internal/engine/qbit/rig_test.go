package qbit

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// regtest returns the values of a regtest network with choices.
func regtest(tb testing.TB, c dialect.Choices) *dialect.Network {
	tb.Helper()
	net, err := dialect.Named(dialect.NameQbit, "regtest", c)
	if err != nil {
		tb.Fatal(err)
	}
	return net
}

// openIn opens an engine in dir. Closing it is the caller's business.
func openIn(tb testing.TB, dir string, net *dialect.Network, prune ...*pruning.Config) *rig {
	tb.Helper()
	e, err := openOn(vfs.OS, dir, net, prune...)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// openOn is openIn on a disk that may fail.
func openOn(disk vfs.FS, dir string, net *dialect.Network, prune ...*pruning.Config) (*rig, error) {
	options := dbOptions(disk, dir, net)
	options.Prunable = len(prune) > 0
	db, err := chaindb.Open(options)
	if err != nil {
		return nil, err
	}
	e, err := Open(Config{
		Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock),
		Prune: slices.Concat(prune, []*pruning.Config{nil})[0], Log: options.Log,
	})
	if err != nil {
		return nil, err
	}
	reader, ok := e.Reader().(chainstate.Reader)
	if !ok {
		return nil, errors.Join(errors.New("another reader"), e.Close())
	}
	return &rig{Engine: e, net: net, tree: reader.Tree, db: db}, nil
}

func dbOptions(disk vfs.FS, dir string, net *dialect.Network) chaindb.Options {
	return chaindb.Options{
		Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"), FS: disk,
		Magic: net.Magic, XOR: true, FastPrune: true, HeaderLen: net.HeaderLen, Log: slog.New(slog.DiscardHandler),
	}
}

// A rig is an engine with its parts.
type rig struct {
	*Engine
	net  *dialect.Network
	tree *chainview.Tree
	db   *chaindb.DB
}

// fresh opens an engine of its own for a test.
func fresh(tb testing.TB, c dialect.Choices) *rig {
	tb.Helper()
	e := openIn(tb, tb.TempDir(), regtest(tb, c))
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// unzip reads a recorded file.
func unzip(tb testing.TB, name string) []byte {
	tb.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func golden(tb testing.TB, name string, to any) {
	tb.Helper()
	if err := json.Unmarshal(unzip(tb, name), to); err != nil {
		tb.Fatal(err)
	}
}

// chainBlocks returns the blocks of the recorded chain.
func chainBlocks(tb testing.TB) [][]byte {
	tb.Helper()
	content := unzip(tb, "chain.dat.gz")
	scanner := blockfile.NewScanner(bytes.NewReader(content), int64(len(content)),
		regtest(tb, dialect.Choices{}).Magic, blockfile.Key{}, blockfile.MaxBlockSize)
	var blocks [][]byte
	for {
		record, err := scanner.Next()
		if errors.Is(err, io.EOF) {
			return blocks
		}
		if err != nil {
			tb.Fatal(err)
		}
		blocks = append(blocks, record.Block)
	}
}

// feed has the engine accept blocks.
func feed(tb testing.TB, e *rig, blocks [][]byte) {
	tb.Helper()
	for i, raw := range blocks {
		if err := e.Accept(raw); err != nil {
			tb.Fatalf("block %d of %d: %v", i, len(blocks), err)
		}
	}
}

// reason is why a block was refused; empty: it was not.
func reason(tb testing.TB, err error) string {
	tb.Helper()
	var rejected *messages.RejectError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &rejected):
		tb.Fatal(err)
	}
	return rejected.Reason
}

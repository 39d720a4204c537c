// Package enginetest opens chains on disk for tests, and reads the recorded
// ones.
package enginetest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// The recorded regtest chain: its blocks up to height 354, and a longer branch
// that leaves it after height 336.
const (
	Chain  = "regtest-chain/chain.blk.gz"
	Branch = "regtest-chain/branch.blk.gz"
)

// Regtest returns the values of a regtest network.
func Regtest(tb testing.TB) *dialect.Network {
	tb.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		tb.Fatal(err)
	}
	return net
}

// Open opens a regtest chain below dir. Closing it is the caller's business.
func Open(dir string) (*bitcoin.Engine, error) {
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	db, err := chaindb.Open(chaindb.Options{
		Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"),
		Magic: net.Magic, XOR: true, FastPrune: true, Log: log,
	})
	if err != nil {
		return nil, err
	}
	return bitcoin.Open(bitcoin.Config{Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Log: log})
}

// Unzip returns the unpacked content of a recorded file, named as in the
// folder of the recordings.
func Unzip(tb testing.TB, name string) []byte {
	tb.Helper()
	path := filepath.Join(moduleDir(tb), "internal/e2e/testdata/golden", name)
	packed, err := os.ReadFile(path) //nolint:gosec // named by a test
	if err != nil {
		tb.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

// Blocks returns the blocks of a recorded regtest file, serialized, in its
// order.
func Blocks(tb testing.TB, name string) [][]byte {
	tb.Helper()
	content := Unzip(tb, name)
	scanner := blockfile.NewScanner(bytes.NewReader(content), int64(len(content)),
		Regtest(tb).Magic, blockfile.Key{}, blockfile.MaxBlockSize)
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

// moduleDir returns the folder that go.mod is in. Tests run in that of their
// package.
func moduleDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("no go.mod above the test's folder")
		}
		dir = up
	}
}

// Parse reads a serialized block.
func Parse(tb testing.TB, raw []byte) *wire.MsgBlock {
	tb.Helper()
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		tb.Fatal(err)
	}
	return &block
}

// Serialize returns the bytes of a transaction.
func Serialize(tx *wire.MsgTx) []byte {
	var raw bytes.Buffer
	_ = tx.Serialize(&raw) // a buffer does not fail
	return raw.Bytes()
}

package trawl_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/datadir"
)

// A directory of another program is refused before anything is written there.
func TestOpenForeignDirectory(t *testing.T) {
	dir := t.TempDir()
	blocks := filepath.Join(dir, "blocks")
	if err := os.Mkdir(blocks, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(blocks, "blk00000.dat"), []byte("of Core"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []trawl.Config{
		{Dir: dir, Chain: "regtest"},
		{Dir: dir, Chain: "regtest", Reindex: true, BlockFilterIndex: true},
		{Dir: filepath.Join(dir, "new"), BlocksDir: blocks, Chain: "regtest"},
	} {
		checked := trawl.CheckDirs(cfg)
		node, err := trawl.Open(small(t.Context()), cfg)
		if err == nil {
			shut(t, node)
		}
		if _, ok := errors.AsType[*datadir.ForeignError](err); !ok || checked == nil || checked.Error() != err.Error() {
			t.Errorf("CheckDirs: %v, Open: %v", checked, err)
		}
	}
	wantEntries(t, dir, "blocks")
	wantEntries(t, blocks, "blk00000.dat")
}

func wantEntries(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("in %s are %q, %v, want %q", dir, got, err, want)
	}
}

// Block files in a separate directory without a mark, from before there were marks,
// are recognised by their chain database; block files of another chain are refused.
func TestOldBlocksDirectory(t *testing.T) {
	cfg := regtest(t.TempDir())
	cfg.BlocksDir = filepath.Join(t.TempDir(), "blocks")
	node := open(t, cfg)
	generate(t, node, []byte{0x51}, 3)
	shut(t, node)

	other := cfg
	other.BlocksDir = filepath.Join(t.TempDir(), "blocks")
	node = open(t, trawl.Config{Dir: t.TempDir(), BlocksDir: other.BlocksDir, Chain: "regtest"})
	generate(t, node, []byte{0x52}, 5)
	shut(t, node)
	for _, dir := range []string{cfg.Dir, cfg.BlocksDir, other.BlocksDir} {
		if err := os.Remove(filepath.Join(dir, datadir.MarkName)); err != nil {
			t.Fatal(err)
		}
	}

	if err := trawl.CheckDirs(other); err == nil {
		t.Error("the blocks of another chain were taken")
	}
	if err := trawl.CheckDirs(cfg); err != nil {
		t.Error(err)
	}
	shut(t, open(t, cfg))
	if err := trawl.CheckDirs(other); err == nil {
		t.Error("the blocks of another chain were taken for ours")
	}
}

// Directories of one network are not used for another.
func TestOpenOtherNetwork(t *testing.T) {
	cfg := trawl.Config{Dir: t.TempDir(), Chain: "regtest"}
	shut(t, open(t, cfg))
	cfg.Chain = "signet"
	if _, err := trawl.Open(small(t.Context()), cfg); err == nil ||
		!strings.Contains(err.Error(), "belongs to regtest (bitcoin), not to signet (bitcoin)") {
		t.Errorf("got %v", err)
	}
}

// A pool and addresses that cannot be written when the node stops are told of.
func TestCloseTellsWhatIsNotSaved(t *testing.T) {
	dir := t.TempDir()
	cfg := trawl.Config{Dir: dir, Chain: "regtest", Peers: &trawl.PeerConfig{}}
	node, err := trawl.Open(small(t.Context()), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trawl.Ask(t.Context(), node.Chain(), messages.WaitImported{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mempool.dat.new", "peers.dat.new"} { // where they are written
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for !poolIsLoaded(t, node) {
		<-time.After(time.Millisecond)
	}
	err = node.Close(t.Context())
	for _, words := range []string{"memory pool not saved", "addresses or bans of peers not saved"} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q is not in: %v", words, err)
		}
	}
}

func poolIsLoaded(t *testing.T, node *trawl.Node) bool {
	t.Helper()
	info, err := trawl.Ask(t.Context(), node.Mempool(), messages.GetPoolInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return info.Loaded
}

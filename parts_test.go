package trawl

import (
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/part"
)

// everything is the configuration in which all parts are on that can be together.
func everything(t *testing.T) Config {
	t.Helper()
	return Config{
		Dir: t.TempDir(), Chain: "regtest", BlockFilterIndex: true, CoinStatsIndex: true, Cache: 1 << 20,
		Prune: &PruneConfig{}, Wallets: &WalletConfig{KeyPool: 1}, Peers: &PeerConfig{}, Notify: &NotifyConfig{},
	}
}

// ARCHITECTURE.md shows the table of parts as it is.
func TestPartsInArchitecture(t *testing.T) {
	n := &Node{net: new(dialect.Network)}
	if err := part.Check(parts{n}.table()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := part.Text(parts{n}.table()); !strings.Contains(string(text), "|---|---|---|\n"+want+"\n") {
		t.Errorf("ARCHITECTURE.md lacks the parts of a node in their order:\n%s", want)
	}
}

// A row names whom its part asks, and nobody else.
func TestPartsTakeWhatTheyName(t *testing.T) {
	node, err := Open(t.Context(), everything(t))
	if err != nil {
		t.Fatal(err)
	}
	if list := node.set.Untaken(parts{node}.table()); list != nil {
		t.Errorf("named in a row, but never taken: %q", list)
	}
	for _, p := range (parts{node}).table() {
		if absent := node.set.Ref(p.Name).IsAbsent(); absent != (p.Off || p.Name == pruningPart) {
			t.Errorf("part %s: absent %v, off %v", p.Name, absent, p.Off)
		}
	}
	if err := node.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

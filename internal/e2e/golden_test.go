package e2e_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/replay"
)

func TestMain(m *testing.M) { e2e.Main(m) }

// core30 has a node speak as the Bitcoin Core of the recordings.
const core30 = "-core=30"

// maxShown bounds the failures of a file that are shown.
const maxShown = 20

// TestGolden plays conversations that were recorded from Bitcoin Core 30.2, and
// from qbit 1.0.0.
func TestGolden(t *testing.T) {
	for set, args := range map[string][]string{
		"mainnet": {core30}, "network": {core30}, "regtest-chain": {core30}, "signing": {core30}, "wallets": {core30},
		"qbit": {"-dialect=qbit", "-deprecatedrpc=emptyoutputs"},
	} {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			playSet(t, filepath.Join("testdata", "golden", set), args)
		})
	}
	for _, set := range []struct {
		name, folder string
		args         []string
		leaveOut     []string // tags
	}{
		{"descriptors", "descriptor/testdata", nil, nil},
		{"createrawtransaction", "rpc/method/rawtxrpc/testdata", nil, []string{"empty-outputs"}},
		{"createrawtransaction-empty", "rpc/method/rawtxrpc/testdata", []string{"-deprecatedrpc=emptyoutputs"}, nil},
	} {
		for _, chain := range []string{"regtest", "main"} {
			t.Run(set.name+"/"+chain, func(t *testing.T) {
				t.Parallel()
				d := e2e.Start(t, e2e.Config{Chain: chain, Args: append(set.args, core30)})
				player := &replay.Player{Client: d.Client}
				playFile(t, player, filepath.Join("..", "..", set.folder, chain+".jsonl.gz"), set.leaveOut...)
				d.Stop()
			})
		}
	}
}

// TestGoldenKernels plays what has to do with filters with each kernel that this
// processor has, and each layout: both sets with some, and with all of them under
// TRAWL_SOAK.
func TestGoldenKernels(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	soak := os.Getenv("TRAWL_SOAK") != ""
	for i, kernel := range filters.KernelNames() {
		for j, layout := range []filters.Layout{filters.LayoutProbe, filters.LayoutPlain, filters.LayoutAuto} {
			for _, set := range []string{"regtest-chain", "mainnet"} {
				if !soak && (layout == filters.LayoutAuto || set == "mainnet" && j > 0 || (i+j)%2 == 1) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", kernel, layout, set), func(t *testing.T) {
					t.Parallel()
					playSet(t, filepath.Join(
						"testdata", "golden", set,
					), []string{core30, "-filterkernel=" + kernel, "-filterlayout=" + string(layout)})
				})
			}
		}
	}
}

// playSet plays all groups of a set, each on a node in the state it wants, with
// args beside what that says.
func playSet(t *testing.T, folder string, args []string) {
	t.Helper()
	manifest, err := replay.ReadManifest(folder)
	if err != nil {
		t.Fatal(err)
	}
	var d *e2e.Daemon // of the group before
	for _, group := range manifest.Groups {
		if group.Continues == "" {
			if d != nil {
				d.Stop()
			}
			d = startIn(t, folder, group.Node, args)
		}
		t.Run(group.Name, func(t *testing.T) { playGroup(t, d, folder, group) })
	}
	d.Stop()
}

// startIn starts a node and brings it to a state.
func startIn(t *testing.T, folder string, state replay.State, args []string) *e2e.Daemon {
	t.Helper()
	var blocks []string
	for _, file := range state.Blocks {
		blocks = append(blocks, filepath.Join(folder, file))
	}
	config := e2e.Config{Chain: state.Chain, Args: slices.Concat(state.Args, args), Blocks: blocks}
	if state.P2P {
		config.P2P = e2e.FreeAddr(t)
	}
	d := e2e.Start(t, config)
	if state.Tip != "" {
		d.WaitTip(state.Tip, state.Height, state.Index)
	}
	return d
}

func playGroup(t *testing.T, d *e2e.Daemon, folder string, group replay.Group) {
	t.Helper()
	player := &replay.Player{
		Client: d.Client, Folder: folder, Backups: backups(t, folder), Scratch: t.TempDir(), P2P: d.P2P,
	}
	defer player.ClosePeers()
	for _, file := range group.Files {
		name, _, _ := strings.Cut(file, ".")
		ok := true
		t.Run(name, func(t *testing.T) { ok = playFile(t, player, filepath.Join(folder, file)) })
		if !ok {
			t.Fatal("the node is not in the state that the rest needs")
		}
	}
}

// backups copies the wallets of a set to where they can do no harm, and returns
// the folder.
func backups(t *testing.T, folder string) string {
	t.Helper()
	from, to := filepath.Join(folder, "backups"), t.TempDir()
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return to
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	// A directory in the place of a file, which no repository keeps.
	if err := os.MkdirAll(filepath.Join(to, "a directory.dat"), 0o700); err != nil {
		t.Fatal(err)
	}
	return to
}

// playFile plays a file in its order, but for the cases with certain tags, and
// reports every case that fails. It returns false when a step failed that all
// later ones need.
func playFile(t *testing.T, player *replay.Player, path string, leaveOut ...string) bool {
	t.Helper()
	var passed, failures, leftOut int
	for c, err := range replay.Cases(path) {
		if err != nil {
			t.Fatal(err)
		}
		if c.HasTag(leaveOut...) {
			leftOut++
			continue
		}
		outcome := player.Play(t.Context(), c)
		switch {
		case outcome.Inconclusive != "":
			t.Logf("%s: %s", c.Name, outcome.Inconclusive)
		case len(outcome.Diffs) == 0:
			passed++
		default:
			t.Fail()
			if failures++; failures <= maxShown {
				report(t, c, outcome)
			}
			if c.Fatal {
				return false
			}
		}
	}
	t.Logf("%d passed, %d failed, %d left out", passed, failures, leftOut)
	return true
}

// report shows a case that fails.
func report(t *testing.T, c *replay.Case, outcome replay.Outcome) {
	t.Helper()
	const limit = 600
	want := "(empty)"
	if c.Response != nil {
		want = *c.Response
	}
	var diffs strings.Builder
	for _, d := range outcome.Diffs[:min(len(outcome.Diffs), 4)] {
		diffs.WriteString("\n  " + d.String())
	}
	t.Errorf("%s%s\nrequest %s%.*s\ngot     %.*s\nwant    %.*s",
		c.Name, diffs.String(), c.Action, limit, c.Request, limit, outcome.Got, limit, want)
}

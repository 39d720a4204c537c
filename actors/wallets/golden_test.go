package wallets_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

// The recordings of real wallets lie with the packages that read them.
const (
	recordings    = "../../store/walletdb/testdata"
	recordedChain = "../../internal/wallet/testdata/chain.blk.gz"
)

// facts are replies of Bitcoin Core 30.2 to restorewallet, and after it.
type facts struct {
	Wallets map[string]struct {
		Info struct{ TxCount int }
	}
	Damaged []damaged
}

type damaged struct {
	Name     string
	Crash    bool // Core dies; any error will do
	CodeOnly bool `json:"code_only"`
	Error    *struct {
		Code    int
		Message string
	}
	Warnings []string
}

func readFacts(tb testing.TB) facts {
	tb.Helper()
	var f facts
	if err := json.Unmarshal(unzip(tb, filepath.Join(recordings, "facts.json.gz")), &f); err != nil {
		tb.Fatal(err)
	}
	return f
}

// recorded is the recorded chain on a real engine.
func recorded(tb testing.TB) chainview.Reader {
	tb.Helper()
	engine, err := enginetest.Open(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := engine.Close(); err != nil {
			tb.Error(err)
		}
	})
	content := unzip(tb, recordedChain)
	blocks := blockfile.NewScanner(
		bytes.NewReader(content), int64(len(content)), enginetest.Regtest(tb).Magic, blockfile.Key{},
		blockfile.MaxBlockSize,
	)
	for first := true; ; first = false {
		record, err := blocks.Next()
		if err != nil {
			break
		}
		if first {
			continue // the genesis block is there
		}
		if err := engine.Accept(record.Block); err != nil {
			tb.Fatal(err)
		}
	}
	if got := engine.Reader().Active().Height(); got != 504 {
		tb.Fatalf("the chain has %d blocks", got)
	}
	return engine.Reader()
}

// backup unpacks a recorded backup and returns its path.
func backup(tb testing.TB, folder, name string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name+".dat")
	if err := os.WriteFile(path, unzip(tb, filepath.Join(recordings, folder, name+".dat.gz")), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// sample are the backups that are restored without filters too. Where the race
// detector slows the derivation of keys down, only the smallest is restored.
var sample = []string{"gap-found", "gap-missed", "one-key", "reorged"}

// cured are backups that Core finds less for: see docs/differences.md. It finds as much with a second rescan.
var cured = map[string]int{"gap-missed": 2}

func TestRecordings(t *testing.T) {
	reader := recorded(t)
	t.Run("backups", func(t *testing.T) { restoreBackups(t, reader) })
	t.Run("damaged", func(t *testing.T) { restoreDamaged(t, reader) })
}

// Every backup that Core made is restored, with filters and without, and finds
// as many transactions as Core does. Nothing but the wallet is left behind.
func restoreBackups(t *testing.T, reader chainview.Reader) {
	t.Helper()
	for name, s := range map[string]setup{"with filters": {}, "without filters": {noFilters: true}} {
		t.Run(name, func(t *testing.T) {
			s.keyPool = 1000
			r := newRig(t, reader, s)
			for name, fact := range readFacts(t).Wallets {
				if raceEnabled && name != "one-key" || s.noFilters && !slices.Contains(sample, name) {
					continue
				}
				source := backup(t, "backups", name)
				got := do(t, r.ref, messages.RestoreWallet{Name: "r " + name, Backup: source})
				if got.Name != "r "+name || len(got.Warnings) > 0 {
					t.Errorf("%s: answer %+v", name, got)
				}
				info := do(t, r.wallet(t, "r "+name), messages.GetWalletInfo{})
				if n, ok := cured[name]; ok {
					fact.Info.TxCount = n
				}
				if info.TxCount != fact.Info.TxCount || info.Scanning || info.LastProcessedHeight != 504 {
					t.Errorf("%s: %d transactions, want %d: %+v", name, info.TxCount, fact.Info.TxCount, info)
				}
				do(t, r.ref, messages.UnloadWallet{Name: "r " + name})
				if left := files(t, filepath.Join(r.dir, "r "+name)); !slices.Equal(left, []string{"wallet.dat"}) {
					t.Errorf("%s: files %q", name, left)
				}
			}
		})
	}
}

// Broken files get Core's errors, and nothing of them stays.
func restoreDamaged(t *testing.T, reader chainview.Reader) {
	t.Helper()
	r := newRig(t, reader, setup{keyPool: 1000})
	for n, fact := range readFacts(t).Damaged {
		if raceEnabled && n%5 != 0 {
			continue
		}
		t.Run(fact.Name, func(t *testing.T) {
			name := "d-" + fact.Name
			got, err := try(t, r.ref, messages.RestoreWallet{Name: name, Backup: backup(t, "damaged", fact.Name)})
			if fact.Error == nil {
				want := make([]string, len(fact.Warnings))
				for i, text := range fact.Warnings {
					want[i] = strings.ReplaceAll(text, "{{ANY}}", r.dir)
				}
				if err != nil || !slices.Equal(got.Warnings, want) {
					t.Errorf("got %+v, %v; want warnings %q", got, err, want)
				}
				do(t, r.ref, messages.UnloadWallet{Name: name})
				return
			}
			var refused *messages.WalletError
			switch {
			case err == nil:
				t.Error("was restored")
			case fact.Crash:
			default:
				text := strings.ReplaceAll(fact.Error.Message, "{{ANY}}", r.dir)
				if fact.CodeOnly && asWalletError(err, &refused) {
					text = refused.Text
				}
				refusal(t, err, fact.Error.Code, text)
			}
			if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
				t.Errorf("left: %q", files(t, filepath.Join(r.dir, name)))
			}
		})
	}
}

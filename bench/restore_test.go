package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/synth"
)

// Of the wallet to restore.
const (
	walletDescriptors = 8
	walletKeys        = 1_000 // of each
	walletPlanted     = 10    // scripts that the chain pays to
)

// BenchmarkRestore restores a backup over HTTP: a wallet of 8 descriptors with
// 1,000 keys each and of 10 scripts that every 50th block pays to, which has seen
// no block yet. The time includes asking for the number of its transactions, and
// unloading it.
func BenchmarkRestore(b *testing.B) {
	backup := makeBackup(b)
	rival := core(b)
	theirs := filepath.Join(folder(b), "core", "regtest", "wallets")
	for _, threads := range threadCounts() {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			dir := filepath.Join(folder(b), "trawl")
			p := open(b, node(dir, threads))
			ours := restoring(b, p, filepath.Join(dir, "wallets"), backup)
			all := []*contender{ours}
			if rival != nil {
				all = append(all, restoring(b, rival, theirs, backup))
			}
			compete(b, all...)
			b.ReportMetric(milliseconds(ours.median()), "ms")
			if rival != nil {
				b.ReportMetric(milliseconds(all[1].median()), "core-ms")
				ours.reportRatio(b, all[1], "x-core")
			}
		})
	}
}

// makeBackup makes the wallet in a node without blocks and returns the path of
// its backup.
func makeBackup(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "backup.dat")
	p := node(b.TempDir(), 0)(b)
	defer p.stop()
	p.must(b, nil, "createwallet", "made", true, true) // of public keys alone, empty
	var descriptors []string
	for i := range walletDescriptors {
		descriptors = append(descriptors, fmt.Sprintf("wpkh(%s/%d/*)", masterKey, i))
	}
	for _, object := range raw(theChain().Queries(walletPlanted)) {
		descriptors = append(descriptors, fmt.Sprint(object))
	}
	var requests []any
	for i, text := range descriptors {
		var info struct {
			Descriptor string `json:"descriptor"`
		}
		p.must(b, &info, "getdescriptorinfo", text)
		request := map[string]any{"desc": info.Descriptor, "timestamp": 0}
		if i < walletDescriptors {
			request["range"] = walletKeys - 1
		}
		requests = append(requests, request)
	}
	var results []struct {
		Success bool `json:"success"`
	}
	p.must(b, &results, "importdescriptors", requests)
	for i, result := range results {
		if !result.Success {
			b.Fatalf("%s: not imported", descriptors[i])
		}
	}
	p.must(b, nil, "backupwallet", path)
	return path
}

func (p *peer) must(b *testing.B, result any, method string, params ...any) {
	b.Helper()
	if err := p.Call(b.Context(), result, method, params...); err != nil {
		b.Fatalf("%s: %v", method, err)
	}
}

// restoring restores the backup with a node that keeps its wallets in a folder.
func restoring(b *testing.B, p *peer, wallets, backup string) *contender {
	b.Helper()
	want := 0
	for height := range *flagBlocks + 1 {
		if synth.Planted(height) >= 0 {
			want++
		}
	}
	const name = "restored"
	return &contender{run: func() error {
		if err := os.RemoveAll(filepath.Join(wallets, name)); err != nil {
			return err
		}
		var info struct {
			Transactions int `json:"txcount"`
		}
		if err := p.Call(b.Context(), nil, "restorewallet", name, backup); err != nil {
			return err
		}
		if err := p.Call(b.Context(), &info, "getwalletinfo"); err != nil {
			return err
		}
		if err := p.Call(b.Context(), nil, "unloadwallet", name); err != nil {
			return err
		}
		if info.Transactions != want {
			return fmt.Errorf("%w: %d transactions, want %d", errWrongAnswer, info.Transactions, want)
		}
		return nil
	}}
}

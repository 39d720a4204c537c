package wallets_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// assume has a chain begin with a snapshot of a height. The blocks between those that are validated
// and the snapshot's are not there.
func assume(chain *chaintest.Chain, base, validated int32) {
	active := chain.Active()
	for h := range base + 1 {
		b := active.At(h)
		chain.Fail(b, nil)
		chain.SetStatus(b, b.Status()|chainview.HasData)
		if h > validated {
			chain.Fail(b, chainview.ErrNotYet)
			chain.SetStatus(b, b.Status()&^chainview.HasData)
		}
	}
	chain.SetAssumed(&chainview.Assumed{Base: active.At(base), Validated: active.At(validated)})
}

const backgroundWords = "Check logs or getchainstates RPC for assumeutxo background sync progress and try again later."

// wantRefusal fails a test when an error does not have some words.
func wantRefusal(t *testing.T, what string, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %v, want %q", what, err, words)
	}
}

// While blocks before a snapshot are to come, wallets that need none of them are served; what needs
// them is refused in Core's words. A wallet that was there before follows the blocks as they come.
func TestSnapshot(t *testing.T) {
	chain := newChain()
	chain.MineN(10)
	r := newRig(t, chain, setup{now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "old"})
	old := r.wallet(t, "old")
	script := scriptOf(t, do(t, old, messages.NewAddress{Type: "bech32"}))
	backup := filepath.Join(t.TempDir(), "backup")
	do(t, old, messages.BackupWallet{Path: backup})
	chain.Mine(chaintest.Template{Script: script})
	chain.MineN(20)
	assume(chain, 29, 10)
	r.announce()

	_, err := try(t, old, messages.GetBalances{})
	wantRefusal(t, "balance", err, "wallet is behind: it has to see blocks before the loaded snapshot")
	do(t, r.ref, messages.CreateWallet{Name: "new", DisablePrivateKeys: true, Blank: true})
	fresh := r.wallet(t, "new")
	do(t, fresh, messages.GetBalances{})
	_, err = try(t, r.ref, messages.RestoreWallet{Name: "again", Backup: backup})
	wantRefusal(t, "restored", err, "Wallet loading failed. Error loading wallet. Wallet requires blocks to be downloaded")
	wantRefusal(t, "restored", err, "after node sync reaches height 30")
	for _, start := range []int32{0, 11, 29} {
		_, err = try(t, fresh, messages.Rescan{Start: start})
		wantRefusal(t, "rescan", err, "Failed to rescan unavailable blocks likely due to an in-progress assumeutxo "+
			"background sync. "+backgroundWords)
	}
	stop := int32(10)
	do(t, fresh, messages.Rescan{Start: 0, Stop: &stop})
	do(t, fresh, messages.Rescan{Start: 30})
	results := do(t, fresh, messages.ImportDescriptors{Items: []messages.ImportItem{{Desc: foreignKey}}})
	wantRefusal(t, "import", results[0].Err, "This error is likely caused by an in-progress assumeutxo background sync. "+
		backgroundWords)

	lagging := copied(t, "old", backup)
	again := newRig(t, chain, setup{noFilters: true, dir: lagging, load: []string{"old"}, wait: true, now: genesis})
	_, err = try(t, again.wallet(t, "old"), messages.GetBalances{})
	wantRefusal(t, "balance after a start", err, "wallet is behind")
	assume(chain, 29, 29)
	chain.SetAssumed(nil)
	r.announce()
	again.announce()
	for _, ref := range []*ask.Ref{old, again.wallet(t, "old")} {
		if got := do(t, ref, messages.GetWalletInfo{}); got.TxCount != 1 || got.LastProcessedHeight != 31 {
			t.Errorf("%d transactions at height %d", got.TxCount, got.LastProcessedHeight)
		}
	}
	do(t, r.ref, messages.RestoreWallet{Name: "again", Backup: backup})
	if got := do(t, r.wallet(t, "again"), messages.GetWalletInfo{}); got.TxCount != 1 {
		t.Errorf("%d transactions in the restored wallet", got.TxCount)
	}
}

// copied returns a wallets directory with a wallet that is a copy of a backup.
func copied(t *testing.T, name, backup string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	content, err := os.ReadFile(backup)
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, name), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name, walletdb.FileName), content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

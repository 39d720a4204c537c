package wallets_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

// A check finds what an oracle finds that looks at all blocks for all indices, whatever order they were paid to in, and
// tells the same ranges. A second check finds nothing more.
func TestCheckFindsAll(t *testing.T) {
	const keyPool, limit = 4, 700
	for n := range cases(10, 1000) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			path, descs, w := farWalk(t, uint64(n)+900, limit)
			chain := newChain()
			most := 3 + w.IntN(250)
			jump(w, chain, 20+w.IntN(60), most)
			gap := int32(keyPool + w.IntN(2*most))
			r := newRig(t, chain, setup{
				noFilters: w.IntN(3) == 0, keyPool: keyPool, window: int32(1 + w.IntN(80)), now: genesis,
			})
			do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
			ref := r.wallet(t, "w")
			before := all(t, ref)
			got := do(t, ref, messages.CheckWallet{Gap: gap})
			want := lookAtAll(w, chain, max(keyPool, gap)-1, gap)
			if balance := all(t, ref); balance != want.balance || balance < before {
				t.Errorf("balance %v, want %v, before %v", balance, want.balance, before)
			}
			if got.From != 0 || got.Tip.Height != chain.Active().Height() || !slices.Equal(got.Blocks, want.blocks) {
				t.Errorf("blocks %d to %d, %d of them found, want %d", got.From, got.Tip.Height, len(got.Blocks),
					len(want.blocks))
			}
			for i := range got.Descriptors {
				d := &got.Descriptors[i]
				at := slices.Index(descs, d.Desc)
				if d.Range != [2]int32{0, want.last[at]} || d.HighestUsed != want.highest[at] || d.Exhausted ||
					d.Payments != want.payments[at] || d.Before[1] > d.Range[1] {
					t.Errorf("gap %d: %+v, want up to %d, %d payments, highest %d", gap, *d, want.last[at],
						want.payments[at], want.highest[at])
				}
			}
			text := stateOf(t, ref)
			again := do(t, ref, messages.CheckWallet{Gap: gap})
			if again.New != 0 || len(again.Scripts) != len(got.Scripts) {
				t.Errorf("a second check finds %d new transactions", again.New)
			}
			same(t, stateOf(t, ref), text)
			reloaded(t, r, text)
		})
	}
}

// reloaded compares the state of a wallet that is loaded again.
func reloaded(t *testing.T, r *rig, want string) {
	t.Helper()
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	same(t, stateOf(t, r.wallet(t, "w")), want)
}

// hardened has keys that nobody derives without its private key.
const hardened = "wpkh(tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDU" +
	"jyEmNUWwx8UbK/*h)"

// farPayment is a chain with one payment beyond the reach of a restore, and one within.
func farPayment(t *testing.T) (path string, chain *chaintest.Chain, w *walk) {
	t.Helper()
	path, _, w = farWalk(t, 1, 60)
	chain = newChain()
	chain.MineN(20)
	chain.Mine(chaintest.Template{Script: w.scripts[0][40]})
	chain.MineN(10)
	chain.Mine(chaintest.Template{Script: w.scripts[0][1]})
	chain.MineN(10)
	return path, chain, w
}

// A check is a rescan: there is one at a time, it shows its progress, and an abort ends it. The next one does
// the work that an aborted one has left undone.
func TestCheckIsARescan(t *testing.T) {
	path, chain, _ := farPayment(t)
	s, g := hold(4)
	r := newRig(t, newChain(), s)
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	r.current.Set(chain)
	r.announce()
	do(t, r.indexer, messages.WaitIndexed{Block: chain.Active().Tip().Hash})
	ref := r.wallet(t, "w")
	_, err := try(t, ref, messages.CheckWallet{Gap: 50, Start: new(int32(99))})
	refusal(t, err, -8, "Invalid start_height")
	done := make(chan error, 1)
	go func() {
		_, err := try(t, ref, messages.CheckWallet{Gap: 50})
		done <- err
	}()
	<-g.reached
	if info := do(t, ref, messages.GetWalletInfo{}); !info.Scanning {
		t.Error("not scanning")
	}
	_, err = try(t, ref, messages.CheckWallet{Gap: 50})
	refusal(t, err, -4, "Wallet is currently rescanning. Abort existing rescan or wait.")
	_, err = try(t, r.ref, messages.UnloadWallet{Name: "w"})
	refusal(t, err, -4, "Wallet is currently rescanning. Abort existing rescan or wait.")
	if !do(t, ref, messages.AbortRescan{}) {
		t.Error("not aborted")
	}
	refusal(t, <-done, -1, "Rescan aborted.")
	close(g.open)
	if info := do(t, ref, messages.GetWalletInfo{}); info.Scanning {
		t.Error("still scanning")
	}
	got := do(t, ref, messages.CheckWallet{Gap: 50})
	if balance := all(t, ref); got.New != 1 || balance == 0 || got.Tip.Height != 42 {
		t.Errorf("%d new transactions up to %d, balance %v", got.New, got.Tip.Height, balance)
	}
	if got := do(t, ref, messages.CheckWallet{Gap: 50, Start: new(int32(42))}); got.From != 42 || len(got.Blocks) > 0 {
		t.Errorf("from %d: %d blocks", got.From, len(got.Blocks))
	}
}

// Whenever the node ends during a check, the next load of the wallet looks through the blocks for the scripts that were
// added.
func TestInterruptedCheck(t *testing.T) {
	path, chain, w := farPayment(t)
	s, g := hold(4)
	r := newRig(t, newChain(), s)
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	r.current.Set(chain)
	r.announce()
	do(t, r.indexer, messages.WaitIndexed{Block: chain.Active().Tip().Hash})
	ref := r.wallet(t, "w")
	before := all(t, ref)
	go func() { _, _ = try(t, ref, messages.CheckWallet{Gap: 50}) }()
	<-g.reached
	saved := filepath.Join(t.TempDir(), "meanwhile.dat") // what a kill leaves from now on
	do(t, ref, messages.BackupWallet{Path: saved})
	stopped := make(chan error, 1)
	go func() { stopped <- r.ref.Stop(t.Context()) }()
	close(g.open)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	again := newRig(t, chain, setup{dir: r.dir, keyPool: 4, now: genesis})
	do(t, again.ref, messages.LoadWallet{Name: "w"})
	do(t, again.ref, messages.RestoreWallet{Name: "killed", Backup: saved})
	want := lookAtAll(w, chain, 50, 50)
	for _, name := range []string{"w", "killed"} {
		if balance := all(t, again.wallet(t, name)); balance != want.balance || balance == before {
			t.Errorf("%s: balance %v, want %v, before %v", name, balance, want.balance, before)
		}
	}
}

// Whichever write of a check fails, the wallet has no payment less than before, and the next check finds all.
func TestCheckOverFaults(t *testing.T) {
	path, chain, w := farPayment(t)
	want := lookAtAll(w, chain, 50, 50)
	for n := range int64(5) {
		var left atomic.Int64
		left.Store(1 << 40)
		r := newRig(t, chain, setup{keyPool: 4, now: genesis, fail: func() error {
			if left.Add(-1) == 0 {
				return errBroken
			}
			return nil
		}})
		do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
		ref := r.wallet(t, "w")
		before := all(t, ref)
		left.Store(n + 1)
		_, err := try(t, ref, messages.CheckWallet{Gap: 50})
		failed := left.Load() <= 0
		if (err != nil) != failed {
			t.Errorf("write %d: failed %v, answer %v", n, failed, err)
		}
		for err != nil { // until it is loaded and written again
			_, err = try(t, ref, messages.CheckWallet{Gap: 50})
		}
		if balance := all(t, ref); balance != want.balance || balance < before {
			t.Errorf("write %d: balance %v, want %v", n, balance, want.balance)
		}
	}
}

// A locked wallet is checked as far as its public keys go. Where a range needs private keys, the check is refused, and
// changes nothing.
func TestCheckOfLockedWallet(t *testing.T) {
	path, chain, _ := farPayment(t)
	r := newRig(t, chain, setup{keyPool: 4, now: genesis})
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	ref := r.wallet(t, "w")
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	if got := do(t, ref, messages.CheckWallet{Gap: 50}); got.New != 1 {
		t.Errorf("%d new transactions, want 1", got.New)
	}
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	item := messages.ImportItem{Desc: descriptor.AddChecksum(hardened), Range: &[2]int64{0, 9}, Timestamp: 0}
	if got := do(t, ref, messages.ImportDescriptors{Items: []messages.ImportItem{item}}); got[0].Err != nil {
		t.Fatal(got[0].Err)
	}
	do(t, ref, messages.LockWallet{})
	text := stateOf(t, ref)
	_, err := try(t, ref, messages.CheckWallet{Gap: 80})
	refusal(t, err, -13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
	same(t, stateOf(t, ref), text)
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	for _, d := range do(t, ref, messages.CheckWallet{Gap: 80}).Descriptors {
		if d.Exhausted || d.Range[1] < 79 {
			t.Errorf("unlocked: %+v", d)
		}
	}
}

// A payment that is found has a range widen whose keys are locked: then the check ends.
func TestCheckMeetsLock(t *testing.T) {
	path, chain, _ := farPayment(t)
	r := newRig(t, chain, setup{keyPool: 4, now: genesis})
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	ref := r.wallet(t, "w")
	item := messages.ImportItem{
		Desc: descriptor.AddChecksum(hardened), Range: &[2]int64{0, 19}, Timestamp: messages.NowTimestamp,
	}
	if got := do(t, ref, messages.ImportDescriptors{Items: []messages.ImportItem{item}}); got[0].Err != nil {
		t.Fatal(got[0].Err)
	}
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	net := descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	parsed, err := descriptor.Parse(hardened, net, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := parsed[0].Expand(7)
	if err != nil {
		t.Fatal(err)
	}
	do(t, ref, messages.CheckWallet{Gap: 20})
	chain.Mine(chaintest.Template{Script: at[0]})
	r.announce()
	_, err = try(t, ref, messages.CheckWallet{Gap: 20})
	refusal(t, err, -13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	for _, d := range do(t, ref, messages.CheckWallet{Gap: 20}).Descriptors {
		if d.HighestUsed == 7 && (d.Range != [2]int32{0, 27} || d.Payments != 1) {
			t.Errorf("unlocked: %+v", d)
		}
	}
}

// A payment in the memory pool has ranges widen, too, and then the blocks are looked through again.
func TestCheckWidensByThePool(t *testing.T) {
	path, _, w := farWalk(t, 1, 60)
	chain := newChain()
	chain.MineN(10)
	chain.Mine(chaintest.Template{Script: w.scripts[0][45]})
	chain.MineN(5)
	waiting := payment(w.scripts[0][20], 7)
	r := newRig(t, chain, setup{
		keyPool: 4, now: genesis,
		pool: func() []messages.PoolTx { return []messages.PoolTx{{Tx: waiting}} },
	})
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	ref := r.wallet(t, "w")
	got := do(t, ref, messages.CheckWallet{Gap: 30})
	last := int32(-1)
	for _, d := range got.Descriptors {
		last = max(last, d.HighestUsed)
	}
	if got.New != 1 || last != 45 {
		t.Errorf("%d new transactions, highest index %d", got.New, last)
	}
}

// The ranges of P2MR widen where the wallet has the keys.
func TestCheckOfP2MR(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 2})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	got := do(t, ref, messages.CheckWallet{Gap: 5})
	for _, d := range got.Descriptors {
		if d.Range != [2]int32{0, 4} || d.Exhausted || d.Desc != "" {
			t.Errorf("%+v", d)
		}
	}
	if len(got.Descriptors) != 2 || len(got.Scripts) != 10 {
		t.Errorf("%d descriptors, %d scripts", len(got.Descriptors), len(got.Scripts))
	}
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	_, err := try(t, ref, messages.CheckWallet{Gap: 6})
	refusal(t, err, -13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
}

// A wallet without private keys whose keys are behind hardened steps keeps its ranges, and the answer tells.
func TestCheckOfWatchOnly(t *testing.T) {
	path, chain, _ := farPayment(t)
	r := newRig(t, chain, setup{keyPool: 4, now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "blank", Blank: true})
	if got := do(t, r.wallet(t, "blank"), messages.CheckWallet{Gap: 50}); len(got.Descriptors) != 0 || got.From != 42 {
		t.Errorf("blank: %+v", got)
	}
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	item := messages.ImportItem{
		Desc: descriptor.AddChecksum(hardened), Range: &[2]int64{0, 9}, Timestamp: messages.NowTimestamp,
	}
	items := []messages.ImportItem{item}
	if got := do(t, r.wallet(t, "w"), messages.ImportDescriptors{Items: items}); got[0].Err != nil {
		t.Fatal(got[0].Err)
	}
	exported := filepath.Join(t.TempDir(), "watched.dat")
	do(t, r.wallet(t, "w"), messages.ExportWatchOnly{Path: exported})
	do(t, r.ref, messages.RestoreWallet{Name: "watched", Backup: exported})
	got := do(t, r.wallet(t, "watched"), messages.CheckWallet{Gap: 50})
	exhausted := 0
	for _, d := range got.Descriptors {
		if d.Exhausted {
			exhausted++
			if d.Range != d.Before {
				t.Errorf("widened without keys: %+v", d)
			}
		}
	}
	if exhausted != 1 || got.New != 1 {
		t.Errorf("%d ranges exhausted, %d new transactions", exhausted, got.New)
	}
}

// After a restore it is told whether there are payments beyond the addresses, and a preview tells the same.
func TestBeyondIsTold(t *testing.T) {
	path, chain, _ := farPayment(t)
	for name, test := range map[string]struct {
		noFilters bool
		keyPool   int32
		want      messages.WalletBeyond
	}{
		"payments beyond":    {false, 4, messages.WalletBeyond{Known: true, Found: true, Gap: 39}},
		"no payments beyond": {false, 60, messages.WalletBeyond{Known: true}},
		"no filters":         {true, 4, messages.WalletBeyond{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, chain, setup{keyPool: test.keyPool, noFilters: test.noFilters, now: genesis})
			if got := do(t, r.ref, messages.PreviewRestore{Backup: path}); got.Beyond != test.want {
				t.Errorf("preview: %+v, want %+v", got.Beyond, test.want)
			}
			published, stop := r.restored.Watch()
			defer stop()
			do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
			if got := <-published; got != messages.News(messages.WalletRestored{Wallet: "w", WalletBeyond: test.want}) {
				t.Errorf("published %+v, want %+v", got, test.want)
			}
			if !test.want.Found {
				return
			}
			got := do(t, r.wallet(t, "w"), messages.CheckWallet{Gap: test.want.Gap})
			if got.New != 1 {
				t.Errorf("%d new transactions, want 1", got.New)
			}
		})
	}
}

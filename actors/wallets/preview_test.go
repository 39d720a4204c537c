package wallets_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
)

// untouched returns what checks that since then neither the backup nor anything beside it or among the
// wallets has changed.
func untouched(t *testing.T, r *rig, source string) (check func()) {
	t.Helper()
	look := func() (content []byte, at time.Time, all []string) {
		info, err := os.Stat(source)
		if err != nil {
			t.Fatal(err)
		}
		if content, err = os.ReadFile(source); err != nil {
			t.Fatal(err)
		}
		return content, info.ModTime(), append(files(t, filepath.Dir(source)), files(t, r.dir)...)
	}
	content, at, all := look()
	return func() {
		t.Helper()
		c, a, f := look()
		if !bytes.Equal(c, content) || !a.Equal(at) || !slices.Equal(f, all) {
			t.Errorf("something was written: %v, %v, %q, and before %q", bytes.Equal(c, content), a.Equal(at), f, all)
		}
	}
}

// The preview of each backup that Core made agrees with its restore.
func TestPreview(t *testing.T) {
	reader := recorded(t)
	for name, s := range map[string]setup{"with filters": {}, "without filters": {noFilters: true}} {
		t.Run(name, func(t *testing.T) {
			s.keyPool = 1000
			r := newRig(t, reader, s)
			for name, fact := range readFacts(t).Wallets {
				if raceEnabled && name != "one-key" || s.noFilters && !slices.Contains(sample, name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					source := backup(t, "backups", name)
					check := untouched(t, r, source)
					got := do(t, r.ref, messages.PreviewRestore{Backup: source})
					check()
					if got.Problem != "" || got.Plan.Problem != "" || got.Format != "sqlite" || got.Plan.Name != name {
						t.Errorf("%+v", got)
					}
					if got.Plan.Filters == s.noFilters || got.Plan.Blocks > 0 && got.Plan.To != 504 ||
						got.Plan.Estimate < 0 || got.Plan.Estimate > time.Minute {
						t.Errorf("plan %+v", got.Plan)
					}
					asRestored(t, r, source, &got, fact.Info.TxCount)
				})
			}
		})
	}
}

// asRestored restores a backup elsewhere and compares.
func asRestored(t *testing.T, r *rig, source string, got *messages.RestorePreview, txs int) {
	t.Helper()
	other := newRig(t, r.current.Open(), setup{keyPool: 1000, noFilters: r.source == nil})
	do(t, other.ref, messages.RestoreWallet{Name: "w", Backup: source})
	ref := other.wallet(t, "w")
	info := do(t, ref, messages.GetWalletInfo{})
	if got.Encrypted != info.Encrypted || got.Transactions > txs || !slices.Equal(got.Flags, info.Flags) {
		t.Errorf("%+v, and restored %+v", got, info)
	}
	list := do(t, ref, messages.ListDescriptors{})
	if len(got.Descriptors) != len(list) || got.NDescriptors != len(list) {
		t.Fatalf("%d descriptors, want %d", len(got.Descriptors), len(list))
	}
	type kind struct {
		time             int64
		active, internal bool
	}
	kinds := map[kind]int{}
	for _, l := range list {
		kinds[kind{l.Timestamp, l.Active, l.Active && l.Internal}]++
	}
	net := enginetest.Regtest(t).Descriptors()
	for _, d := range got.Descriptors {
		kinds[kind{d.Birth.Unix(), d.Active, d.Internal}]--
		if d.Ranged && (len(d.Addresses) == 0 || len(d.Fingerprints) == 0) {
			t.Errorf("too little is told of %+v", d)
		}
		for _, address := range d.Addresses {
			script, err := descriptor.ScriptOfAddress(address, net)
			if err != nil || !do(t, ref, messages.GetAddressInfo{Script: script}).IsMine {
				t.Errorf("%s, %v, is not of the wallet", address, err)
			}
		}
	}
	for k, n := range kinds {
		if n != 0 {
			t.Errorf("of %+v there are %d more", k, n)
		}
	}
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), "prv") {
		t.Errorf("%v, a private key is told: %s", err, text)
	}
}

// A preview tells a restore's problem in the words of the restore, and is refused if the backup does
// not exist.
func TestPreviewProblems(t *testing.T) {
	reader := recorded(t)
	r := newRig(t, reader, setup{keyPool: 20, noFilters: true})
	for _, fact := range readFacts(t).Damaged {
		if fact.Error == nil || fact.Crash || fact.CodeOnly {
			continue
		}
		source := backup(t, "damaged", fact.Name)
		check := untouched(t, r, source)
		got := do(t, r.ref, messages.PreviewRestore{Backup: source, Name: new("d-" + fact.Name)})
		check()
		want := strings.ReplaceAll(fact.Error.Message, "{{ANY}}", r.dir)
		place := filepath.Join(r.dir, "d-"+fact.Name)
		told := strings.ReplaceAll(got.Problem+got.Plan.Problem, filepath.Dir(source), place)
		if told != want {
			t.Errorf("%s\n got %q\nwant %q", fact.Name, told, want)
		}
	}
	_, err := try(t, r.ref, messages.PreviewRestore{Backup: filepath.Join(t.TempDir(), "none")})
	refusal(t, err, -8, "Backup file does not exist")
	if got := do(t, r.ref, messages.PreviewRestore{Backup: r.dir}); !strings.Contains(got.Problem, "cannot copy file") {
		t.Errorf("of a directory: %+v", got)
	}
	source := backup(t, "backups", "one-key")
	do(t, r.ref, messages.RestoreWallet{Name: "taken", Backup: source})
	if got := do(t, r.ref, messages.PreviewRestore{Backup: source, Name: new("taken")}); got.Plan.Problem !=
		"Failed to restore wallet. Database file exists in '"+filepath.Join(r.dir, "taken", "wallet.dat")+"'." {
		t.Errorf("of a name that is taken: %+v", got.Plan)
	}
	do(t, r.ref, messages.RestoreWallet{Name: "one-key", Backup: source})
	if got := do(t, r.ref, messages.PreviewRestore{Backup: source}); got.Plan.Name != "one-key-restored" {
		t.Errorf("suggests %q", got.Plan.Name)
	}
}

// A backup of qbit is shown by its addresses, and is none for Bitcoin.
func TestPreviewP2MR(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 16})
	for _, name := range []string{"signer", "encrypted", "watch", "blank"} {
		source := filepath.Join(qbitBackups, name+".dat")
		got := do(t, r.ref, messages.PreviewRestore{Backup: source})
		if got.Problem != "" || got.Encrypted != (name == "encrypted") {
			t.Errorf("%s: %+v", name, got)
		}
		if (name != "blank") != slices.ContainsFunc(got.Descriptors, func(d messages.PreviewDescriptor) bool {
			return strings.HasPrefix(d.Desc, "mr(") && len(d.Addresses) > 0
		}) {
			t.Errorf("%s: %+v", name, got.Descriptors)
		}
	}
	other := small(t, setup{})
	got := do(t, other.ref, messages.PreviewRestore{Backup: filepath.Join(qbitBackups, "signer.dat")})
	if got.Format != "unknown" || !strings.Contains(got.Problem, "not in recognized format") {
		t.Errorf("%+v", got)
	}
}

// A caller who leaves ends the preview, and waiting callers get their turn.
func TestPreviewAborted(t *testing.T) {
	r := small(t, setup{})
	source := backup(t, "backups", "base")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if _, err := ask.Ask(gone, r.ref, messages.PreviewRestore{Backup: source}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	answered := make(chan error, 6)
	for range cap(answered) {
		go func() {
			_, err := ask.Ask(t.Context(), r.ref, messages.PreviewRestore{Backup: source})
			answered <- err
		}()
	}
	for range cap(answered) {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

// FuzzPreview: no file ends a preview otherwise than with an answer, or makes it write.
func FuzzPreview(f *testing.F) {
	content := unzip(f, filepath.Join(recordings, "backups", "one-key.dat.gz"))
	for _, at := range []int{0, 18, 100, 4096, 8000} {
		f.Add(at, []byte{0xff, 0x80, 1})
	}
	chain := newChain()
	chain.MineN(3)
	r := newRig(f, chain, setup{noFilters: true, now: genesis})
	dir := f.TempDir()
	source := filepath.Join(dir, "backup.dat")
	f.Fuzz(func(t *testing.T, at int, patch []byte) {
		damaged := append([]byte(nil), content...)
		copy(damaged[max(at, 0)%len(damaged):], patch)
		if err := os.WriteFile(source, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		got := do(t, r.ref, messages.PreviewRestore{Backup: source})
		if (got.Problem == "") != (len(got.Flags) > 0) {
			t.Errorf("%+v", got)
		}
		if left := files(t, dir); !slices.Equal(left, []string{"backup.dat"}) {
			t.Errorf("left: %q", left)
		}
	})
}

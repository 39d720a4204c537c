package wallets_test

import (
	"bytes"
	"database/sql"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" //nolint:depguard // it makes what a crash leaves

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
)

// crashed copies a backup of testdata as a crash in the middle of a change leaves it. Half
// of the change is in the file, and the journal beside it can take this half back.
func crashed(tb testing.TB, name string) (path string) {
	tb.Helper()
	return crashedFile(tb, backup(tb, "backups", name))
}

// crashedFile copies a wallet file as such a crash leaves it. The file itself stays as it was.
func crashedFile(tb testing.TB, source string) (path string) {
	tb.Helper()
	db, err := sql.Open("sqlite", source)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{
		"PRAGMA cache_size=1", "PRAGMA cache_spill=1", "BEGIN", "UPDATE main SET value = zeroblob(length(value))",
	} {
		if _, err := conn.ExecContext(tb.Context(), statement); err != nil {
			tb.Fatal(err)
		}
	}
	path = filepath.Join(tb.TempDir(), filepath.Base(source))
	for _, suffix := range []string{"", "-journal"} {
		content, err := os.ReadFile(source + suffix)
		if err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return path
}

const rolledBack = "The backup is a copy of a wallet in use: an interrupted change was rolled back by the journal beside " +
	"the file."

// A copy of a wallet that had crashed is shown and restored as it was before the change, with
// a warning, and is not touched. Without its journal it is refused.
func TestCrashedBackup(t *testing.T) {
	r := small(t, setup{})
	source := crashed(t, "default")
	check := untouched(t, r, source)
	whole := do(t, r.ref, messages.PreviewRestore{Backup: backup(t, "backups", "default"), Name: new("w")})
	got := do(t, r.ref, messages.PreviewRestore{Backup: source, Name: new("w")})
	check()
	if got.Problem != "" || !got.RolledBack || got.FromLog || got.Partial ||
		!slices.Equal(got.Warnings, []string{rolledBack}) ||
		got.NDescriptors != whole.NDescriptors || got.Labels != whole.Labels {
		t.Errorf("%+v\nand of the whole backup\n%+v", got, whole)
	}
	before, err := os.ReadFile(source + "-journal")
	if err != nil {
		t.Fatal(err)
	}
	told := do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: source})
	if !slices.Contains(told.Warnings, rolledBack) {
		t.Errorf("warnings %q", told.Warnings)
	}
	if list := do(t, r.wallet(t, "w"), messages.ListDescriptors{}); len(list) != whole.NDescriptors {
		t.Errorf("%d descriptors, want %d", len(list), whole.NDescriptors)
	}
	if after, err := os.ReadFile(source + "-journal"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the journal has changed: %v", err)
	}
	if err := os.Remove(source + "-journal"); err != nil {
		t.Fatal(err)
	}
	if got := do(t, r.ref, messages.PreviewRestore{Backup: source}); got.Problem == "" {
		t.Errorf("half of a change: %+v", got)
	}
}

// A journal of another file is left out, and that is told.
func TestOthersJournal(t *testing.T) {
	r := small(t, setup{})
	source := crashed(t, "default")
	content, err := os.ReadFile(backup(t, "backups", "base"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, content, 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"A journal or write-ahead log beside the backup belongs to another file and was left out."}
	check := untouched(t, r, source)
	got := do(t, r.ref, messages.PreviewRestore{Backup: source, Name: new("w")})
	check()
	told := do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: source})
	if got.Problem != "" || got.RolledBack || !slices.Equal(got.Warnings, want) || !slices.Equal(told.Warnings, want) {
		t.Errorf("preview %+v, restore %+v", got, told)
	}
}

// The journal of a wallet of equal size and age would damage a wallet: it is left out of a backup, and renamed
// where the wallet is loaded.
func TestTwinsJournal(t *testing.T) {
	r := small(t, setup{})
	for _, name := range []string{"own", "other"} {
		do(t, r.ref, messages.CreateWallet{Name: name})
		do(t, r.ref, messages.UnloadWallet{Name: name})
	}
	content, err := os.ReadFile(filepath.Join(r.dir, "own", "wallet.dat"))
	if err != nil {
		t.Fatal(err)
	}
	journal, err := os.ReadFile(crashedFile(t, filepath.Join(r.dir, "other", "wallet.dat")) + "-journal")
	if err != nil {
		t.Fatal(err)
	}
	put := func(dir string) (path string) {
		path = filepath.Join(dir, "wallet.dat")
		if err := errors.Join(
			os.MkdirAll(dir, 0o700), os.WriteFile(path, content, 0o600), os.WriteFile(path+"-journal", journal, 0o600),
		); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source, hand := put(t.TempDir()), put(filepath.Join(r.dir, "hand"))
	want := []string{"A journal or write-ahead log beside the backup belongs to another file and was left out."}
	check := untouched(t, r, source)
	got := do(t, r.ref, messages.PreviewRestore{Backup: source, Name: new("w")})
	check()
	told := do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: source})
	if got.Problem != "" || got.RolledBack || got.Partial || !slices.Equal(got.Warnings, want) ||
		!slices.Equal(told.Warnings, want) {
		t.Errorf("preview %+v, restore %+v", got, told)
	}
	do(t, r.ref, messages.LoadWallet{Name: "hand"})
	for _, name := range []string{"w", "hand"} {
		if list := do(t, r.wallet(t, name), messages.ListDescriptors{}); len(list) != got.NDescriptors {
			t.Errorf("%s has %d descriptors, want %d", name, len(list), got.NDescriptors)
		}
	}
	if kept, err := os.ReadFile(hand + "-journal.stale-1"); err != nil || !bytes.Equal(kept, journal) {
		t.Errorf("kept with %d bytes, %v", len(kept), err)
	}
}

// Where a journal does not make the backup whole, it is told as what may be the reason.
func TestTornJournal(t *testing.T) {
	r := small(t, setup{})
	source := crashed(t, "default")
	if err := os.Truncate(source+"-journal", 6000); err != nil {
		t.Fatal(err)
	}
	const hint = "-journal' was taken for a part of the backup. If it is not, move it away."
	got := do(t, r.ref, messages.PreviewRestore{Backup: source, Name: new("w")})
	_, err := try(t, r.ref, messages.RestoreWallet{Name: "w", Backup: source})
	if !strings.HasSuffix(got.Problem, source+hint) || err == nil || !strings.Contains(err.Error(), source+hint) {
		t.Errorf("preview %q, restore %v", got.Problem, err)
	}
	if left := files(t, r.dir); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// A wallet whose folder has the journal of another is made, restored and loaded again, and the
// journal is kept.
func TestFolderWithJournal(t *testing.T) {
	r := small(t, setup{})
	stale, err := os.ReadFile(crashed(t, "default") + "-journal")
	if err != nil {
		t.Fatal(err)
	}
	source := backup(t, "backups", "base")
	for name, call := range map[string]func() error{
		"made": func() error { _, err := try(t, r.ref, messages.CreateWallet{Name: "made"}); return err },
		"restored": func() error {
			_, err := try(t, r.ref, messages.RestoreWallet{Name: "restored", Backup: source})
			return err
		},
	} {
		dir := filepath.Join(r.dir, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "wallet.dat-journal"), stale, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := call(); err != nil {
			t.Fatal(name, err)
		}
		want := len(do(t, r.wallet(t, name), messages.ListDescriptors{}))
		do(t, r.ref, messages.UnloadWallet{Name: name})
		do(t, r.ref, messages.LoadWallet{Name: name})
		if got := len(do(t, r.wallet(t, name), messages.ListDescriptors{})); got != want {
			t.Errorf("%s: %d descriptors, and at first %d", name, got, want)
		}
		kept, err := os.ReadFile(filepath.Join(dir, "wallet.dat-journal.stale-1"))
		if err != nil || !bytes.Equal(kept, stale) {
			t.Errorf("%s: kept with %d bytes, %v", name, len(kept), err)
		}
	}
}

// New wallets have no names that lead out of the wallets directory without being absolute;
// later versions of Core refuse them in the same words.
func TestNamesThatLeave(t *testing.T) {
	r := small(t, setup{})
	const (
		prefix     = "Wallet file verification failed. Wallet name "
		normalized = prefix + "given as a path must be normalized"
		relative   = prefix + "given as a relative path cannot begin with ./ or ../, for wallets not in the walletdir, please " +
			"use an absolute path."
		root = prefix + "cannot be the root path"
	)
	source := backup(t, "backups", "one-key")
	outside := filepath.Dir(r.dir)
	before := files(t, outside)
	for name, want := range map[string]string{
		"bad/./path": normalized, "bad/../path": normalized, "/bad/./path": normalized, "/bad/../path": normalized,
		"./": normalized, "./wallet": normalized, "../wallets/../wallets/wallet": normalized, "a/../../b": normalized,
		"../": normalized, "w/.": normalized, "w/..": normalized,
		"../w/": relative, "../../": normalized, "/..": normalized, "/.": normalized, "..//": normalized,
		"../wallets/wallet": relative, "..": relative, ".": relative, "../..": relative, "/": root, "//": root,
	} {
		_, err := try(t, r.ref, messages.CreateWallet{Name: name})
		refusal(t, err, -4, want)
		if _, err := os.Stat(filepath.Join(r.dir, name, "wallet.dat")); err == nil {
			t.Errorf("%q was made", name)
		}
		_, err = try(t, r.ref, messages.RestoreWallet{Name: name, Backup: source})
		refusal(t, err, -4, want)
		if got := do(t, r.ref, messages.PreviewRestore{Backup: source, Name: &name}); got.Plan.Problem != want {
			t.Errorf("%q: the plan says %q", name, got.Plan.Problem)
		}
	}
	if after := files(t, outside); !slices.Equal(after, before) {
		t.Errorf("outside there are %q, and before %q", after, before)
	}
	for _, name := range []string{
		"", "w", "...", "..w", ".w", "a/b", "c//d", "trail/", "w..",
		filepath.Join(t.TempDir(), "elsewhere"), strings.Repeat("x", 255),
	} {
		if _, err := try(t, r.ref, messages.CreateWallet{Name: name}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	// A wallet that an earlier version made outside is loaded.
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	if err := os.Rename(filepath.Join(r.dir, "w"), filepath.Join(outside, "w-outside")); err != nil {
		t.Fatal(err)
	}
	do(t, r.ref, messages.LoadWallet{Name: "../w-outside"})
}

// With later versions of Core new wallets have a name, and none is loaded by a name that leads out of the wallets
// directory without being absolute.
func TestNamesOfLaterVersions(t *testing.T) {
	later := enginetest.Regtest(t)
	later.Answers = dialect.Answers{}
	r := small(t, setup{network: later})
	source := backup(t, "backups", "one-key")
	const unnamed = "Wallet name cannot be empty"
	_, err := try(t, r.ref, messages.CreateWallet{})
	refusal(t, err, -8, unnamed)
	for _, from := range []string{source, "missing"} { // the name is looked at first
		_, err = try(t, r.ref, messages.RestoreWallet{Backup: from})
		refusal(t, err, -8, unnamed)
	}
	if got := do(t, r.ref, messages.PreviewRestore{Backup: source, Name: new("")}); got.Plan.Problem != unnamed {
		t.Errorf("the plan says %q", got.Plan.Problem)
	}
	if left := files(t, r.dir); len(left) != 0 {
		t.Errorf("there are %q", left)
	}
	// A wallet without a name that an earlier version made is loaded.
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	if err := os.Rename(filepath.Join(r.dir, "w", "wallet.dat"), filepath.Join(r.dir, "wallet.dat")); err != nil {
		t.Fatal(err)
	}
	do(t, r.ref, messages.LoadWallet{})
	do(t, r.ref, messages.UnloadWallet{})
	const relative = "Wallet name given as a relative path cannot begin with ./ or ../, for wallets not in the " +
		"walletdir, please use an absolute path."
	_, err = try(t, r.ref, messages.LoadWallet{Name: "../wallets"})
	refusal(t, err, -4, "Wallet file verification failed. "+relative)
	_, err = try(t, r.ref, messages.MigrateWallet{Name: "../wallets"})
	refusal(t, err, -4, relative)
}

// Names that no directory can have are refused without a word of temporary files.
func TestImpossibleNames(t *testing.T) {
	r := small(t, setup{})
	source := backup(t, "backups", "one-key")
	if err := os.WriteFile(filepath.Join(r.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{strings.Repeat("x", 256), "file/w", "a\x00b", strings.Repeat("d/", 3000) + "w"} {
		_, created := try(t, r.ref, messages.CreateWallet{Name: name})
		_, restored := try(t, r.ref, messages.RestoreWallet{Name: name, Backup: source})
		for _, err := range []error{created, restored} {
			if err == nil || strings.Contains(err.Error(), ".tmp") || strings.Contains(err.Error(), ".wallet.dat") {
				t.Errorf("%.20q: %.200v", name, err)
			}
		}
	}
	if entries, err := os.ReadDir(r.dir); err != nil || len(entries) != 1 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
}

// A suggested name is free, however many are taken.
func TestSuggestedName(t *testing.T) {
	r := small(t, setup{})
	source := backup(t, "backups", "one-key")
	seen := map[string]bool{}
	for range 8 {
		name := do(t, r.ref, messages.PreviewRestore{Backup: source}).Plan.Name
		if seen[name] {
			t.Fatalf("%q is suggested again", name)
		}
		seen[name] = true
		if err := os.Mkdir(filepath.Join(r.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if !seen["one-key-restored"] || !seen["one-key-7"] {
		t.Errorf("names %q", slices.Sorted(maps.Keys(seen)))
	}
}

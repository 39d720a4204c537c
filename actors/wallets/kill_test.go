package wallets_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// The environment of a child process of this test.
const (
	childDir    = "WALLETS_TEST_DIR"
	childBackup = "WALLETS_TEST_BACKUP"
)

func asWalletError(err error, to **messages.WalletError) bool { return errors.As(err, to) }

// TestRestoreChild is what the child runs: it restores a wallet and throws it
// away, again and again, until it is killed.
func TestRestoreChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("runs in a process of its own")
	}
	r := newRig(t, killChain(), setup{dir: dir, noFilters: true, keyPool: 4, now: genesis})
	fmt.Println("ready")
	for {
		do(t, r.ref, messages.RestoreWallet{Name: "w/inner", Backup: os.Getenv(childBackup)})
		fmt.Println("restored")
		do(t, r.ref, messages.UnloadWallet{Name: "w/inner"})
		if err := os.Remove(filepath.Join(dir, "w/inner", walletdb.FileName)); err != nil {
			t.Fatal(err)
		}
	}
}

// Whenever the process is killed, there is no wallet or a whole one, what was
// there before is as it was, and the same restoration succeeds afterwards.
func TestKillWhileRestoring(t *testing.T) {
	path, _ := maker(t, 4)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	magic := enginetest.Regtest(t).Magic
	for n := range cases(8, 500) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			dir := t.TempDir()
			before := map[string][]byte{"w/inner/notes.txt": []byte("mine"), "other/wallet.dat": content}
			for name, content := range before {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			killChild(t, dir, path, time.Duration(rand.IntN(60))*time.Millisecond)
			for name, content := range before {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s has changed: %v", name, err)
				}
			}
			file := filepath.Join(dir, "w/inner", walletdb.FileName)
			if _, err := os.Stat(file); err == nil {
				db, err := walletdb.Open(file, walletdb.Options{Magic: magic})
				if err != nil {
					t.Fatalf("half a wallet: %v", err)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			r := newRig(t, killChain(), setup{dir: dir, noFilters: true, keyPool: 4, now: genesis})
			_, err := try(t, r.ref, messages.RestoreWallet{Name: "w/inner", Backup: path})
			if err != nil && !afterwards(t, dir) {
				t.Fatalf("second try: %v, beside %q", err, files(t, dir))
			}
			if err == nil {
				do(t, r.wallet(t, "w/inner"), messages.GetWalletInfo{})
				for _, name := range files(t, dir) {
					if strings.Contains(name, ".tmp") {
						t.Errorf("%s is left", name)
					}
				}
				if slices.Contains(files(t, dir), "w/inner/.wallet.dat.restoring") {
					t.Error("a mark is left")
				}
			}
		})
	}
}

// afterwards reports whether the child was killed between two restorations,
// when the wallet was complete and in use.
func afterwards(tb testing.TB, dir string) bool {
	tb.Helper()
	left := files(tb, dir)
	return slices.Contains(left, "w/inner/wallet.dat") && !slices.Contains(left, "w/inner/.wallet.dat.restoring")
}

func killChain() *chaintest.Chain {
	chain := newChain()
	chain.MineN(30)
	return chain
}

// killChild lets a child restore for a time and kills it.
func killChild(t *testing.T, dir, path string, after time.Duration) {
	t.Helper()
	killTest(t, "TestRestoreChild", dir, path, after)
}

// killTest lets a test run for a time in a process of its own, which it kills.
func killTest(t *testing.T, name, dir, path string, after time.Duration) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+name+"$")
	child.Env = append(os.Environ(), childDir+"="+dir, childBackup+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
	}
	timer := time.NewTimer(after)
	<-timer.C
	if err := child.Process.Kill(); err != nil {
		t.Error(err)
	}
	for lines.Scan() {
	}
	_ = child.Wait()
}

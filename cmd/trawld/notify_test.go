package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corelog"
)

// waitForFiles returns the names of n files that appear in a directory.
func waitForFiles(t *testing.T, dir string, n int) []string {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { // made, and not written yet
			info, err := e.Info()
			return err != nil || info.Size() == 0
		})
		if len(entries) >= n || time.Since(began) > 30*time.Second {
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if len(names) != n {
				t.Fatalf("%d files, want %d: %q", len(names), n, names)
			}
			return names
		}
	}
}

// The commands of the options are run with their subject: for each block, for each transaction of a wallet, and for
// the transactions that a rescan finds. A command that never ends does not hold up the end of the node.
func TestNotifyCommands(t *testing.T) {
	blocks, txs := t.TempDir(), t.TempDir()
	d := runDaemon(
		t, "-rpcuser=u", "-rpcpassword="+password, "-listen=0", "-connect=0", "-printtoconsole=0",
		"-blocknotify=echo > "+blocks+"/%s; test -e "+blocks+"/slow && sleep 20",
		"-walletnotify=echo %h_%b > "+txs+"/%w_%s",
	)
	login := "u:" + password
	d.post(t, login, `{"method":"createwallet","params":["it's a wallet"]}`)
	_, address, _ := strings.Cut(d.post(t, login, `{"method":"getnewaddress"}`), `"result":"`)
	address, _, _ = strings.Cut(address, `"`)
	mined := d.post(t, login, `{"method":"generatetoaddress","params":[5,"`+address+`"]}`)
	for _, hash := range waitForFiles(t, blocks, 5) {
		if len(hash) != 64 || !strings.Contains(mined, hash) {
			t.Errorf("told of block %s", hash)
		}
	}
	for _, name := range waitForFiles(t, txs, 5) {
		text, err := os.ReadFile(filepath.Join(txs, name))
		height, block, ok := strings.Cut(strings.TrimSpace(string(text)), "_")
		if err != nil || !ok || !strings.Contains("12345", height) || !strings.Contains(mined, block) ||
			!strings.HasPrefix(name, "it's a wallet_") || len(name) != len("it's a wallet_")+64 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range waitForFiles(t, txs, 5) {
		if err := os.Remove(filepath.Join(txs, name)); err != nil {
			t.Fatal(err)
		}
	}
	d.post(t, login, `{"method":"rescanblockchain"}`)
	waitForFiles(t, txs, 5) // what a rescan finds again is told again
	if err := os.WriteFile(filepath.Join(blocks, "slow"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.post(t, login, `{"method":"generatetoaddress","params":[1,"`+address+`"]}`)
	waitForFiles(t, blocks, 7)
	began := time.Now()
	if log := d.stop(t, login); !strings.Contains(log, "still runs") {
		t.Errorf("logged %s", log[max(0, len(log)-1000):])
	}
	if took := time.Since(began); took > notifyGrace+15*time.Second {
		t.Errorf("the end took %v", took)
	}
}

// A command has none of the program's files, and its failure is logged.
func TestCommandsOfTheShell(t *testing.T) {
	var out bytes.Buffer
	output, err := corelog.Open("", &out)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := &session{log: slog.New(corelog.New(output, nil, corelog.Layout{}))}
	list := filepath.Join(t.TempDir(), "files")
	s.runCommand(context.Background(), "ls -l /proc/self/fd > "+list+"; cat; exit 3")
	text, err := os.ReadFile(list)
	if err != nil || strings.Contains(string(text), file.Name()) {
		t.Errorf("%s, %v", text, err)
	}
	if want := "runCommand error: system(ls"; !strings.Contains(out.String(), want) ||
		!strings.HasSuffix(out.String(), "returned 3\n") {
		t.Errorf("logged %q", out.String())
	}
}

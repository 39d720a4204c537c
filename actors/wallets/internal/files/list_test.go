package files

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Unreadable entries are logged, and the rest is listed. A folder without a wallet is not
// logged.
func TestListTellsOfFailures(t *testing.T) {
	dir := t.TempDir()
	magic := [4]byte{1, 2, 3, 4}
	wallet := make([]byte, 512)
	copy(wallet, "SQLite format 3\x00")
	copy(wallet[68:], magic[:])
	for _, name := range []string{"good", "empty", "loop"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "good", "wallet.dat"), wallet, 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop", "wallet.dat")
	if err := os.Symlink("wallet.dat", loop); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	found := List(dir, magic, slog.New(slog.NewTextHandler(&log, nil)))
	if len(found) != 1 || found[0].Name != "good" {
		t.Errorf("found %+v", found)
	}
	if text := log.String(); strings.Count(text, "Error while scanning wallet dir item: ") != 1 ||
		!strings.Contains(text, loop) || strings.Contains(text, "empty") {
		t.Errorf("log: %s", text)
	}
}

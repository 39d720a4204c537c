//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A kill in the middle of createfromdump leaves no wallet, and the next try makes a whole one.
func TestKilledCreation(t *testing.T) {
	p := newPlace(t)
	var lines strings.Builder
	lines.WriteString("BITCOIN_CORE_WALLET_DUMP,1\nformat,sqlite\n")
	for i := range 1000 {
		fmt.Fprintf(&lines, "%08x,%s\n", i, strings.Repeat("ab", 500))
	}
	text := summed(lines.String())
	pipe := filepath.Join(p.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-datadir="+p.dir, "-regtest", "-wallet=w", "-dumpfile="+pipe, "createfromdump")
	cmd.Env = append(os.Environ(), runMark+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// A pipe holds 64 KiB: what is written has been read but for that, and records are in the new file's transaction.
	if _, err := w.WriteString(text[:len(text)/2]); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it has ended by itself")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(p.file("w")); err == nil {
		t.Error("there is a wallet")
	}
	if left, err := os.ReadDir(filepath.Join(p.wallets(), "w")); err != nil || len(left) == 0 {
		t.Errorf("it was killed before it began: %v, %v", left, err)
	}
	path := p.write("whole.dump", []byte(text))
	p.want(result{}, "-wallet=w", "-dumpfile="+path, "createfromdump")
	if got := string(p.read(p.dump("w", "again.dump"))); got != text {
		t.Error("another dump")
	}
	if left, err := os.ReadDir(filepath.Join(p.wallets(), "w")); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

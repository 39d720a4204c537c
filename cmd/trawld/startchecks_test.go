package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Damage of the last blocks ends the start where -checklevel and -checkblocks have it looked for.
func TestStartChecks(t *testing.T) {
	args := []string{"-rpcuser=u", "-rpcpassword=" + password, "-listen=0", "-connect=0", "-printtoconsole=0"}
	d := runDaemon(t, args...)
	d.post(t, "u:"+password, `{"method":"generatetodescriptor","params":[3,"raw(51)"]}`)
	d.post(t, "u:"+password, `{"method":"stop"}`)
	if status := <-d.status; status != 0 {
		t.Fatalf("status %d: %s", status, d.stderr.String())
	}
	path := filepath.Join(d.dir, "regtest", "blocks", "rev00000.dat")
	undo, err := os.ReadFile(path)
	if err != nil || len(undo) == 0 {
		t.Fatalf("%d bytes of undo data, %v", len(undo), err)
	}
	undo[1] ^= 1 // of the record of the first block
	if err := os.WriteFile(path, undo, 0o600); err != nil {
		t.Fatal(err)
	}
	const corrupted = "Corrupted block database detected.\nPlease restart with -reindex or -reindex-chainstate to recover.\n"
	for _, test := range []struct {
		args   []string
		status int
		stderr string
	}{
		{nil, 1, corrupted},
		{[]string{"-checklevel=1"}, 0, ""},
		{[]string{"-checklevel=2", "-checkblocks=0"}, 1, corrupted},
		{[]string{"-checklevel=4", "-checkblocks=2"}, 0, ""},
	} {
		var stdout, stderr bytes.Buffer
		all := append([]string{"-datadir=" + d.dir, "-regtest", "-server=0", "-stopatheight=1"}, args...)
		all = append(all, test.args...)
		status := run(append(all, "-printtoconsole=1"), streams{&stdout, &stderr, d.dir}, startNode)
		if status != test.status || stderr.String() != test.stderr {
			t.Errorf("%q: status %d, %q", test.args, status, stderr.String())
		}
		if !bytes.Contains(stdout.Bytes(), []byte("init message: Verifying blocks…\n")) {
			t.Errorf("%q: it is not told that blocks are looked at: %s", test.args, &stdout)
		}
	}
}

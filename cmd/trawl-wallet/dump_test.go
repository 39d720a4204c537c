package main

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
)

const dumped = "The dumpfile may contain private keys. To ensure the safety of your Bitcoin, do not share the dumpfile.\n"

// dump writes the dump of a wallet and returns the dump's path.
func (p *place) dump(wallet, name string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	p.want(result{out: dumped}, "-wallet="+wallet, "-dumpfile="+path, "dump")
	return path
}

// summed returns lines with their checksum behind.
func summed(lines string) string {
	once := sha256.Sum256([]byte(lines))
	return lines + fmt.Sprintf("checksum,%x\n", sha256.Sum256(once[:]))
}

// A dump has the rows of the table in their order, as Core's tool writes them.
func TestDump(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"default", "encrypted-imported", "history", "many", "blank"} {
		p.recorded(name)
		db, err := sql.Open("sqlite", "file:"+p.file(name)+"?mode=ro&immutable=1")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := db.QueryContext(t.Context(), "SELECT key, value FROM main ORDER BY rowid")
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		want.WriteString("BITCOIN_CORE_WALLET_DUMP,1\nformat,sqlite\n")
		for rows.Next() {
			var key, value []byte
			if err := rows.Scan(&key, &value); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&want, "%x,%x\n", key, value)
		}
		if err := errors.Join(rows.Err(), rows.Close(), db.Close()); err != nil {
			t.Fatal(err)
		}
		path := p.dump(name, name+".dump")
		if got := string(p.read(path)); got != summed(want.String()) {
			t.Errorf("%s: got %d bytes\n%.300s", name, len(got), got)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		// A wallet made of the dump has the same dump, byte by byte.
		p.want(result{}, "-wallet=new-"+name, "-dumpfile="+path, "createfromdump")
		if again := p.read(p.dump("new-"+name, name+".again")); !bytes.Equal(again, p.read(path)) {
			t.Errorf("%s: another dump", name)
		}
		p.want(p.renamed(name, "new-"+name), "-wallet=new-"+name, "info")
	}
}

// renamed is what info prints of a wallet, with another name.
func (p *place) renamed(name, as string) result {
	r := p.run("-wallet="+name, "info")
	r.out = strings.Replace(r.out, "Name: "+name, "Name: "+as, 1)
	return r
}

// A legacy wallet is dumped by ascending keys, and no wallet is made of such a dump.
func TestDumpLegacy(t *testing.T) {
	p := newPlace(t)
	p.write("regtest/wallets/old/wallet.dat", legacytest.File(t, "mixed"))
	p.write("regtest/wallets/file", legacytest.File(t, "mixed"))
	path := p.dump("old", "old.dump")
	if lines := strings.Split(string(p.read(path)), "\n"); lines[1] != "format,bdb" || len(lines) < 10 {
		t.Errorf("%q", lines[:2])
	}
	if !bytes.Equal(p.read(p.dump("file", "file.dump")), p.read(path)) {
		t.Error("another dump of the file itself")
	}
	p.want(failed("Error: Dumpfile specifies an unsupported database format (bdb). Only sqlite database dumps are supported"),
		"-wallet=new", "-dumpfile="+path, "createfromdump")
	p.absent("new")
	p.want(failed("Failed to open database path '"+p.wallets()+"/old'. The wallet appears to be a Legacy wallet, please use "+
		"the wallet migration tool (migratewallet RPC or the GUI option)."), "-wallet=old", "info")
}

// Wrong files of dump and createfromdump are refused in Core's words, and nothing is left.
func TestDumpRefusals(t *testing.T) {
	p := newPlace(t)
	p.recorded("one-key")
	path := p.dump("one-key", "w.dump")
	const exists = " already exists. If you are sure this is what you want, move it out of the way first."
	missing := filepath.Join(p.dir, "no", "w.dump")
	p.want(failed("No dump file provided. To use dump, -dumpfile=<filename> must be provided."), "-wallet=one-key", "dump")
	p.want(failed("File "+path+exists), "-wallet=one-key", "-dumpfile="+path, "dump")
	p.want(failed("Unable to open "+missing+" for writing"), "-wallet=one-key", "-dumpfile="+missing, "dump")
	p.want(failed("No dump file provided. To use createfromdump, -dumpfile=<filename> must be provided."),
		"-wallet=new", "createfromdump")
	p.want(failed("Dump file "+missing+" does not exist."), "-wallet=new", "-dumpfile="+missing, "createfromdump")
	p.want(failed("Failed to create database path '"+p.wallets()+"/one-key'. Database already exists."),
		"-wallet=one-key", "-dumpfile="+path, "createfromdump")
	t.Chdir(p.dir)
	p.want(failed("File "+path+exists), "-wallet=one-key", "-dumpfile=w.dump", "dump")
}

// No wallet is made of a dump that is not whole and right.
func TestCreateFromBrokenDump(t *testing.T) {
	p := newPlace(t)
	const head = "BITCOIN_CORE_WALLET_DUMP,1\nformat,sqlite\n"
	sum := func(lines string) string { return strings.TrimSpace(strings.Split(summed(lines), "checksum,")[1]) }
	ones := strings.Repeat("1", 64)
	for _, test := range []struct{ text, want string }{
		{"", `Error: Dumpfile identifier record is incorrect. Got "", expected "BITCOIN_CORE_WALLET_DUMP".`},
		{"x,1\n", `Error: Dumpfile identifier record is incorrect. Got "x", expected "BITCOIN_CORE_WALLET_DUMP".`},
		{"BITCOIN_CORE_WALLET_DUMP,0\n", "Error: Dumpfile version is not supported. This version of bitcoin-wallet only " +
			"supports version 1 dumpfiles. Got dumpfile with version 0"},
		{"BITCOIN_CORE_WALLET_DUMP,2\n", "Error: Dumpfile version is not supported. This version of bitcoin-wallet only " +
			"supports version 1 dumpfiles. Got dumpfile with version 2"},
		{"BITCOIN_CORE_WALLET_DUMP,+1\n", "Error: Unable to parse version +1 as a uint32_t"},
		{"BITCOIN_CORE_WALLET_DUMP,1\r\n", "Error: Unable to parse version 1\r as a uint32_t"},
		{"BITCOIN_CORE_WALLET_DUMP,1\nform,sqlite\n",
			`Error: Dumpfile format record is incorrect. Got "form", expected "format".`},
		{head, "Error: Missing checksum"},
		{head + "00,00\n", "Error: Missing checksum"},
		{head + "00,00\nchecksum," + strings.Repeat("0", 64), "Error: Missing checksum"},
		{head + "00,00\nchecksum," + ones, "Error: Dumpfile checksum does not match. Computed " + sum(head+"00,00\n") + ", expected " + ones},
		{head + "00,00\nchecksum," + strings.Repeat("2", 10), "Error: Checksum is not the correct size"},
		{head + "00,00\nchecksum," + strings.Repeat("3", 66), "Error: Checksum is not the correct size"},
		{head + "00,00\nchecksum,x" + ones, "Error: Checksum is not the correct size"},
		{summed(head + "0,00\n"), "Error: Got key that was not hex: 0"},
		{summed(head + "xy,00\n"), "Error: Got key that was not hex: xy"},
		{summed(head + "00,0g\n"), "Error: Got value that was not hex: 0g"},
		{summed(head + "00 01\n02,03\n"), "Error: Got key that was not hex: 00 01\n02"},
	} {
		path := p.write("broken.dump", []byte(test.text))
		p.want(failed(test.want), "-wallet=bad/w", "-dumpfile="+path, "createfromdump")
		p.absent("bad/w")
	}
	// Core takes these: what follows the checksum, space in it, empty sides, keys that come again.
	path := p.write("odd.dump", []byte(strings.Replace(
		summed(head+"0A,0B\n,\n0c,\n,0d\n0a,0c\n"), "checksum,", "checksum, \t", 1)+"anything"))
	p.want(result{}, "-wallet=odd", "-dumpfile="+path, "createfromdump")
	want := summed(head + "0a,0c\n")
	if got := string(p.read(p.dump("odd", "odd.again"))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// On a disk that fills up or fails no dump is left, whichever write it is.
func TestDumpOnFullDisk(t *testing.T) {
	for n := 0; ; n++ {
		dir := t.TempDir()
		path := filepath.Join(dir, "w.dump")
		disk := faultfs.New()
		disk.Inject(faultfs.Nth(n, syscall.ENOSPC))
		err := writeNew(disk, path, func(w io.Writer) error {
			for range 64 {
				if _, err := io.WriteString(w, strings.Repeat("text", 1<<10)); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			if content, err := os.ReadFile(path); err != nil || len(content) != 4<<16 || n < 6 {
				t.Errorf("after %d steps: %d bytes, %v", n, len(content), err)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("step %d: %v", n, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("step %d: %v, %v", n, left, err)
		}
	}
}

// A half of a dump, as a kill leaves, makes no wallet.
func TestHalfDump(t *testing.T) {
	p := newPlace(t)
	p.recorded("one-key")
	whole := p.read(p.dump("one-key", "w.dump"))
	for n := range whole {
		if n > 60 && n < len(whole)-20 && n%499 != 0 {
			continue
		}
		path := p.write("half.dump", whole[:n])
		if n == len(whole)-1 { // the end of the last line alone is missing
			continue
		}
		if got := p.run("-wallet=half", "-dumpfile="+path, "createfromdump"); got.status != exitFailure || got.err == "" {
			t.Fatalf("%d bytes: %+v", n, got)
		}
		p.absent("half")
	}
	if _, err := hex.DecodeString(strings.TrimSpace(strings.Split(string(whole), "checksum,")[1])); err != nil {
		t.Error(err)
	}
}

package legacytest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed testdata
var files embed.FS

// File returns the wallet file of a kind as Berkeley DB's db5.3_load made it, of the
// records of [Make] on regtest with the genesis block as the last one seen. Every other
// kind is in big endian order. With -record the package's test makes them anew.
func File(tb testing.TB, kind string) []byte {
	tb.Helper()
	packed, err := files.ReadFile("testdata/" + kind + ".dat.gz")
	if err != nil {
		tb.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

// Load has db5.3_load make a file of a text as [Dump] writes it. The order is 1234 for
// little endian, 4321 for big.
func Load(tb testing.TB, program, order, dump string) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "wallet.dat")
	load := exec.CommandContext(tb.Context(), program, "-c", "db_lorder="+order, path)
	load.Stdin = strings.NewReader(dump)
	if out, err := load.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(path) //nolint:gosec // made above
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

package legacytest_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
)

var record = flag.Bool("record", false, "have db5.3_load make the files of testdata anew")

// TestFiles makes the files of [legacytest.File] with Berkeley DB's own program, or
// checks that there is one of each kind and byte order.
func TestFiles(t *testing.T) {
	net := descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	seen := walletfile.Locator{*chaincfg.RegressionNetParams.GenesisHash}
	for i, kind := range legacytest.Kinds {
		order := []string{"1234", "4321"}[i%2]
		if *record {
			makeFile(t, kind, order, legacytest.Make(kind, net, seen).Records)
			continue // what is embedded is of before
		}
		content := legacytest.File(t, kind)
		big := content[12] == 0 // the first byte of the magic
		if want := order == "4321"; big != want {
			t.Errorf("%s: big endian is %v", kind, big)
		}
	}
}

func makeFile(t *testing.T, kind, order string, records []walletfile.Record) {
	t.Helper()
	var dump strings.Builder
	if err := legacytest.Dump(&dump, records); err != nil {
		t.Fatal(err)
	}
	content := legacytest.Load(t, "db5.3_load", order, dump.String())
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.Copy(w, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", kind+".dat.gz"), packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The kinds are what the names say: none is empty, and all are different.
func TestKinds(t *testing.T) {
	net := descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	var seen [][]byte
	for _, kind := range legacytest.Kinds {
		var all []byte
		for _, r := range legacytest.Make(kind, net, nil).Records {
			all = append(append(all, r.Key...), r.Value...)
		}
		if len(all) == 0 || slices.ContainsFunc(seen, func(b []byte) bool { return bytes.Equal(b, all) }) {
			t.Errorf("%s: like another", kind)
		}
		seen = append(seen, all)
	}
}

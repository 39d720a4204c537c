package e2e_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

var digits = regexp.MustCompile(`\d+`)

// databases are the folders whose files are goleveldb's. store/schema.md has the keys.
var databases = []string{
	"chainstate", "indexes/blockfilter/basic/db", "indexes/txindex", "indexes/coinstatsindex", "indexes/txospenderindex",
	"searches",
}

// Every file that a daemon with everything on writes has its place in
// store/schema.md, and every folder that is named there is made.
func TestSchemaListsEveryFile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "store", "schema.md"))
	if err != nil {
		t.Fatal(err)
	}
	schema := digits.ReplaceAllString(strings.ReplaceAll(string(text), "?????", "0"), "0")
	d := e2e.Start(t, e2e.Config{Chain: "regtest", P2P: e2e.FreeAddr(t), Args: []string{
		"-blockfilterindex", "-rangefilters", "-txindex", "-coinstatsindex", "-txospenderindex", "-scriptindex", "-keypool=5",
	}})
	d.Get(nil, "createwallet", "w", false, false, "", false, true, true)
	d.Get(nil, "createwallet", "plain")
	d.Get(nil, "generatetodescriptor", 20, "raw(51)#8lvh9jxk")
	d.Get(nil, "setban", "192.0.2.1", "add")
	d.Get(nil, "savemempool")
	running := filesOf(t, d.Dir)
	d.Stop()
	made := map[string]bool{}
	for _, file := range slices.Concat(running, filesOf(t, d.Dir)) {
		inNet, ok := strings.CutPrefix(file, "regtest/")
		if !ok {
			t.Errorf("%s is outside of the network's directory", file)
			continue
		}
		if i := slices.IndexFunc(
			databases, func(dir string) bool { return strings.HasPrefix(inNet, dir+"/") },
		); i >= 0 {
			made[databases[i]] = true
			if !strings.Contains(schema, databases[i]) && !strings.Contains(schema, filepath.Dir(databases[i])+"/") {
				t.Errorf("store/schema.md lacks the database %s", databases[i])
			}
			if name := filepath.Base(inNet); name != "SUSPECT" {
				continue
			}
		}
		if name := digits.ReplaceAllString(filepath.Base(inNet), "0"); !strings.Contains(schema, name) {
			t.Errorf("store/schema.md lacks %s", inNet)
		}
	}
	if len(made) != len(databases) {
		t.Errorf("only %v were made", made)
	}
}

// filesOf returns the files below a folder, with slashes.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

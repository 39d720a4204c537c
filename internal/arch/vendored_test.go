package arch

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The files of others are those that were brought: each folder of them has exactly the files that are in its
// list, with their hashes.
func TestVendoredFiles(t *testing.T) {
	const list = "SHA256SUMS"
	root := filepath.Join("..", "..")
	folders := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" || path == filepath.Join(root, "bin") {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if d.Name() != list {
			return nil
		}
		folders++
		checkVendored(t, filepath.Dir(path), list)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if folders < 1 {
		t.Errorf("%d folders with a list", folders)
	}
}

func checkVendored(t *testing.T, dir, list string) {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(dir, list))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{list: ""}
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || len(sum) != 2*sha256.Size {
			t.Errorf("%s: line %q", dir, lines.Text())
		}
		want[name] = sum
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Name())
		content, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); file.Name() != list && got != want[file.Name()] {
			t.Errorf("%s in %s has the hash %s, not %q", file.Name(), dir, got, want[file.Name()])
		}
	}
	if wanted := slices.Sorted(maps.Keys(want)); !slices.Equal(names, wanted) {
		t.Errorf("%s has %v, not %v", dir, names, wanted)
	}
}

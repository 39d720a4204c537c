package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The bytes of an archive depend on its files alone, in whatever order they come.
func TestArchiveIsReproducible(t *testing.T) {
	b := &build{time: time.Unix(1_700_000_000, 0).UTC()}
	files := []file{{"bin/a", 0o755, []byte("program")}, {"README.md", 0o644, []byte("text")}}
	var packed [2][]byte
	for i := range packed {
		path := filepath.Join(t.TempDir(), "x.tar.gz")
		if err := b.archive(path, "trawl-1", files); err != nil {
			t.Fatal(err)
		}
		var err error
		if packed[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(files)
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("two archives of the same files differ")
	}
	names := map[string]int64{}
	eachFile(t, packed[0], func(h *tar.Header, _ []byte) {
		names[h.Name] = h.Mode
		if !h.ModTime.Equal(b.time) || h.Uid != 0 || h.Uname != "" {
			t.Errorf("%s of %v, user %d %q", h.Name, h.ModTime, h.Uid, h.Uname)
		}
	})
	if len(names) != 2 || names["trawl-1/bin/a"] != 0o755 || names["trawl-1/README.md"] != 0o644 {
		t.Errorf("got %v", names)
	}
}

// eachFile reads a tar, which may be packed.
func eachFile(t *testing.T, text []byte, visit func(*tar.Header, []byte)) {
	t.Helper()
	var from io.Reader = bytes.NewReader(text)
	if zip, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		from = zip
	}
	for archive := tar.NewReader(from); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		visit(h, content)
	}
}

func TestRefusals(t *testing.T) {
	for _, version := range []string{"", "1", "v1.2.3", "1.2.3 4", "1.2.3/../x"} {
		if err := run(version, ".", t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "no version") {
			t.Errorf("%q: %v", version, err)
		}
	}
	err := run("1.2.3", ".", t.TempDir(), "plan9/amd64")
	if err == nil || !strings.Contains(err.Error(), "no platform") {
		t.Error(err)
	}
	if all, err := choose(""); err != nil || len(all) != 6 {
		t.Errorf("got %v, %v", all, err)
	}
	if some, err := choose("linux/arm64,freebsd/amd64"); err != nil || len(some) != 2 || some[1].os != "freebsd" {
		t.Errorf("got %v, %v", some, err)
	}
}

var link = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)

// Archives have the documents and files that README and the documents link to, except sources.
func TestDocumentsAreTogether(t *testing.T) {
	b := &build{source: "../.."}
	files, err := b.shared()
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, f := range files {
		for name := f.name; name != "."; name = path.Dir(name) { // its folders too
			there[name] = true
		}
	}
	checked := 0
	for _, f := range files {
		if path.Ext(f.name) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(f.text), -1) {
			to := path.Join(path.Dir(f.name), m[1])
			if !strings.HasPrefix(to, "docs") && !strings.HasPrefix(to, "deploy") {
				continue // the sources, and what is for who works on them
			}
			if checked++; !there[to] {
				t.Errorf("%s points to %s, which is not in the archive", f.name, to)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d links", checked)
	}
}

// A checkout with changes is not released: nobody could make the same again.
func TestChangesAreRefused(t *testing.T) {
	dir := t.TempDir()
	b := &build{source: dir}
	if _, err := b.git("init", "-q"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := run("1.2.3", dir, t.TempDir(), "")
	if err == nil || !strings.Contains(err.Error(), "changes that are in no commit") {
		t.Error(err)
	}
}

// A module without terms is refused; all terms of a module are included.
func TestTerms(t *testing.T) {
	dir := t.TempDir()
	var text bytes.Buffer
	if err := addTerms(&text, module{Path: "example.com/x", Dir: dir}); err == nil || text.Len() > 0 {
		t.Errorf("got %v, %q", err, text.String())
	}
	for _, name := range []string{"LICENSE-MIT", "Copying", "NOTICE.txt", "license.go", "README"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("terms of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := addTerms(&text, module{Path: "example.com/x", Version: "v1.0.0", Dir: dir}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"example.com/x v1.0.0: LICENSE-MIT\n", "terms of Copying", "terms of NOTICE.txt"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "license.go") || strings.Contains(text.String(), "README") {
		t.Errorf("too much in\n%s", text.String())
	}
}

// Each module that the programs link on this machine has terms, and modules that only
// tests use are not included.
func TestTermsOfModules(t *testing.T) {
	b := &build{source: "../.."}
	text, err := b.licences(platforms[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Go: LICENSE\n", "github.com/asynkron/protoactor-go v", "modernc.org/sqlite v"} {
		if !strings.Contains(string(text), "\n"+want) && !strings.HasPrefix(string(text), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(string(text), "pgregory.net/rapid") {
		t.Error("a module of the tests is among what is passed on")
	}
}

// Each file that the Debian package names is a file that the release makes.
func TestPackageFiles(t *testing.T) {
	config, err := os.ReadFile("../debian/nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{
		"bin/trawld": true, "bin/trawl-cli": true, "bin/trawl-wallet": true, "bin/trawl-load": true,
		"THIRD-PARTY-LICENCES": true,
		"debian/postinst":      true, "debian/prerm": true, "debian/postrm": true, "docs": true, "deploy": true,
	}
	for from, to := range copied {
		made[to] = true
		if _, err := os.Stat(filepath.Join("../..", from)); err != nil {
			t.Error(err)
		}
	}
	for _, to := range completions {
		made[to] = true
	}
	for _, named := range regexp.MustCompile(`@STAGE@/([^"]+)"`).FindAllStringSubmatch(string(config), -1) {
		name := named[1]
		if strings.HasPrefix(name, "man/") {
			name = strings.TrimSuffix(name, ".gz")
		}
		if !made[name] {
			t.Errorf("nfpm.yaml names %s, which is not made", named[1])
		}
	}
}

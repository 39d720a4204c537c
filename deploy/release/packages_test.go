package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The tests of whole releases, which need root on Debian, its packages, and half an hour:
// make test-packages.
const packagesEnv = "TRAWL_PACKAGES"

func packagesOnly(t *testing.T) {
	t.Helper()
	if os.Getenv(packagesEnv) == "" {
		t.Skip(packagesEnv + " is not set: make test-packages")
	}
}

// command runs a program to its end, which has to be good, and returns what it prints.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// source is the last commit as it was when the first test asked for it: who works in the checkout meanwhile
// changes nothing.
var source = sync.OnceValues(func() (dir string, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "trawl-source"); err != nil {
		return "", err
	}
	return dir, exec.Command("git", "clone", "-q", "--no-hardlinks", root, dir).Run()
})

// sourceDir returns the folder of source.
func sourceDir(t *testing.T) string {
	t.Helper()
	dir, err := source()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// clone copies the commit that is tested into a folder of its own.
func clone(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a clone", "trawl")
	command(t, ".", nil, "git", "clone", "-q", "--no-hardlinks", sourceDir(t), dir)
	return dir
}

// releases are those of versions of this tree for this machine, made once.
var releases = struct {
	sync.Mutex

	dir map[string]string
}{dir: map[string]string{}}

// released makes a release of Linux on this machine's kind of processor.
func released(t *testing.T, version string) (dir string) {
	t.Helper()
	releases.Lock()
	defer releases.Unlock()
	if dir, ok := releases.dir[version]; ok {
		return dir
	}
	dir, err := os.MkdirTemp("", "trawl-released") //nolint:usetesting // the tests after this one have it too
	if err != nil {
		t.Fatal(err)
	}
	if err := run(version, clone(t), dir, "linux/amd64"); err != nil {
		t.Fatal(err)
	}
	releases.dir[version] = dir
	return dir
}

func TestMain(m *testing.M) {
	status := m.Run()
	if os.Getenv(packagesEnv) != "" {
		if dir, _ := source(); dir != "" {
			_ = os.RemoveAll(dir)
		}
	}
	for _, dir := range releases.dir {
		_ = os.RemoveAll(dir)
	}
	os.Exit(status)
}

// Two builds of a revision in different folders are the same byte for byte. PLATFORMS limits the
// platforms.
func TestReproducible(t *testing.T) {
	packagesOnly(t)
	var sums [2][]byte
	var names []string
	for i := range sums {
		t.Setenv("GOCACHE", t.TempDir()) // or the second would have the objects of the first
		out := filepath.Join(t.TempDir(), "dist")
		if err := run("0.1.0-rc.1", clone(t), out, os.Getenv("PLATFORMS")); err != nil {
			t.Fatal(err)
		}
		var err error
		if sums[i], err = os.ReadFile(filepath.Join(out, "SHA256SUMS")); err != nil {
			t.Fatal(err)
		}
		command(t, out, nil, "sha256sum", "--check", "--quiet", "SHA256SUMS")
		entries, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		names = names[:0]
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	if !bytes.Equal(sums[0], sums[1]) {
		t.Errorf("the builds differ:\n%s\n%s", sums[0], sums[1])
	}
	chosen, err := choose(os.Getenv("PLATFORMS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range chosen {
		base := "trawl-0.1.0-rc.1-" + p.os + "-" + p.arch
		for _, want := range []string{base + ".tar.gz", base + ".cdx.json"} {
			if !strings.Contains(string(sums[0]), "  "+want+"\n") {
				t.Errorf("%s is missing among %v", want, names)
			}
		}
	}
}

// The programs of an archive run and know their version, and the archive has all files that README
// promises.
func TestArchiveRuns(t *testing.T) {
	packagesOnly(t)
	dir := released(t, "0.1.0")
	command(t, dir, nil, "tar", "xzf", "trawl-0.1.0-linux-amd64.tar.gz")
	base := filepath.Join(dir, "trawl-0.1.0-linux-amd64")
	defer os.RemoveAll(base)
	revision := strings.TrimSpace(command(t, sourceDir(t), nil, "git", "rev-parse", "HEAD"))
	got := command(t, base, nil, "bin/trawld", "-version")
	for _, want := range []string{
		"Trawl daemon version 0.1.0-" + revision[:12] + "\n", "\nRevision: " + revision + "\n", "\nKernel: ",
		"\nDialects: bitcoin, qbit\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, name := range []string{
		"README.md", "LICENSE", "THIRD-PARTY-LICENCES", "man/man1/trawld.1", "man/man5/trawl.conf.5",
		"completions/bash/trawl-cli", "completions/zsh/_trawl-cli", "completions/fish/trawl-cli.fish",
		"systemd/trawld.service", "docs/guides/operating.md", "deploy/grafana/trawl.json", "deploy/compose/compose.yaml",
	} {
		if info, err := os.Stat(filepath.Join(base, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	sbom, err := os.ReadFile(filepath.Join(dir, "trawl-0.1.0-linux-amd64.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"CycloneDX"`, "asynkron/protoactor-go"} {
		if !bytes.Contains(sbom, []byte(want)) {
			t.Errorf("%s is not in the list of contents", want)
		}
	}
}

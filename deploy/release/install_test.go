package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/seed61375155/trawl"

// moduleProxy writes this tree as a version into a folder that the go command takes for a
// module proxy. As when a proxy reads a tag, the version has the files that git knows,
// without nested modules.
func moduleProxy(t *testing.T, version string) (env []string) {
	t.Helper()
	source := clone(t)
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	var nested []string
	for name := range strings.Lines(command(t, source, nil, "git", "ls-files", "*/go.mod")) {
		nested = append(nested, strings.TrimSuffix(name, "go.mod\n"))
	}
	for name := range strings.Lines(command(t, source, nil, "git", "ls-files")) {
		name = strings.TrimSuffix(name, "\n")
		if slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		w, err := z.Create(modulePath + "@" + version + "/" + name)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := t.TempDir()
	dir := filepath.Join(proxy, modulePath, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"list":            []byte(version + "\n"),
		version + ".info": []byte(`{"Version":"` + version + `"}`), version + ".mod": mod,
		version + ".zip": packed.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known := strings.TrimSpace(command(t, source, nil, "go", "env", "GOMODCACHE"))
	return []string{
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(known, "cache", "download"), "GOFLAGS=-modcacherw -trimpath",
		"GOMODCACHE=" + t.TempDir(), "GONOSUMDB=*", "GONOSUMCHECK=1", "GOWORK=off", "CGO_ENABLED=0",
	}
}

// With nothing but Go installed, go install gets the programs from a tag.
func TestGoInstall(t *testing.T) {
	packagesOnly(t)
	const version = "v0.1.1-test"
	env := moduleProxy(t, version)
	bin := t.TempDir()
	for _, name := range programs {
		command(t, bin, append(env, "GOBIN="+bin), "go", "install", modulePath+"/cmd/"+name+"@"+version)
	}
	got := command(t, bin, nil, filepath.Join(bin, "trawld"), "-version")
	if !strings.HasPrefix(got, "Trawl daemon version "+strings.TrimPrefix(version, "v")+"\n") {
		t.Errorf("got %s", got)
	}
}

// The commands of the guide for embedders make a program that runs, as they stand: the program is put
// into the folder that they make.
func TestEmbedGuide(t *testing.T) {
	packagesOnly(t)
	guide, err := os.ReadFile("../../docs/embed.md")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	var script, prints string
	for block := range strings.SplitSeq(string(guide), "\n```") {
		kind, text, _ := strings.Cut(block, "\n")
		switch kind {
		case "sh":
			script += text + "\n"
		case "go":
			program := filepath.Join(home, "program")
			if err := os.WriteFile(program, []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			script += "cp " + program + " main.go\n"
		case "text":
			prints = text + "\n"
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	env := append(moduleProxy(t, "v0.1.1-test"), "GOTOOLCHAIN=local", "GOOS="+runtime.GOOS, "HOME="+home)
	out := command(t, root, env, "bash", "-e", "-c", script)
	if !strings.HasSuffix(out, prints) || prints == "" {
		t.Errorf("it prints\n%s\nand the guide says\n%s", out, prints)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// copied are files of the checkout that are in every archive, and their places there.
var copied = map[string]string{
	"README.md":                    "README.md",
	"CHANGELOG.md":                 "CHANGELOG.md",
	"SECURITY.md":                  "SECURITY.md",
	"LICENSE":                      "LICENSE",
	"docs/man/trawld.1":            "man/man1/trawld.1",
	"docs/man/trawl-cli.1":         "man/man1/trawl-cli.1",
	"docs/man/trawl-wallet.1":      "man/man1/trawl-wallet.1",
	"docs/man/trawl-load.1":        "man/man1/trawl-load.1",
	"docs/man/trawl.conf.5":        "man/man5/trawl.conf.5",
	"deploy/debian/trawld.service": "systemd/trawld.service",
	"deploy/debian/trawl.conf":     "systemd/trawl.conf",
	"deploy/debian/logrotate":      "systemd/logrotate",
}

// completions are the places of the client's scripts, by shell.
var completions = map[string]string{
	"bash": "completions/bash/trawl-cli",
	"zsh":  "completions/zsh/_trawl-cli",
	"fish": "completions/fish/trawl-cli.fish",
}

// shared returns the files that are the same for all platforms.
func (b *build) shared() ([]file, error) {
	var files []file
	for from, to := range copied {
		text, err := os.ReadFile(filepath.Join(b.source, from))
		if err != nil {
			return nil, err
		}
		files = append(files, file{to, 0o644, text})
	}
	documents, err := b.documents()
	if err != nil {
		return nil, err
	}
	files = append(files, documents...)
	here := platform{runtime.GOOS, runtime.GOARCH}
	for shell, to := range completions {
		text, err := b.goCommand(here, "run", "./cmd/trawl-cli", "-completion="+shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{to, 0o644, []byte(text)})
	}
	return files, nil
}

// documents returns what README and the guides point to, at its own place: the documents, and what an
// operator takes from deploy.
func (b *build) documents() ([]file, error) {
	var files []file
	for _, dir := range []string{"docs", "deploy/compose", "deploy/grafana", "deploy/haproxy", "deploy/kubernetes"} {
		names, err := b.git("ls-files", dir)
		if err != nil {
			return nil, err
		}
		for name := range strings.FieldsSeq(names) {
			if strings.HasPrefix(name, "docs/man/") || strings.HasSuffix(name, "_test.yml") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(b.source, name))
			if err != nil {
				return nil, err
			}
			files = append(files, file{name, 0o644, text})
		}
	}
	return files, nil
}

// A module is what the go command tells of one.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// modules returns the modules whose packages the programs link on a platform, in order.
func (b *build) modules(p platform) ([]module, error) {
	text, err := b.goCommand(p, "list", "-deps", "-json=Module", "./cmd/...")
	if err != nil {
		return nil, err
	}
	found := map[string]module{}
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var pkg struct{ Module *module }
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if m := pkg.Module; m != nil && !m.Main {
			found[m.Path] = *m
		}
	}
	list := slices.Collect(maps.Values(found))
	slices.SortFunc(list, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// licenceFile is what files with terms are called.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licences returns the terms of everything that is in the programs and not ours: those of Go
// itself, and of each module.
func (b *build) licences(p platform) ([]byte, error) {
	root, err := b.goCommand(p, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	list, err := b.modules(p)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, m := range slices.Concat([]module{{Path: "Go", Dir: strings.TrimSpace(root)}}, list) {
		if err := addTerms(&text, m); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// addTerms adds the terms of a module; one without any may not be passed on.
func addTerms(text *bytes.Buffer, m module) error {
	entries, err := os.ReadDir(m.Dir) // in order
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		terms, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		title := strings.TrimSpace(m.Path+" "+m.Version) + ": " + e.Name()
		fmt.Fprintf(text, "%s\n%s\n%s\n\n", title, strings.Repeat("-", 78), terms)
	}
	if !found {
		return fmt.Errorf("module %s has no file with its licence", m.Path)
	}
	return nil
}

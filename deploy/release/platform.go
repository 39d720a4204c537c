package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A platform is what a program is built for.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// platforms are those of a release.
var platforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"linux", "riscv64"},
	{"darwin", "arm64"},
	{"darwin", "amd64"},
	{"freebsd", "amd64"},
}

// programs are the programs that are built for each platform.
var programs = []string{"trawld", "trawl-cli", "trawl-wallet", "trawl-load"}

// thirdParty is the file with the terms of third-party code.
const thirdParty = "THIRD-PARTY-LICENCES"

// choose returns the named platforms, or all.
func choose(names string) ([]platform, error) {
	if names == "" {
		return platforms, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("no platform %q among %v", name, platforms)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// platform makes all files for one platform: archive and list of contents, and for Linux package and
// image.
func (b *build) platform(p platform, shared []file) error {
	dir := filepath.Join(b.work, p.os, p.arch)
	if err := b.compile(p, dir); err != nil {
		return err
	}
	files := slices.Clone(shared)
	for _, name := range programs {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		files = append(files, file{"bin/" + name, 0o755, text})
	}
	licences, err := b.licences(p)
	if err != nil {
		return err
	}
	files = append(files, file{thirdParty, 0o644, licences})
	name := fmt.Sprintf("trawl-%s-%s-%s", b.version, p.os, p.arch)
	if err := b.archive(filepath.Join(b.out, name+".tar.gz"), name, files); err != nil {
		return err
	}
	if err := b.contents(p, filepath.Join(dir, "trawld"), filepath.Join(b.out, name+".cdx.json")); err != nil {
		return err
	}
	if p.os != "linux" {
		return nil
	}
	if err := b.debian(p, files); err != nil {
		return err
	}
	return b.image(p, dir, files)
}

// compile builds the programs for a platform into a folder.
func (b *build) compile(p platform, dir string) error {
	const about = "github.com/seed61375155/trawl/internal/version."
	link := "-s -w -buildid= -X " + about + "release=" + b.version + " -X " + about + "revision=" + b.revision
	_, err := b.goCommand(p, "build", "-trimpath", "-buildvcs=false", "-ldflags="+link, "-o", dir+"/", "./cmd/...")
	return err
}

// contents lists the modules that are in a daemon, which has those of the other programs too, by CycloneDX.
func (b *build) contents(p platform, daemon, path string) error {
	_, err := b.goCommand(
		p, "tool", "-modfile=tools.mod", "cyclonedx-gomod", "bin", "-json", "-licenses", "-noserial", "-notimestamp",
		"-version", "v"+b.version, "-output", path, daemon,
	)
	return err
}

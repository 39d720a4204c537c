package main

import (
	"path/filepath"
	"runtime"
	"strconv"
)

// image makes the archive with the image of a platform, by a program that is a module of its
// own, so that what it needs is no dependency of ours. It takes the terms from the folder of the programs, too.
func (b *build) image(p platform, programs string, files []file) error {
	for _, f := range files {
		if f.name != thirdParty && f.name != "LICENSE" {
			continue
		}
		if err := b.write(filepath.Join(programs, f.name), f.mode, f.text); err != nil {
			return err
		}
	}
	here := platform{runtime.GOOS, runtime.GOARCH}
	_, err := b.goCommand(
		here, "run", "-C", "deploy/image", ".", "-arch", p.arch, "-version", b.version, "-revision", b.revision,
		"-time", strconv.FormatInt(b.time.Unix(), 10), "-programs", programs,
		"-out", filepath.Join(b.out, "trawl-"+b.version+"-oci-"+p.arch+".tar"),
	)
	return err
}

// Command release makes the files of a release out of a checkout. These are archives for each
// platform, Debian packages, container images, a list of their contents, and the checksums of
// all files. The same revision gives the same bytes in any folder, on any day.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "version to release, after semver, without a v")
	out := flag.String("out", "dist", "folder for the files; what is in it goes")
	source := flag.String("source", ".", "checkout to release")
	only := flag.String("platforms", "", "some of the platforms, by commas, such as linux/amd64")
	flag.Parse()
	if err := run(*version, *source, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// build is one release as it is made.
type build struct {
	version  string
	revision string    // whole
	time     time.Time // of the revision: that of all files
	source   string    // absolute
	out      string    // absolute
	work     string    // what is thrown away at the end
}

var semver = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

func run(version, source, out, only string) (err error) {
	if !semver.MatchString(version) {
		return fmt.Errorf("-version=%q is no version such as 1.2.3 or 1.2.3-rc.1", version)
	}
	platforms, err := choose(only)
	if err != nil {
		return err
	}
	b, err := prepare(version, source, out)
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.RemoveAll(b.work); err == nil {
			err = gone
		}
	}()
	shared, err := b.shared()
	if err != nil {
		return err
	}
	for _, p := range platforms {
		fmt.Fprintln(os.Stderr, "release:", p)
		if err := b.platform(p, shared); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return b.sums()
}

// prepare looks at the checkout and makes the folders.
func prepare(version, source, out string) (*build, error) {
	b := &build{version: version}
	var err error
	if b.source, err = filepath.Abs(source); err != nil {
		return nil, err
	}
	if b.out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	changed, err := b.git("status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changed != "" {
		return nil, fmt.Errorf("%s has changes that are in no commit:\n%s", b.source, changed)
	}
	if err := b.checkToolchain(); err != nil {
		return nil, err
	}
	line, err := b.git("log", "-1", "--format=%H %ct")
	if err != nil {
		return nil, err
	}
	revision, seconds, _ := strings.Cut(strings.TrimSpace(line), " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, err
	}
	b.revision, b.time = revision, time.Unix(at, 0).UTC()
	if err := os.RemoveAll(b.out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return nil, err
	}
	b.work, err = os.MkdirTemp("", "trawl-release")
	return b, err
}

// Package version holds the version of this module.
package version

import (
	"runtime/debug"
	"strings"
)

// Number is the version of the module, after semver.
const Number = "0.1.0"

// Set by the linker in releases, see deploy/release.
var (
	release  string // instead of Number
	revision string // whole
)

// String returns the version and, if known, the first digits of the revision that the
// program was built from. A program made by "go install module@version" tells the version
// named there.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return describe(info)
}

// Revision returns the revision that the program was built from, whole, and empty where it is not known.
func Revision() string {
	info, _ := debug.ReadBuildInfo()
	return revisionOf(info)
}

func describe(info *debug.BuildInfo) string {
	number := Number
	switch {
	case release != "":
		number = release
	case info != nil && installed(info):
		number = strings.TrimPrefix(info.Main.Version, "v")
	}
	if rev := revisionOf(info); len(rev) >= 12 {
		return number + "-" + rev[:12]
	}
	return number
}

// installed reports whether the main module is a version out of the module cache and not a
// checkout, for which the toolchain makes up a version.
func installed(info *debug.BuildInfo) bool {
	return strings.HasPrefix(info.Main.Version, "v") && info.Main.Sum != ""
}

func revisionOf(info *debug.BuildInfo) string {
	if revision != "" || info == nil {
		return revision
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

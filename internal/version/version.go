// Package version holds the version of this module.
package version

import "runtime/debug"

// Number is the version of the module, after semver.
const Number = "0.1.0"

// String returns the version with the revision it was built from, where the
// Go toolchain recorded one.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Number
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return Number + "-" + s.Value[:12]
		}
	}
	return Number
}

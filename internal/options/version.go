package options

import "runtime/debug"

// Version returns the version of the running program as the Go toolchain
// recorded it, "(devel)" where it did not.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

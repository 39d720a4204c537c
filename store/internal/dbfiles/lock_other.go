//go:build !unix

package dbfiles

import "github.com/seed61375155/trawl/internal/vfs"

// flock locks nothing: the node's own lock of its data directory has to do.
func flock(vfs.File) error { return nil }

func unlock(vfs.File) {}

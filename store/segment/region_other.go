//go:build !linux

package segment

import "github.com/seed61375155/trawl/internal/vfs"

// mmap maps nothing: that a mapping grows with its file is Linux's promise.
// Filters are read from the file instead.
func mmap(vfs.File, int64) []byte { return nil }

func mmapRandom(vfs.File, int64) []byte { return nil }

func munmap([]byte) {}

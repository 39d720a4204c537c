//go:build !linux

package segment

import "os"

// mmap maps nothing: that a mapping grows with its file is Linux's promise.
// Filters are read from the file instead.
func mmap(*os.File, int64) []byte { return nil }

func mmapRandom(*os.File, int64) []byte { return nil }

func munmap([]byte) {}

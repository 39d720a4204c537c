//go:build !linux

package dbfiles

import "github.com/seed61375155/trawl/internal/vfs"

// filePages leaves it to the system what it reads: it does not tell what it has.
type filePages struct{ file vfs.File }

// holds implements pageCache.
func (filePages) holds(int64) bool { return true }

// request implements pageCache.
func (filePages) request(int64, int64) {}

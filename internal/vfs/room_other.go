//go:build !linux

package vfs

// DiskRoom returns nil: how much room there is is not known here.
func DiskRoom(string) func() (free, total uint64, err error) { return nil }

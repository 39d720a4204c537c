//go:build linux || darwin

package main

import (
	"fmt"
	"syscall"
)

// spareFiles are what the program opens besides the connections of callers.
const spareFiles = 64

// allowFiles makes sure that as many files may be open as callers need, and
// says so when it had to raise the limit. Go has raised the soft limit to the
// hard one already; only a privileged user can raise that.
func allowFiles(callers int) (raised string, err error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return "", err
	}
	before, need := limit.Cur, uint64(callers+spareFiles)
	if before >= need {
		return "", nil
	}
	limit.Cur, limit.Max = need, max(limit.Max, need)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return "", fmt.Errorf(
			"%d callers need %d open files, the limit is %d; raise it with ulimit -n: %w", callers, need, before, err,
		)
	}
	return fmt.Sprintf("Raised the limit of open files from %d to %d.", before, need), nil
}

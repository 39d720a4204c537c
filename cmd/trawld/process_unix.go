//go:build unix

package main

import (
	"io"
	"math"
	"os"
	"os/exec"
	"syscall"
)

// restrictNewFiles makes new files and folders accessible to their owner only.
func restrictNewFiles() { syscall.Umask(0o077) }

// noCoreDumps keeps the memory of the process, which may hold private keys, out of
// files. Operators that need core dumps all the same may raise the limit again.
func noCoreDumps() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
}

// maxFiles returns how many files and connections the process may have open.
func maxFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(limit.Cur)
}

// lockFile takes an advisory lock on a whole file, of the kind Core takes, so
// that either program refuses a folder that the other one has.
func lockFile(file *os.File) error {
	return syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &syscall.Flock_t{
		Type: syscall.F_WRLCK, Whence: io.SeekStart,
	})
}

// detach keeps a command out of the reach of what a terminal sends to this program.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

package e2e

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// LimitFiles lets no file of the daemon grow beyond size from now on, as a full disk
// does. It lasts until the process ends.
func (d *Daemon) LimitFiles(size uint64) {
	d.tb.Helper()
	limit := unix.Rlimit{Cur: size, Max: size}
	if err := unix.Prlimit(d.process.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		d.tb.Fatal(err)
	}
}

// LimitMemory lets the daemon have so many bytes of memory more than it has, and ends the
// test where that is not known. It lasts until the process ends.
func (d *Daemon) LimitMemory(more uint64) {
	d.tb.Helper()
	pid := d.process.cmd.Process.Pid
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		d.tb.Fatal(err)
	}
	var has uint64 // KiB
	_, rest, _ := strings.Cut(string(status), "\nVmData:")
	if _, err := fmt.Sscan(rest, &has); err != nil {
		d.tb.Fatal(err)
	}
	size := has<<10 + more
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: size, Max: size}, nil); err != nil {
		d.tb.Fatal(err)
	}
}

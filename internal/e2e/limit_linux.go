package e2e

import "golang.org/x/sys/unix"

// LimitFiles lets no file of the daemon grow beyond size from now on, as a full disk
// does. It lasts until the process ends.
func (d *Daemon) LimitFiles(size uint64) {
	d.tb.Helper()
	limit := unix.Rlimit{Cur: size, Max: size}
	if err := unix.Prlimit(d.process.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		d.tb.Fatal(err)
	}
}

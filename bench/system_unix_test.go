//go:build unix

package bench

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// loadAverage returns how many threads wanted to run during the last minute,
// where the system tells.
func loadAverage() (load float64, ok bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	_, err = fmt.Sscan(string(text), &load)
	return load, err == nil
}

// processUse returns the processor time of a process, with its ended threads, and
// its peak resident memory. Both are 0 where the system does not report them.
func processUse(pid int) (cpu time.Duration, peak int64) {
	const ticks = 100 // in a second, on every Linux
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	if fields := strings.Fields(rest); len(fields) > 12 {
		var user, system int64
		_, _ = fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
		cpu = time.Duration(user+system) * time.Second / ticks
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, line, ok := strings.Cut(string(status), "VmHWM:"); ok {
		_, _ = fmt.Sscan(line, &peak)
	}
	return cpu, peak << 10
}

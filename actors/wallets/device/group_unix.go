//go:build unix

package device

import (
	"os/exec"
	"syscall"
)

// inGroup has a program run in a process group of its own. The whole group is killed
// with the program.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// The number of a group is given to no other as long as there is somebody in it.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// exitNumber is the number that Core reports for a failed program: the number of the
// signal if a signal ended the program, else its exit code.
func exitNumber(exit *exec.ExitError) int {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status.Signal())
	}
	return exit.ExitCode()
}

//go:build unix

package device

import (
	"os/exec"
	"syscall"
)

// inGroup has a program run in a process group of its own, all of which is killed with
// it.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// isolates reports whether this process may start others that mount disks for
// themselves alone.
func isolates(ctx context.Context) bool {
	if os.Geteuid() != 0 {
		return false
	}
	probe := exec.CommandContext(ctx, "true")
	probe.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return probe.Run() == nil
}

// apart puts a command and all that it starts in a group, which is asked to end
// when its context does. If isolated, they have a mount namespace of their own: no
// other process sees their mounts, which end with their last process.
func apart(cmd *exec.Cmd, isolated bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if isolated {
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// end waits until nothing runs that a command has started, and kills what does not
// end by itself.
func end(cmd *exec.Cmd) {
	if cmd.Process == nil {
		return
	}
	group := -cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // as a rule there is nobody left
	if !gone(group, grace) {
		_ = syscall.Kill(group, syscall.SIGKILL)
		gone(group, time.Second) // who is not gone then is a zombie that nobody waits for
	}
}

// gone waits until nobody is left in a group; false: somebody is after that time.
func gone(group int, limit time.Duration) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(limit); syscall.Kill(group, 0) == nil; <-tick.C {
		if time.Now().After(late) {
			return false
		}
	}
	return true
}

package e2e_test

import (
	"os"
	"os/exec"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// ownNetworks reports whether programs can have a network of their own: this takes the rights of
// root.
var ownNetworks = sync.OnceValue(func() bool { return apart(exec.Command("true")) == nil })

// runApart runs a program in a network of its own; where it may not, in that of this machine.
func runApart(cmd *exec.Cmd) error {
	if !ownNetworks() {
		return cmd.Run()
	}
	return apart(cmd)
}

// apart runs a program in a new network, whose loopback is up.
func apart(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread, which is in the other network, ends with this
		err := enterNetwork()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			err = cmd.Wait()
		}
		done <- err
	}()
	return <-done
}

// enterNetwork puts the thread into a new network.
func enterNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(socket)
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP)
	return os.NewSyscallError("lo up", unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback))
}

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// A Process is a program that runs beside the test.
type Process struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer // read them after ended was closed only
	ended          chan struct{}
	err            error // of the program's end
}

// Run starts a program. It is killed at the end of the test at the latest.
func Run(tb testing.TB, path string, args ...string) *Process {
	tb.Helper()
	p := &Process{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	tb.Cleanup(p.Kill)
	return p
}

// PID returns the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// HasEnded reports whether the program has ended.
func (p *Process) HasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Wait waits for the program's end and returns its exit status, -1 after a
// signal.
func (p *Process) Wait(tb testing.TB) int {
	tb.Helper()
	Eventually(tb, stopLimit, p.cmd.Path+" ends", p.HasEnded)
	return p.cmd.ProcessState.ExitCode()
}

// Err returns how the program ended: nil is with exit status 0. The program
// must have ended, as for Stdout and Stderr.
func (p *Process) Err() error {
	<-p.ended
	return p.err
}

// Stdout returns what the program has written to its standard output.
func (p *Process) Stdout() string {
	<-p.ended
	return p.stdout.String()
}

// Stderr returns what the program has written to its standard error.
func (p *Process) Stderr() string {
	<-p.ended
	return p.stderr.String()
}

// Signal sends a signal; a process that has ended does not get it.
func (p *Process) Signal(signal os.Signal) {
	_ = p.cmd.Process.Signal(signal) // fails only after the end
}

// Kill ends the program at once and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails only after the end
	<-p.ended
}

//go:build !unix

package device

import "os/exec"

// inGroup leaves the program as it is where there are no process groups.
func inGroup(*exec.Cmd) {}

// exitNumber is the number with which a program failed.
func exitNumber(exit *exec.ExitError) int { return exit.ExitCode() }

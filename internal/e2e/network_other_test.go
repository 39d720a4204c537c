//go:build !linux

package e2e_test

import "os/exec"

// ownNetworks reports whether programs can have a network of their own.
func ownNetworks() bool { return false }

// runApart runs a program; in a network of its own where the system has any.
func runApart(cmd *exec.Cmd) error { return cmd.Run() }

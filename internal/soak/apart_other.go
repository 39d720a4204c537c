//go:build !linux

package main

import (
	"context"
	"os/exec"
)

func isolates(context.Context) bool { return false }

// apart leaves a command as it is: a terminal interrupts all that it starts.
func apart(*exec.Cmd, bool) {}

func end(*exec.Cmd) {}

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// git runs git in the checkout and returns what it prints.
func (b *build) git(args ...string) (string, error) {
	return b.run(nil, "git", args...)
}

// goCommand runs the go command for a platform. A tool is built for this one.
func (b *build) goCommand(p platform, args ...string) (string, error) {
	env := []string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch, "GOFLAGS=", "GOWORK=off"}
	if args[0] != "tool" {
		return b.run(env, "go", args...)
	}
	tool, err := b.run([]string{"GOFLAGS=", "GOWORK=off"}, "go", "tool", args[1], "-n", args[2])
	if err != nil {
		return "", err
	}
	return b.run(env, strings.TrimSpace(tool), args[3:]...)
}

func (b *build) run(env []string, name string, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = b.source, &stderr
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(b.time.Unix(), 10), "TZ=UTC")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}

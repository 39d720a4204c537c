package main

import (
	"errors"
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"strings"
)

// checkToolchain refuses a go command older than the toolchain line of the checkout's
// go.mod. An environment with GOTOOLCHAIN=local ignores that line, and an older patch of
// Go would put known weaknesses of the standard library into every program.
func (b *build) checkToolchain() error {
	text, err := os.ReadFile(filepath.Join(b.source, "go.mod"))
	if err != nil {
		return err
	}
	wanted, err := toolchainOf(string(text))
	if err != nil {
		return err
	}
	used, err := b.run(nil, "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	return newEnough(strings.TrimSpace(used), wanted)
}

// toolchainOf returns the toolchain that a go.mod names, such as go1.26.3.
func toolchainOf(mod string) (string, error) {
	for line := range strings.Lines(mod) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "toolchain" {
			return f[1], nil
		}
	}
	return "", errors.New("go.mod names no toolchain")
}

func newEnough(used, wanted string) error {
	bare, _, _ := strings.Cut(used, " ") // experiments follow
	bare, _, _ = strings.Cut(bare, "-")  // a vendor's suffix follows
	if version.IsValid(bare) && version.Compare(bare, wanted) >= 0 {
		return nil
	}
	return fmt.Errorf("%s builds here, and go.mod asks for %s, which mends weaknesses of the standard library; "+
		"use make release, or set GOTOOLCHAIN=%s", used, wanted, wanted)
}

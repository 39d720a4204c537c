package main

import (
	"os"
	"strings"
	"testing"
)

func TestNewEnough(t *testing.T) {
	for _, c := range []struct {
		used string
		good bool
	}{
		{"go1.26.11", true},
		{"go1.26.12", true},
		{"go1.27.0", true},
		{"go1.27rc1", true},
		{"go1.26.11-vendor", true},
		{"go1.26.11 X:nodwarf5", true},
		{"go1.26.10", false},
		{"go1.26.8", false},
		{"go1.26rc2", false},
		{"go1.9", false},
		{"devel go1.27-abcdef", false}, // nobody can tell which mends are in it
		{"", false},
	} {
		err := newEnough(c.used, "go1.26.11")
		if (err == nil) != c.good {
			t.Errorf("%q: %v", c.used, err)
		}
		if err != nil && !strings.Contains(err.Error(), "GOTOOLCHAIN=go1.26.11") {
			t.Errorf("%q: %v does not say what to do", c.used, err)
		}
	}
}

// The checkout names a toolchain, and a release with an older go command is refused.
func TestToolchainOfCheckout(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := toolchainOf(string(text)); err != nil {
		t.Error(err)
	}
	if _, err := toolchainOf("module x\n\ngo 1.26.0\n"); err == nil {
		t.Error("a go.mod without toolchain names one")
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/go.mod", []byte("module x\n\ngo 1.20\n\ntoolchain go1.999.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOTOOLCHAIN", "local")
	b := &build{source: dir}
	if err := b.checkToolchain(); err == nil || !strings.Contains(err.Error(), "go1.999.0") {
		t.Errorf("an older go command is taken: %v", err)
	}
}

package main

import (
	"bytes"
	"os"
	"testing"
)

// TestGenerated: the assembly in the package is what this generator writes.
func TestGenerated(t *testing.T) {
	for name, generate := range files {
		got, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, generate()) {
			t.Errorf("%s is stale: run go generate in internal/slhdsa", name)
		}
	}
}

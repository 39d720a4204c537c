package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

// A question is shown as Core shows it where nobody answers; any other error has its word.
func TestShowError(t *testing.T) {
	for _, test := range []struct {
		core string
		err  error
		want string
	}{
		{"30", errors.New("no"), "Error: no\n"},
		{"32", errors.New("no"), "Error: no\n"},
		{"30", fmt.Errorf("run: %w", errFuture), ": run: " + errFuture.Error() + "\n"},
		{"32", fmt.Errorf("run: %w", errFuture), "run: " + errFuture.Error() + "\n"},
	} {
		var out bytes.Buffer
		settings := options.New(table.Daemon(), t.TempDir())
		if err := settings.ParseArgs([]string{"-core=" + test.core}); err != nil {
			t.Fatal(err)
		}
		if showError(&out, settings, test.err); out.String() != test.want {
			t.Errorf("got %q, want %q", out.String(), test.want)
		}
	}
}

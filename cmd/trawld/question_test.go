package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// A question is shown as Core shows it where nobody answers; any other error has its word.
func TestShowError(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.New("no"), "Error: no\n"},
		{fmt.Errorf("run: %w", errFuture), ": run: " + errFuture.Error() + "\n"},
	} {
		var out bytes.Buffer
		if showError(&out, test.err); out.String() != test.want {
			t.Errorf("got %q, want %q", out.String(), test.want)
		}
	}
}

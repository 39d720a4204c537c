package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Backups that a killed daemon was sent are gone after the next start, also one without a page or a server.
func TestUploadsOfAnEarlierRun(t *testing.T) {
	for _, args := range [][]string{{"-server=0"}, {"-server=0", "-webui=0"}, {"-webui=0", "-rpcauth=wrong"}} {
		left := ""
		node := func(_ context.Context, s *session) error {
			left = filepath.Join(s.netDir, "webui-uploads")
			if err := os.MkdirAll(left, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(left, "x.dat"), []byte("keys"), 0o600); err != nil {
				t.Fatal(err)
			}
			return (&daemon{session: s}).openServer(fileBudget{})
		}
		startWith(t, node, args...)
		if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %s is still there: %v", args, left, err)
		}
	}
}

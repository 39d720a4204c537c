package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl"
)

func TestHasRoom(t *testing.T) {
	dir := t.TempDir()
	if !hasRoom(dir, 0) || !hasRoom(filepath.Join(dir, "missing"), 1<<62) {
		t.Error("no room on the disk of this test, or on one that does not say it")
	}
	if hasRoom(dir, 1<<60) {
		t.Error("there is room for 2^60 bytes")
	}
}

func TestNeededRoom(t *testing.T) {
	for _, test := range []struct {
		prune *trawl.PruneConfig
		want  uint64
	}{
		{nil, 810 << 30},
		{&trawl.PruneConfig{}, 810 << 30}, // by hand
		{&trawl.PruneConfig{Target: 550 << 20}, 550 << 20},
		{&trawl.PruneConfig{Target: 1 << 50}, 810 << 30},
	} {
		if got := neededRoom(810<<30, test.prune); got != test.want {
			t.Errorf("%+v: %d", test.prune, got)
		}
	}
}

func TestQuotedPath(t *testing.T) {
	if got := quotedPath(`/a "b"\c`); got != `"/a \"b\"\\c"` {
		t.Errorf("got %s", got)
	}
}

// A main chain that begins on a disk that is too small for it is warned of, once it has blocks it is not.
func TestWarnOfRoom(t *testing.T) {
	dir := t.TempDir()
	small := func(ctx context.Context, s *session) error {
		s.hasRoom = func(of string, more uint64) bool {
			return more == 0 || of == filepath.Join(dir, "blocks") && more < 810<<30
		}
		return startNode(ctx, s)
	}
	var stdout, stderr strings.Builder
	run([]string{
		"-datadir=" + dir, "-listen=0", "-connect=0", "-server=0", "-printtoconsole=0", "-stopafterblockimport",
	}, streams{&stdout, &stderr, dir}, small)
	want := "Warning: Disk space for \"" + filepath.Join(dir, "blocks") + "\" may not accommodate the block files. " +
		"Approximately 810 GB of data will be stored in this directory.\n"
	if stderr.String() != want {
		t.Errorf("got %q, want %q", stderr.String(), want)
	}
	log, err := os.ReadFile(filepath.Join(dir, "debug.log"))
	if err != nil || strings.Count(string(log), "may not accommodate the block files") != 1 {
		t.Errorf("the log does not say it once (%v)", err)
	}
}

// The program stops at the first look that finds too little room.
func TestWatchRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		looks, stopped := 0, time.Duration(0)
		began := time.Now()
		d := &daemon{
			session: &session{log: slog.New(slog.NewTextHandler(&log, nil))},
			stop:    func() { stopped = time.Since(began) },
		}
		d.watchRoom(t.Context(), roomTurn, func() bool { looks++; return looks < 3 })
		if stopped != 3*roomTurn || !strings.Contains(log.String(), "Shutting down due to lack of disk space!") {
			t.Errorf("stopped after %v: %s", stopped, log.String())
		}
		ended, end := context.WithCancel(t.Context())
		end()
		d.watchRoom(ended, roomTurn, func() bool { t.Error("looks after the end"); return false })
	})
}

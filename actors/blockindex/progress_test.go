package blockindex_test

import (
	"bytes"
	"log/slog"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/actortest"
)

// Every 30 seconds the log says how far an index is behind the chain.
func TestProgressIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		sys := actortest.New(t)
		var log bytes.Buffer
		sys.Log = slog.New(slog.NewTextHandler(&log, nil))
		slow := &memory{hook: func(int32) error { time.Sleep(20 * time.Millisecond); return nil }}
		r := newRigWith(t, sys, slow, 5000, nil)
		r.settle(t)
		synctest.Wait()
		lines := regexp.MustCompile(`Syncing test index with block chain from height \d+ of 5000, [^"]*`).FindAllString(log.String(), -1)
		want := regexp.MustCompile(`height \d+ of 5000, \d\d\.\d %, 50 blocks a second, (\d+ min )?\d+ s left$`)
		if len(lines) < 2 || len(lines) > 3 { // of 100 seconds
			t.Errorf("logged %q", lines)
		}
		for _, line := range lines {
			if !want.MatchString(line) {
				t.Errorf("logged %q", line)
			}
		}
	})
}

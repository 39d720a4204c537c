package corelog

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The program never waits for the reader of a log that is a named pipe: not when it opens the
// pipe, writes more than the pipe holds, or opens it again. The log says how many lines are
// missing, and no line is cut in two.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debug.log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	const lines = 3000
	written := make(chan *Output)
	go func() {
		defer close(written)
		out, err := Open(path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		log := slog.New(New(out, nil, noTime))
		for n := range lines {
			log.Info("a line", "text", strings.Repeat("x", 100+n%4*1000)+"!")
		}
		if err := out.Reopen(); err != nil {
			t.Error(err)
		}
		log.Info("opened anew")
		written <- out
	}()
	var out *Output
	select {
	case out = <-written:
	case <-time.After(20 * time.Second):
		t.Fatal("somebody waits for a reader")
	}
	if t.Failed() {
		t.FailNow()
	}
	log := slog.New(New(out, nil, noTime))
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var got []byte
	drain := func() {
		t.Helper()
		if err := reader.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		for part := make([]byte, 1<<16); ; {
			n, err := reader.Read(part)
			got = append(got, part[:n]...)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	drain()
	log.Info("there is room again")
	drain()
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	missing, present := 0, 0
	whole := regexp.MustCompile(`^(a line text=x+!|opened anew|there is room again)$`)
	gap := regexp.MustCompile(`^\[(\d+) lines of the log are missing here\]$`)
	for text := range bytes.Lines(bytes.TrimLeft(got, "\n")) {
		text := strings.TrimSuffix(string(text), "\n")
		if m := gap.FindStringSubmatch(text); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			missing += n
		} else if whole.MatchString(text) {
			present++
		} else if text != "" {
			t.Errorf("%.40q", text)
		}
	}
	if missing == 0 || present+missing != lines+2 || !strings.HasSuffix(string(got), "there is room again\n") {
		t.Errorf("%d lines and %d missing; it ends with %.60q", present, missing, got[max(0, len(got)-60):])
	}
}

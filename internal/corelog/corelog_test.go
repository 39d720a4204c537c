package corelog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// filter returns a filter, for options known to be right.
func filter(tb testing.TB, debug, exclude, level []string) *Filter {
	tb.Helper()
	f, err := NewFilter(debug, exclude, level)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// noTime drops the time of records.
var noTime = Layout{NoTimestamps: true}

// logged returns what a logger writes.
func logged(t *testing.T, f *Filter, layout Layout, log func(*slog.Logger)) string {
	t.Helper()
	var b bytes.Buffer
	out, err := Open("", &b)
	if err != nil {
		t.Fatal(err)
	}
	log(slog.New(New(out, f, layout)))
	return b.String()
}

func TestLines(t *testing.T) {
	all := filter(t, []string{""}, nil, []string{"trace"})
	tests := []struct {
		name   string
		layout Layout
		log    func(*slog.Logger)
		want   string
	}{
		{"message alone", noTime, func(l *slog.Logger) { l.Info("Done loading") }, "Done loading\n"},
		{"attributes", noTime, func(
			l *slog.Logger,
		) {
			l.Info("tip", "height", 7, "ok", true, "took", 2*time.Second)
		}, "tip height=7 ok=true took=2s\n"},
		{
			"numbers", noTime, func(l *slog.Logger) { l.Info("x", "u", uint64(1), "f", 0.5, "t", time.Unix(0, 0)) },
			"x u=1 f=0.5 t=1970-01-01T00:00:00Z\n",
		},
		{
			"other values", noTime,
			func(l *slog.Logger) { l.Info("x", "err", errors.New("no good"), "list", []int{1, 2}) },
			"x err=\"no good\" list=\"[1 2]\"\n",
		},
		{
			"values that need quotes", noTime,
			func(l *slog.Logger) { l.Info("x", "a", "", "b", "c d", "e", `"\`, "f", "g=h") },
			`x a="" b="c d" e="\"\\" f="g=h"` + "\n",
		},
		{
			"a value cannot begin a line", noTime, func(l *slog.Logger) { l.Info("x", "a", "b\n[rpc] c\x1b[2J") },
			`x a="b\x0a[rpc] c\x1b[2J"` + "\n",
		},
		{"control characters", noTime, func(l *slog.Logger) { l.Info("a\x00b\x7f\tc\né\n") }, "a\\x00b\\x7f\\x09c\\x0aé\n"},
		{
			"a message cannot begin a line", noTime, func(l *slog.Logger) {
				Printf(l, slog.LevelInfo, "[%s] loaded", "x\n2026-01-01T00:00:00Z [error] forged\r\n")
			}, `[x\x0a2026-01-01T00:00:00Z [error] forged\x0d\x0a] loaded` + "\n",
		},
		{"category", noTime, func(l *slog.Logger) { l.Info("x", CategoryKey, "net") }, "[net:info] x\n"},
		{"category implies debug", noTime, func(l *slog.Logger) { l.With(CategoryKey, "net").Debug("x") }, "[net] x\n"},
		{
			"trace", noTime, func(l *slog.Logger) { l.Log(context.Background(), LevelTrace, "x", CategoryKey, "net") },
			"[net:trace] x\n",
		},
		{"warning", noTime, func(l *slog.Logger) { l.Warn("x") }, "[warning] x\n"},
		{"error", noTime, func(l *slog.Logger) { l.Error("x", CategoryKey, "rpc") }, "[rpc:error] x\n"},
		{"debug without category", noTime, func(l *slog.Logger) { l.Debug("x") }, "[debug] x\n"},
		{"groups", noTime, func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).Info("x", slog.Int("c", 3), slog.Group("h", slog.Int("d", 4)))
		}, "x a=1 g.b=2 g.c=3 g.h.d=4\n"},
		{"thread", Layout{
			NoTimestamps: true, ThreadNames: true,
		}, func(l *slog.Logger) { l.With(ThreadKey, "init").Info("x") }, "[init] x\n"},
		{"no thread", Layout{
			NoTimestamps: true, ThreadNames: true,
		}, func(l *slog.Logger) { l.Info("x") }, "[main] x\n"},
		{"always level", Layout{NoTimestamps: true, AlwaysLevel: true}, func(l *slog.Logger) {
			l.Info("x")
			l.Debug("y", CategoryKey, "net")
		}, "[all:info] x\n[net:debug] y\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := logged(t, all, test.layout, test.log); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestTime(t *testing.T) {
	at := time.Date(2026, 11, 20, 6, 47, 52, 1234567, time.FixedZone("", 3600))
	for layout, want := range map[Layout]string{
		{}:             "2026-11-20T05:47:52Z x\n",
		{Micros: true}: "2026-11-20T05:47:52.001234Z x\n",
	} {
		got := logged(t, nil, layout, func(l *slog.Logger) {
			if err := l.Handler().Handle(t.Context(), slog.NewRecord(at, slog.LevelInfo, "x", 0)); err != nil {
				t.Error(err)
			}
		})
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSourceLocation(t *testing.T) {
	got := logged(t, nil, Layout{NoTimestamps: true, SourceLocations: true}, func(l *slog.Logger) { l.Info("x") })
	if !strings.HasPrefix(got, "[corelog/corelog_test.go:") || !strings.Contains(got, "] [corelog.TestSourceLocation.") {
		t.Errorf("got %q", got)
	}
}

func TestFilter(t *testing.T) {
	tests := []struct {
		name                  string
		debug, exclude, level []string
		want                  string // what is logged of the lines below
	}{
		{"nothing asked", nil, nil, nil, "info"},
		{"one category", []string{"net"}, nil, nil, "info net"},
		{"all", []string{"1"}, nil, nil, "info plain net rpc"},
		{"all but one", []string{"all"}, []string{"net"}, nil, "info plain rpc"},
		{"none forgets", []string{"net", "none", "rpc"}, nil, nil, "info rpc"},
		{"0 forgets", []string{"1", "0"}, nil, nil, "info"},
		{"all excluded", []string{"1"}, []string{""}, nil, "info"},
		{"trace", []string{"net"}, nil, []string{"trace"}, "info net net-trace"},
		{"trace of one", []string{"1"}, nil, []string{"net:trace"}, "info plain net net-trace rpc"},
		{"less", []string{"1"}, nil, []string{"info"}, "info"},
		{"less of one", []string{"1"}, nil, []string{"net:info"}, "info plain rpc"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := logged(t, filter(t, test.debug, test.exclude, test.level), noTime, func(l *slog.Logger) {
				l.Info("info")
				l.Debug("plain")
				l.With(CategoryKey, "net").Debug("net")
				l.With(CategoryKey, "net").Log(t.Context(), LevelTrace, "net-trace")
				l.Debug("rpc", CategoryKey, "rpc")
			})
			var words []string
			for line := range strings.Lines(got) {
				fields := strings.Fields(line)
				words = append(words, fields[len(fields)-1])
			}
			if strings.Join(words, " ") != test.want {
				t.Errorf("got %q, want %q", words, test.want)
			}
		})
	}
}

func TestFilterErrors(t *testing.T) {
	tests := []struct {
		debug, exclude, level []string
		want                  string
	}{
		{[]string{"abc"}, nil, nil, "Unsupported logging category -debug=abc."},
		{nil, []string{"abc"}, nil, "Unsupported logging category -debugexclude=abc."},
		{nil, nil, []string{"abc"}, "Unsupported global logging level -loglevel=abc. Valid values: info, debug, trace."},
		{nil, nil, []string{":"}, "Unsupported global logging level -loglevel=:. Valid values: info, debug, trace."},
		{nil, nil, []string{"x:debug"}, "Unsupported global logging level -loglevel=x:debug. Valid values: info, debug, trace."},
		{nil, nil, []string{"net:abc"}, "Unsupported category-specific logging level -loglevel=net:abc. Expected"},
		{nil, nil, []string{"abc:info"}, "Unsupported category-specific logging level -loglevel=abc:info. Expected"},
		{nil, nil, []string{"net:info:abc"}, "Unsupported category-specific logging level -loglevel=net:info:abc. Expected"},
	}
	for _, test := range tests {
		if _, err := NewFilter(test.debug, test.exclude, test.level); err == nil ||
			!strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debug.log")
	out, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(New(out, nil, noTime))
	log.Info("one")
	moved := path + ".1"
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	log.Info("two")
	if err := out.Reopen(); err != nil {
		t.Fatal(err)
	}
	log.Info("three")
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	log.Info("four")
	if err := errors.Join(out.Reopen(), out.Close()); err != nil {
		t.Error("a closed output is not left alone:", err)
	}
	for path, want := range map[string]string{moved: "\n\n\n\n\none\ntwo\n", path: "three\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
	}
}

func TestOpenFails(t *testing.T) {
	if _, err := Open(t.TempDir(), nil); err == nil {
		t.Error("a directory is opened")
	}
}

func TestShrink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debug.log")
	if err := Shrink(path); err != nil {
		t.Error("no file:", err)
	}
	for _, test := range []struct{ size, want int }{{shrinkBeyond, shrinkBeyond}, {shrinkBeyond + 1, shrinkTo}} {
		text := bytes.Repeat([]byte("x"), test.size)
		copy(text[test.size-3:], "end")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Shrink(path); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || len(got) != test.want || !bytes.HasSuffix(got, []byte("xend")) {
			t.Errorf("%d: got %d bytes, %v", test.size, len(got), err)
		}
	}
}

// Lines of many goroutines do not mix, reopening included.
func TestConcurrentLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debug.log")
	out, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	const each = 200
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			log := slog.New(New(out, nil, noTime)).With("worker", worker)
			for range each {
				log.Info("line", "text", strings.Repeat("x", 100))
			}
		})
	}
	for range 5 {
		if err := out.Reopen(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.Trim(string(text), "\n"), "\n")
	if len(lines) != 4*each {
		t.Errorf("got %d lines, want %d", len(lines), 4*each)
	}
	for _, line := range lines {
		if len(line) != len("line worker=0 text=")+100 {
			t.Fatalf("a mixed line: %q", line)
		}
	}
}

// BenchmarkLine writes a line with three attributes, and a line that the filter
// drops.
func BenchmarkLine(b *testing.B) {
	out, err := Open("", io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(New(out, filter(b, []string{"net"}, nil, nil), Layout{Micros: true})).With(CategoryKey, "rpc")
	b.Run("written", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			log.Info("block connected", "height", 7, "hash", "00ff", "txs", 12)
		}
	})
	b.Run("filtered", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			log.Debug("block connected", "height", 7, "hash", "00ff", "txs", 12)
		}
	})
}

func TestPrintf(t *testing.T) {
	layout := Layout{NoTimestamps: true, SourceLocations: true}
	got := logged(t, nil, layout, func(l *slog.Logger) {
		Printf(l, slog.LevelInfo, "Using data directory %s", "/x y")
		Printf(l, slog.LevelDebug, "not shown")
	})
	if !strings.HasPrefix(got, "[corelog/corelog_test.go:") || !strings.HasSuffix(got, "] Using data directory /x y\n") {
		t.Errorf("got %q", got)
	}
}

// Many may switch at once, and none is lost.
func TestSwitchConcurrently(t *testing.T) {
	f := filter(t, nil, nil, nil)
	var wg sync.WaitGroup
	for _, category := range f.Categories() {
		wg.Go(func() {
			if unknown, ok := f.Switch([]string{category}, nil); !ok {
				t.Errorf("%s is unknown", unknown)
			}
		})
	}
	wg.Wait()
	for _, category := range f.Categories() {
		if !f.Logs(category) {
			t.Errorf("%s is off", category)
		}
	}
}

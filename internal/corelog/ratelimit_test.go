package corelog

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Lines from one place of the program are bounded in the file; other places go
// on. The console has all lines, and after the window the file has them again.
func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "debug.log")
		var console bytes.Buffer
		out, err := Open(path, &console)
		if err != nil {
			t.Fatal(err)
		}
		f := filter(t, []string{"rpc"}, nil, nil)
		log := slog.New(New(out, f, Layout{NoTimestamps: true, Rate: NewRateLimit()}))
		text := strings.Repeat("x", 1023)
		flood := func(n int) {
			for range n {
				log.Info(text) //nolint:sloglint // a line of a chosen length
			}
		}
		file := func() string {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		flood(1024)
		if n := strings.Count(file(), text+"\n"); n != 1024 || strings.Contains(file(), "Excessive") {
			t.Fatalf("%d lines within the limit", n)
		}
		flood(1000)
		const marked = "\n[*] [warning] Excessive logging detected from corelog/ratelimit_test.go:"
		got := file()
		if n := strings.Count(got, text+"\n"); n != 1025 || !strings.HasSuffix(got, "Last log entry.\n[*] "+text+"\n") {
			t.Errorf("%d lines, ending in %.300q", n, got[len(got)-1500:])
		}
		if n := strings.Count(got, strings.TrimPrefix(marked, "\n[*] ")); n != 1 ||
			!strings.Contains(got, ">1048576 bytes logged during the last time window of 3600s") {
			t.Errorf("%d notices", n)
		}
		if n := strings.Count(console.String(), text+"\n"); n != 2024 {
			t.Errorf("the console has %d lines", n)
		}
		log.Warn("another place")
		for range 2000 {
			log.Debug(text, CategoryKey, "rpc") //nolint:sloglint // as above; this category was asked for
		}
		got = file()
		if !strings.Contains(got, "\n[*] [warning] another place\n[rpc] xxx") || strings.Count(got, "[rpc] "+text+"\n") != 2000 {
			t.Errorf("others are held back: %.200q", got[len(got)-1500:])
		}
		time.Sleep(rateWindow)
		flood(1)
		if got = file(); !strings.HasSuffix(got, "): 1024000 bytes were dropped during the last 3600s.\n"+text+"\n") {
			t.Errorf("after the window: %.400q", got[len(got)-1500:])
		}
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Lines of Unlimited pass, however many there are; those of a category that were not asked for by a
// level below info are counted as any.
func TestUnlimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "debug.log")
		out, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(New(out, filter(t, nil, nil, nil), Layout{NoTimestamps: true, Rate: NewRateLimit()}))
		text := strings.Repeat("x", 1000)
		for range 3000 {
			Unlimited(log, slog.LevelInfo, "tip %s", text)
			log.Warn(text, CategoryKey, "net") //nolint:sloglint // a line of a chosen length
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(written), "tip "+text+"\n"); n != 3000 {
			t.Errorf("%d of 3000 lines about the tip", n)
		}
		if n := strings.Count(string(written), "[net:warning] "+text+"\n"); n > 1100 || n < 1000 {
			t.Errorf("%d of 3000 lines of a category", n)
		}
	})
}

// Many goroutines are counted together.
func TestRateLimitConcurrently(t *testing.T) {
	rate := NewRateLimit()
	var passed sync.Map
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			n := 0
			for range 1000 {
				if v := rate.judge(time.Unix(1e9, 0), 1, 1024); !v.drop {
					n++
				}
			}
			passed.Store(worker, n)
		})
	}
	wg.Wait()
	total := 0
	passed.Range(func(_, n any) bool { total += n.(int); return true })
	if total != 1025 { // the last has the notice of the drop with it
		t.Errorf("%d lines pass", total)
	}
}

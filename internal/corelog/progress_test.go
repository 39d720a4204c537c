package corelog_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/corelog"
)

// Work of a steady rate is told every 30 seconds, from 30 seconds after its beginning on.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p corelog.Progress
		logged := map[int]string{}
		for second := range 101 {
			if words := p.Words(time.Now(), int64(20*second), float64(second)/1000, "blocks"); words != "" {
				logged[second] = words
			}
			time.Sleep(time.Second)
		}
		for second, want := range map[int]string{
			30: "3.0 %, 20 blocks a second, 16 min 10 s left",
			60: "6.0 %, 20 blocks a second, 15 min 40 s left",
			90: "9.0 %, 20 blocks a second, 15 min 10 s left",
		} {
			if logged[second] != want {
				t.Errorf("after %d s: %q, want %q", second, logged[second], want)
			}
		}
		if len(logged) != 3 {
			t.Errorf("logged %v", logged)
		}
	})
}

// Rates and rests of any size are told in few digits; work that stands tells no rest, and
// work that is taken back begins again.
func TestProgressWords(t *testing.T) {
	const minute = time.Minute
	for _, test := range []struct {
		done  int64 // after 10 of the unit, 10 % and the time
		share float64
		after time.Duration
		want  string
	}{
		{11, 0.2, minute, "20.0 %, 0.0 blocks a second, 8 min 0 s left"},
		{610, 0.55, minute, "55.0 %, 10 blocks a second, 1 min 0 s left"},
		{130, 0.8, minute, "80.0 %, 2.0 blocks a second, 17 s left"},
		{1000, 0.11, minute, "11.0 %, 16 blocks a second, 1 h 29 min left"},
		{1000, 0.1001, minute, "10.0 %, 16 blocks a second, 6 days 5 h left"},
		{1000, 1, minute, "100.0 %, 16 blocks a second, 0 s left"},
		{10, 0.1, minute, "10.0 %, 0.0 blocks a second"},
		{9, 0.2, minute, ""},
		{11, 0.05, minute, ""},
		{610, 0.5, 29 * time.Second, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var p corelog.Progress
			if words := p.Words(time.Now(), 10, 0.1, "blocks"); words != "" {
				t.Errorf("at the beginning: %q", words)
			}
			time.Sleep(test.after)
			if words := p.Words(time.Now(), test.done, test.share, "blocks"); words != test.want {
				t.Errorf("%d, %f after %v: %q, want %q", test.done, test.share, test.after, words, test.want)
			}
		})
	}
}

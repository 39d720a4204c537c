package corelog

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Core's -logratelimit: what one place of the program may write to the file in a
// window of time.
const (
	rateBytes  = 1 << 20
	rateWindow = time.Hour
)

// A RateLimit bounds what each place of the program writes to the log file, so
// that nobody who makes it write fills the disk. Lines below info, which were asked
// for, are not counted, nor those of [Unlimited]. It is safe for concurrent use.
type RateLimit struct {
	mu         sync.Mutex
	began      time.Time // of the window
	places     map[string]*placeRate
	names      map[uintptr]string // of places; an inlined place has several addresses
	suppressed int                // places that write no more in this window
}

// placeRate is what one place has written in the window.
type placeRate struct{ written, dropped int64 }

// NewRateLimit returns the limit of -logratelimit.
func NewRateLimit() *RateLimit {
	return &RateLimit{places: map[string]*placeRate{}, names: map[uintptr]string{}}
}

// A verdict is what becomes of a line.
type verdict struct {
	notices []string // to be logged before it
	drop    bool     // not into the file
	last    string   // to be logged before it, for it is the place's last
	partial bool     // some place writes no more
}

// judge counts n bytes that the place at pc is about to write.
func (l *RateLimit) judge(now time.Time, pc uintptr, n int) verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := verdict{notices: l.turn(now)}
	name, known := l.names[pc]
	if !known {
		name = location(pc)
		l.names[pc] = name
	}
	place := l.places[name]
	if place == nil {
		place = &placeRate{}
		l.places[name] = place
	}
	switch {
	case place.dropped > 0:
		place.dropped += int64(n)
		v.drop = true
	case place.written+int64(n) > rateBytes:
		place.dropped = int64(n)
		l.suppressed++
		v.last = fmt.Sprintf("Excessive logging detected from %s: >%d bytes logged during the last time window of "+
			"%ds. "+
			"Suppressing logging to disk from this source location until time window resets. "+
			"Console logging unaffected. Last log entry.", name, rateBytes, int(rateWindow.Seconds()))
	default:
		place.written += int64(n)
	}
	v.partial = l.suppressed > 0
	return v
}

// turn begins a new window when the last is over. It returns the notices about
// places whose lines were dropped in the last.
func (l *RateLimit) turn(now time.Time) []string {
	if now.Sub(l.began) < rateWindow {
		return nil
	}
	var notices []string
	for name, place := range l.places {
		if place.dropped > 0 {
			notices = append(notices,
				fmt.Sprintf("Restarting logging from %s: %d bytes were dropped during the last %ds.",
					name, place.dropped, int(rateWindow.Seconds())))
		}
	}
	slices.Sort(notices)
	clear(l.places)
	l.began, l.suppressed = now, 0
	return notices
}

// location is a place of the program: file, line and function.
func location(pc uintptr) string {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return fmt.Sprintf("%s:%d (%s)", shortFile(&frame), frame.Line, shortFunction(&frame))
}

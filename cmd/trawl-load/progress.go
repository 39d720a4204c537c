package main

import (
	"fmt"
	"io"
	"time"

	"github.com/seed61375155/trawl/internal/load"
)

// progressPause is how often the line is written.
const progressPause = 250 * time.Millisecond

// eraseLine is what a terminal understands.
const eraseLine = "\r\x1b[K"

// showProgress keeps a line on a terminal up to date until stop is called.
func showProgress(w io.Writer, progress func() load.Progress) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressPause)
		defer tick.Stop()
		began, last, before := time.Now(), time.Now(), load.Progress{}
		for {
			select {
			case <-end:
				fmt.Fprint(w, eraseLine)
				return
			case now := <-tick.C:
				p := progress()
				fmt.Fprint(
					w, eraseLine+progressLine(p, now.Sub(began), float64(p.Calls-before.Calls)/now.Sub(last).Seconds()),
				)
				last, before = now, p
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

func progressLine(p load.Progress, elapsed time.Duration, perSecond float64) string {
	return fmt.Sprintf(
		"%5.1f s  %d calls, %.0f/s  %d scans  %d failed", elapsed.Seconds(), p.Calls, perSecond, p.Scans, p.Failed,
	)
}

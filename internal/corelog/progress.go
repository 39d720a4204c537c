package corelog

import (
	"fmt"
	"time"
)

// ProgressEvery is how often long work tells the log how far it is.
const ProgressEvery = 30 * time.Second

// A Progress finds the words for how far long work is. The zero value is of work that has
// not begun. It belongs to who works: not safe for concurrent use.
type Progress struct {
	last  time.Time // of the words, or of the beginning
	done  int64
	share float64
}

// Due reports whether [Progress.Words] will have something to say or to note.
func (p *Progress) Due(now time.Time) bool {
	return p.last.IsZero() || now.Sub(p.last) >= ProgressEvery
}

// Words returns how far the work is, as "27.8 %, 812 blocks a second, 13 min left", with rate
// and rest from the time since the words before. It returns nothing until [ProgressEvery] has
// passed since then; the first call notes the beginning. done counts the unit, share is how
// much of the whole is done, from 0 to 1. Work that is taken back begins again.
func (p *Progress) Words(now time.Time, done int64, share float64, unit string) string {
	if !p.Due(now) {
		return ""
	}
	before := *p
	*p = Progress{now, done, share}
	if before.last.IsZero() || done < before.done || share < before.share {
		return ""
	}
	passed := now.Sub(before.last)
	words := fmt.Sprintf("%.1f %%, %s %s a second", 100*share, rateText(float64(done-before.done)/passed.Seconds()), unit)
	if more := share - before.share; more > 0 {
		words += ", " + restText(time.Duration(float64(passed)*(1-share)/more)) + " left"
	}
	return words
}

// rateText shows a rate with as many digits as say something.
func rateText(rate float64) string {
	if rate < 10 {
		return fmt.Sprintf("%.1f", rate)
	}
	return fmt.Sprintf("%.0f", rate)
}

// restText shows a duration by its two largest units.
func restText(rest time.Duration) string {
	rest = rest.Round(time.Second)
	const day = 24 * time.Hour
	switch {
	case rest < time.Minute:
		return fmt.Sprintf("%d s", int(rest.Seconds()))
	case rest < time.Hour:
		return fmt.Sprintf("%d min %d s", rest/time.Minute, rest%time.Minute/time.Second)
	case rest < day:
		return fmt.Sprintf("%d h %d min", rest/time.Hour, rest%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%d days %d h", rest/day, rest%day/time.Hour)
	}
}

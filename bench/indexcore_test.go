package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// A coreBuild has Bitcoin Core build its block filter index, again and again.
type coreBuild struct {
	start starter
	dir   string // of the chain
	times []time.Duration
}

// coreBuild returns nil where there is no Bitcoin Core.
func (*index) coreBuild(b *testing.B) *coreBuild {
	b.Helper()
	binary := os.Getenv("BITCOIND")
	if binary == "" {
		return nil
	}
	dir := filepath.Join(folder(b), "core")
	c := &coreBuild{start: bitcoind(binary, dir), dir: filepath.Join(dir, "regtest")}
	loaded(b, c.start).stop()
	return c
}

// contenders returns what takes part in each round.
func (c *coreBuild) contenders(b *testing.B) []*contender {
	b.Helper()
	if c == nil {
		return nil
	}
	return []*contender{{run: func() error {
		d, err := c.build(b)
		c.times = append(c.times, d)
		return err
	}}}
}

func (c *coreBuild) report(b *testing.B, ours *contender) {
	b.Helper()
	if c == nil {
		return
	}
	theirs := median(c.times[1:]) // without the first time, of the warm-up
	b.ReportMetric(milliseconds(theirs), "core-ms")
	b.ReportMetric(ratio(theirs, ours.median()), "x-core")
	b.ReportMetric(ratio(theirs, ours.cpu)*float64(len(ours.wall)), "x-core-cpu")
}

// The lines of its log that tell when the index was begun and done.
var (
	beganLine = regexp.MustCompile(`(?m)^(\S+) .*basic block filter index thread start$`)
	doneLine  = regexp.MustCompile(`(?m)^(\S+) .*basic block filter index is enabled at height \d+$`)
)

// build starts Bitcoin Core without its index and returns how long it built it.
func (c *coreBuild) build(b *testing.B) (time.Duration, error) {
	b.Helper()
	log := filepath.Join(c.dir, "debug.log")
	for _, path := range []string{filepath.Join(c.dir, "indexes"), log} {
		if err := os.RemoveAll(path); err != nil {
			return 0, err
		}
	}
	p := c.start(b)
	p.waitLoaded(b)
	p.stop()
	text, err := os.ReadFile(log)
	if err != nil {
		return 0, err
	}
	began, err := lineTime(beganLine, text)
	if err != nil {
		return 0, err
	}
	done, err := lineTime(doneLine, text)
	return done.Sub(began), err
}

func lineTime(line *regexp.Regexp, log []byte) (time.Time, error) {
	found := line.FindSubmatch(log)
	if found == nil {
		return time.Time{}, fmt.Errorf("%w: the log has no line %v", errWrongAnswer, line)
	}
	return time.Parse(time.RFC3339Nano, string(found[1]))
}

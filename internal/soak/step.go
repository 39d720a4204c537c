package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	stepLimit = 24 * time.Hour
	grace     = 20 * time.Second // for interrupted processes to end
	beat      = time.Minute      // between lines that say that a test goes on
)

// step runs one, and prints its results as they come.
func (s *soak) step(ctx context.Context, st *step) (*results, error) {
	args := []string{"test", "-json", "-count=1", "-p=1", fmt.Sprint("-timeout=", stepLimit)}
	if st.race {
		args = append(args, "-race")
	}
	if st.run != "" {
		args = append(args, "-run="+st.run)
	}
	if st.skip != "" {
		args = append(args, "-skip="+st.skip)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, st.packages...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, grace
	if st.race {
		cmd.Env = s.brief
	}
	if st.needs == later {
		cmd.Env = append(slices.Clip(cmd.Env), "BITCOIND="+os.Getenv("BITCOIND32"))
	}
	apart(cmd, s.isolated)
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	r := newResults(s.out)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.follow(read)
	}()
	err := cmd.Run()
	end(cmd)
	write.Close()
	<-done
	return r, err
}

// An event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// results are those of one step.
type results struct {
	out                     io.Writer
	passed, failed, skipped int
	running                 map[string]time.Time // tests, not their parts
	said                    map[string][]string  // by test: what it printed
	skips                   []skip
}

// A skip is a test, or a part of one, that was skipped.
type skip struct{ test, why string }

func newResults(out io.Writer) *results {
	return &results{out: out, running: map[string]time.Time{}, said: map[string][]string{}}
}

func (r *results) verdict(ctx context.Context, err error) string {
	counts := fmt.Sprintf("%d passed, %d failed, %d skipped", r.passed, r.failed, r.skipped)
	switch {
	case ctx.Err() != nil:
		return "interrupted: " + counts
	case err != nil:
		return "FAILED: " + counts
	}
	return "ok: " + counts
}

// follow prints what the lines of a step tell, and from time to time what goes on.
func (r *results) follow(from io.Reader) {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for reader := bufio.NewReader(from); ; {
			line, err := reader.ReadBytes('\n')
			if len(line) > 0 {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return
			}
			r.line(line)
		case now := <-tick.C:
			for test, since := range r.running {
				fmt.Fprintf(r.out, "    …     %v  %s\n", now.Sub(since).Round(time.Second), test)
			}
		}
	}
}

func (r *results) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil { // of the go command itself
		fmt.Fprintf(r.out, "    %s", line)
		return
	}
	test, _, part := strings.Cut(e.Test, "/")
	switch e.Action {
	case "run":
		if !part {
			r.running[test] = time.Now()
		}
	case "output", "build-output":
		r.output(test, e.Output)
	case "pass", "skip", "fail":
		if e.Action == "skip" && test != "" {
			r.skips = append(r.skips, skip{e.Test, reason(r.said[test])})
		}
		if !part {
			r.done(test, &e)
		}
	}
}

// A report is a line that a test logs.
var report = regexp.MustCompile(`^ +\S+_test\.go:\d+: `)

// output keeps what a test prints for the case that it fails, and prints what it
// logs.
func (r *results) output(test, text string) {
	r.said[test] = append(r.said[test], text)
	if at := report.FindString(text); at != "" && test != "" {
		fmt.Fprintf(r.out, "          %s: %s", test, strings.TrimPrefix(text, at))
	}
}

// logged is the place in the source before what a test logs.
var logged = regexp.MustCompile(`^\s+\S+\.go:\d+: `)

// reason returns the last line that a test has logged, which says why it is skipped.
func reason(said []string) string {
	for _, line := range slices.Backward(said) {
		if at := logged.FindString(line); at != "" {
			return strings.TrimSpace(line[len(at):])
		}
	}
	return "it does not say why"
}

// done counts and prints a result. A package that fails without a test, because it
// does not build for example, has no test's name.
func (r *results) done(test string, e *event) {
	said := r.said[test]
	delete(r.running, test)
	delete(r.said, test)
	if test == "" {
		if e.Action == "fail" {
			fmt.Fprintf(r.out, "    FAIL  %s\n%s", e.Package, strings.Join(said, ""))
		}
		return
	}
	took := time.Duration(e.Elapsed * float64(time.Second)).Round(100 * time.Millisecond)
	switch e.Action {
	case "pass":
		r.passed++
		fmt.Fprintf(r.out, "    ok    %v  %s\n", took, test)
	case "skip":
		r.skipped++
		fmt.Fprintf(r.out, "    skip  %s: %s\n", test, reason(said))
	default:
		r.failed++
		fmt.Fprintf(r.out, "    FAIL  %v  %s\n%s", took, test, strings.Join(said, ""))
	}
}

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// How often the progress of a scan is asked for, and how long an answer may take.
const (
	pollInterval = 250 * time.Millisecond
	pollTimeout  = 5 * time.Second
)

// isScan reports whether a call starts a scan: the action is the first argument
// or has that name.
func isScan(method string, params *jsontree.Value) bool {
	action := params.Get("action")
	if params.Kind() == jsontree.Array {
		action = params.At(0)
	} else if args := params.Get("args"); action == nil && args.Kind() == jsontree.Array {
		action = args.At(0)
	}
	return (method == "scanblocks" || method == "discoveraccounts") && action.Text() == "start"
}

// scan starts a scan and shows how far it is until it ends, on the standard error
// stream. An interrupt aborts the scan, which makes the server answer with the
// results so far; a second interrupt ends the program.
func (c *client) scan(method string, params *jsontree.Value) (*jsontree.Value, error) {
	hits, stop := c.interrupts()
	defer stop()
	type outcome struct {
		answer reply
		err    error
	}
	ended := make(chan outcome, 1)
	go func() {
		answer, err := c.call(c.wallet, method, params)
		ended <- outcome{answer, err}
	}()
	line := progressLine{w: c.stderr}
	defer line.clear()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	aborting := false
	for {
		select {
		case end := <-ended:
			if end.err != nil {
				return nil, end.err
			}
			return end.answer.value()
		case <-hits:
			stop()
			aborting = true
			line.note = " aborting"
			line.draw()
			c.control(method, "abort")
		case <-poll.C:
			if aborting { // again, for a scan that had not begun
				c.control(method, "abort")
				continue
			}
			line.update(c.control(method, "status"))
		}
	}
}

// control calls a scanning method with another action, on a connection of its own, and
// returns nil when there is no answer.
func (c *client) control(method, action string) *jsontree.Value {
	params := jsontree.NewArray(jsontree.NewString(action))
	v, err := c.endpoint.within(pollTimeout).post(nil, request(method, params), credentialsOf(c.settings))
	if err != nil {
		return nil
	}
	return v.Get("result")
}

// progressLine is a line of a terminal that is drawn again and again.
type progressLine struct {
	w     io.Writer
	text  string // of the last status
	note  string
	drawn int // columns
}

// update shows the answer to a status; null, when no scan runs, changes nothing.
func (l *progressLine) update(status *jsontree.Value) {
	percent, err := status.Get("progress").AsInt64()
	if err != nil {
		return
	}
	l.text = fmt.Sprintf("%s  height %s", percentBar(int(percent)), status.Get("current_height").Text())
	if stage := status.Get("stage"); stage != nil {
		l.text = fmt.Sprintf("%s  pass %s, %s, %s used accounts", percentBar(int(percent)),
			status.Get("pass").Text(), stage.Text(), status.Get("accounts").Text())
	}
	l.draw()
}

// percentBar shows so many percent.
func percentBar(percent int) string {
	percent = min(max(percent, 0), 100)
	const cells, cell = 20, 5 // percent a cell
	full := percent / cell
	return fmt.Sprintf("%s%s %3d%%", strings.Repeat("▒", full), strings.Repeat("░", cells-full), percent)
}

// draw replaces the line.
func (l *progressLine) draw() {
	text := l.text + l.note
	columns := len([]rune(text))
	fmt.Fprintf(l.w, "\r%s%s", text, strings.Repeat(" ", max(l.drawn-columns, 0)))
	l.drawn = columns
}

// clear leaves the line as it was before.
func (l *progressLine) clear() {
	if l.drawn > 0 {
		fmt.Fprintf(l.w, "\r%s\r", strings.Repeat(" ", l.drawn))
		l.drawn = 0
	}
}

package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

const barWidth = 40

// bar draws progress: in place on a terminal, and elsewhere a line each tenth.
type bar struct {
	out      *os.File
	terminal bool
	tenth    int // last one written
}

func newBar(out *os.File) *bar {
	return &bar{out: out, terminal: term.IsTerminal(int(out.Fd())), tenth: -1}
}

func (b *bar) draw(part float64, text string) {
	part = min(max(part, 0), 1)
	if b.terminal {
		done := int(part * barWidth)
		fmt.Fprintf(b.out, "\r[%s%s] %3.0f %%  %s\x1b[K",
			strings.Repeat("█", done), strings.Repeat("░", barWidth-done), 100*part, text)
		return
	}
	if tenth := int(10 * part); tenth != b.tenth || strings.Contains(text, "indexed") {
		b.tenth = tenth
		fmt.Fprintf(b.out, "%3d %%  %s\n", 10*tenth, text)
	}
}

// end leaves the line.
func (b *bar) end() {
	if b.terminal {
		fmt.Fprintln(b.out)
	}
}

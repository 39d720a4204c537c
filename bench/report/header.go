package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// writeHeader writes the machine, the revision, the data and the method of the
// measurement.
func writeHeader(w io.Writer, o options, loadBefore string, took time.Duration) {
	fmt.Fprintf(w, "# %s: %s\n\n", time.Now().Format(time.DateOnly), o.name)
	fmt.Fprintf(w, "- Machine: %s, %d cores, %s/%s, load before %s and after %s\n",
		cpuModel(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, loadBefore, loadAverage())
	fmt.Fprintf(w, "- Go: %s; revision: %s\n", runtime.Version(), revision())
	fmt.Fprintf(w, "- Data: generated regtest chain, seed 1, %d blocks of %d outputs (a store: %d elements); %d "+
		"rounds, rivals in turn, all answers compared\n",
		o.blocks, o.outputs, o.elements, o.rounds)
	if core := os.Getenv("BITCOIND"); core != "" {
		fmt.Fprintf(w, "- Bitcoin Core: %s\n", firstLine(core, "-version"))
	}
	fmt.Fprintf(w, "- Command: `%s`%s; it took %d s\n", o.command(), environment(), int(took.Seconds()))
}

// environment adds to the command what it needs besides.
func environment() string {
	if os.Getenv("BITCOIND") == "" {
		return ""
	}
	return ", with Bitcoin Core as BITCOIND"
}

// cpuModel returns the processor's name, where the system tells.
func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for row := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(row, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// loadAverage returns the system's load, where the system tells.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

func revision() string { return firstLine("git", "describe", "--always", "--dirty") }

// firstLine returns the first line that a program prints.
func firstLine(program string, args ...string) string {
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

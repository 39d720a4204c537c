package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
	"github.com/seed61375155/trawl/internal/version"
)

// Help and version are shown also where the configuration file asks for them, and however its line is written.
func TestAnswersOfConfiguration(t *testing.T) {
	for content, want := range map[string]string{
		"version=1": "daemon version", "help=1": "-alertnotify", "nohelp=1": "-alertnotify", "version=0": "",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "trawl.conf"), []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		started := false
		node := func(context.Context, *session) error { started = true; return nil }
		status := run([]string{"-datadir=" + dir, "-regtest", "-printtoconsole=0"}, streams{&out, &errs, dir}, node)
		if status != 0 || errs.String() != "" || started != (want == "") {
			t.Errorf("%s: status %d, %q, started: %v", content, status, errs.String(), started)
		}
		if got := out.String(); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: shows %.200q", content, got)
		}
	}
}

// Options that Core has given up start a node, and a warning says that they do nothing.
func TestRemovedOptions(t *testing.T) {
	node := func(context.Context, *session) error { return nil }
	status, stderr, log := startWith(t, node, "-checkpoints=0", "-lang=de", "-splash")
	const checkpoints = "Option '-checkpoints' is set but checkpoints were removed. This option has no effect."
	if status != 0 || stderr != "Warning: "+checkpoints+"\n" {
		t.Errorf("status %d: %q", status, stderr)
	}
	for _, want := range []string{checkpoints, "Option -lang has no effect", "Option -splash has no effect"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}

// A category of the log that Core 32 takes no more starts a node, and each mention is warned of.
func TestGoneCategory(t *testing.T) {
	node := func(context.Context, *session) error { return nil }
	const warning = "[warning] The logging category `libevent` is deprecated, does nothing, and will be removed in a " +
		"future version\n"
	for args, times := range map[string]int{
		"-core=30 -debug=libevent": 0, "-debug=http": 0, "-debug=libevent": 1, "-debug=libevent -debug=0 -debug=http": 0,
		"-debug=0 -debug=libevent -debugexclude=libevent -loglevel=libevent:trace": 3,
	} {
		status, stderr, log := startWith(t, node, strings.Fields(args)...)
		if got := strings.Count(log, warning); status != 0 || stderr != "" || got != times {
			t.Errorf("%s: status %d, %q, %d warnings in\n%s", args, status, stderr, got, log)
		}
	}
}

// A damaged settings file is refused in the words of the version of Core that the node speaks as.
func TestDamagedSettings(t *testing.T) {
	const later = "This may be caused by a crash, power loss, full disk, or storage error, and can be fixed by removing"
	for args, want := range map[string]string{
		"": later, "-core=32": later, "-core=30": "This is probably caused by disk corruption or a crash, and can be fixed",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "regtest", "settings.json")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{"), 0o600)); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		status := run(append(strings.Fields(args), "-datadir="+dir, "-regtest"), streams{&out, &errs, dir}, nil)
		if status != 1 || !strings.Contains(errs.String(), "does not contain valid JSON. "+want) {
			t.Errorf("%q: %d, %s", args, status, &errs)
		}
	}
}

func TestSystemWords(t *testing.T) {
	for want, err := range map[string]error{
		"Is a directory (21)": &os.PathError{Op: "open", Path: "x", Err: syscall.EISDIR},
		"another":             errors.New("another"),
	} {
		if got := systemWords(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPortOf(t *testing.T) {
	for args, want := range map[string]string{
		"": "0", "-port=1": "1", "-port=65535": "65535", "-port=": "'': refused", "-noport": "'0': refused",
		"-port=0": "'0': refused", "-port=65536": "'65536': refused", "-port=+1": "'+1': refused", "-port=1 -port=x": "'x': refused",
	} {
		o := options.New(table.Daemon(), "")
		if err := o.ParseArgs(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		port, err := portOf(o, "port")
		got := strconv.Itoa(int(port))
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "Invalid port specified in -port: ") + ": refused"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// The program calls itself by its name in the dialect.
func TestVersionOfDialects(t *testing.T) {
	for dialect, want := range map[string]string{
		"bitcoin": "Trawl daemon version " + version.String() + "\n",
		"qbit":    "qbit daemon version " + version.String() + " (Trawl)\n",
	} {
		var out, errs bytes.Buffer
		run([]string{"-dialect=" + dialect, "-version"}, streams{&out, &errs, t.TempDir()}, nil)
		if got := out.String(); !strings.HasPrefix(got, want) || errs.Len() > 0 {
			t.Errorf("%s: %q, %q, want %q", dialect, got, errs.String(), want)
		}
	}
}

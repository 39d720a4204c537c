package device_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/actors/wallets/device"
)

// script makes a program that a shell runs, which is our own doing: the package has none.
func script(t *testing.T, text string) *device.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "signer")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &device.Program{Command: path, Chain: "regtest", Timeout: 20 * time.Second, FirstDevices: true}
}

func says(t *testing.T, text string) *device.Program {
	t.Helper()
	return script(t, "cat <<'END'\n"+text+"\nEND")
}

func TestEnumerate(t *testing.T) {
	tests := []struct{ says, want, err string }{
		{`[]`, "[]", ""},
		{`[{"fingerprint": "00000001", "model": "trezor_t"}]`, "[00000001 trezor_t]", ""},
		{`[{"fingerprint": "00000001"}, {"fingerprint": "00000002", "model": 5}]`, "[00000001  00000002 ]", ""},
		{`[{"fingerprint": "1"}, {"fingerprint": "1"}, {"fingerprint": "2"}]`, "[1 ]", ""},
		{"[]\nnot read", "[]", ""},
		{`{}`, "[]", "'CMD' received invalid response, expected array of signers"},
		{`null`, "[]", "'CMD' received invalid response, expected array of signers"},
		{`[{}]`, "[]", "'CMD' received invalid response, missing signer fingerprint"},
		{`[5]`, "[]", "'CMD' received invalid response, missing signer fingerprint"},
		{`[{"error": "no device"}]`, "[]", "'CMD' error: no device"},
		{`[{"error": 5}]`, "[]", "'CMD' error"},
		{`{"invalid json"}`, "[]", `Unable to parse JSON: {"invalid json"}`},
		{``, "[]", "Unable to parse JSON: "},
	}
	for _, test := range tests {
		p := says(t, test.says)
		found, err := p.Enumerate(t.Context())
		got := make([]string, len(found))
		for i, d := range found {
			got[i] = d.Fingerprint + " " + d.Name
		}
		text := ""
		if err != nil {
			text = strings.ReplaceAll(err.Error(), p.Command, "CMD")
		}
		if fmt.Sprint(got) != test.want || text != test.err {
			t.Errorf("%q: got %q, %q", test.says, got, text)
		}
	}
}

// Later versions list what comes after a device that is named twice, and read fingerprints.
func TestEnumerateLater(t *testing.T) {
	for text, want := range map[string]string{
		`[{"fingerprint": "0000000a"}, {"fingerprint": "0000000a"}, {"fingerprint": "0000000B"}]`: "2, <nil>",
		`[{"fingerprint": "0000000a"}, {"fingerprint": ""}]`:                                      "0, invalid",
		`[{"fingerprint": "0000001"}]`:                                                            "0, invalid",
		`[{"fingerprint": "000000001"}]`:                                                          "0, invalid",
		`[{"fingerprint": "0000000g"}]`:                                                           "0, invalid",
	} {
		p := says(t, text)
		p.FirstDevices = false
		found, err := p.Enumerate(t.Context())
		if err != nil && err.Error() == "'"+p.Command+"' received invalid fingerprint, must be 8 hex characters" {
			err = errors.New("invalid")
		}
		if got := fmt.Sprintf("%d, %v", len(found), err); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	for _, test := range []struct{ says, want string }{
		{`[]`, "No external signers found"},
		{`[{"fingerprint": "1"}, {"fingerprint": "2"}]`, "More than one external signer found. Please connect only one at a time."},
	} {
		_, err := says(t, test.says).Find(t.Context())
		var none device.NotFoundError
		if !errors.As(err, &none) || err.Error() != test.want {
			t.Errorf("%s: %v", test.says, err)
		}
	}
	var none *device.Program
	if _, err := none.Find(t.Context()); err == nil || err.Error() != "restart bitcoind with -signer=<cmd>" {
		t.Errorf("no program: %v", err)
	}
	_, err := says(t, `{"x": 1}`).Find(t.Context())
	if asNone := new(device.NotFoundError); err == nil || errors.As(err, asNone) {
		t.Errorf("got %v", err)
	}
}

// found returns a device of a program that writes its arguments and what it reads into a
// file, and then says something.
func found(t *testing.T, text string) (d *device.Device, heard func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "heard")
	p := script(t, `case "$1" in enumerate) echo '[{"fingerprint": "0000 $(touch x); 1"}]'; exit;; esac
for word in "$@"; do printf '<%s>' "$word"; done > `+file+`; cat >> `+file+`
cat <<'END'
`+text+"\nEND")
	d, err := p.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d, func() string {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
}

// Each word reaches the program as one argument, whatever is in it.
func TestArguments(t *testing.T) {
	const flags = "<--fingerprint><0000 $(touch x); 1><--chain><regtest>"
	d, heard := found(t, `{"address": "a", "psbt": "signed", "receive": ["r1", "r2"], "internal": ["c"]}`)
	if got, err := d.Display(t.Context(), "wpkh(a b';$)"); err != nil || got != "a" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, want := heard(), flags+"<displayaddress><--desc><wpkh(a b';$)>"; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
	receive, change, err := d.Descriptors(t.Context(), 7)
	if err != nil || fmt.Sprint(receive, change) != "[r1 r2] [c]" {
		t.Errorf("got %q %q, %v", receive, change, err)
	}
	if got, want := heard(), flags+"<getdescriptors><--account><7>"; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
	if got, err := d.Sign(t.Context(), "cHNidA=="); err != nil || got != "signed" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, want := heard(), "<--stdin>"+flags+"signtx cHNidA=="; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
}

func TestRefusals(t *testing.T) {
	d, _ := found(t, `{"error": "no"}`)
	if _, err := d.Display(t.Context(), "d"); err == nil || err.Error() != "Signer returned error: no" {
		t.Errorf("got %v", err)
	}
	_, err := d.Sign(t.Context(), "p")
	if refused := new(device.RefusalError); !errors.As(err, refused) || err.Error() != "no" {
		t.Errorf("got %v", err)
	}
	d, _ = found(t, `[]`)
	if _, err := d.Display(t.Context(), "d"); err == nil || err.Error() != "Signer did not echo address" {
		t.Errorf("got %v", err)
	}
	_, err = d.Sign(t.Context(), "p")
	if refused := new(device.RefusalError); !errors.As(err, refused) || err.Error() != "Unexpected result from signer" {
		t.Errorf("got %v", err)
	}
	_, _, err = d.Descriptors(t.Context(), 0)
	if err == nil || err.Error() != "SetupDescriptorScriptPubKeyMans: Unexpected result" {
		t.Errorf("got %v", err)
	}
}

func TestProgramFails(t *testing.T) {
	p := script(t, "echo out; echo 'first line' >&2; echo more >&2; exit 2")
	_, err := p.Enumerate(t.Context())
	if want := "RunCommandParseJSON error: process(" + p.Command + " enumerate) returned 2: first line\n"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	p = script(t, "kill -TERM $$")
	if _, err := p.Enumerate(t.Context()); err == nil || !strings.HasSuffix(err.Error(), " returned 15: \n") {
		t.Errorf("ended by a signal: %v", err)
	}
	for _, command := range []string{"no such program here", filepath.Join(t.TempDir(), "none")} {
		_, err := (&device.Program{Command: command}).Enumerate(t.Context())
		if err == nil || err.Error() != "execve failed: No such file or directory (2)" {
			t.Errorf("%s: %v", command, err)
		}
	}
	_, err = (&device.Program{Command: t.TempDir()}).Enumerate(t.Context())
	if err == nil || err.Error() != "execve failed: Permission denied (13)" {
		t.Errorf("a directory: %v", err)
	}
}

// A program that writes for ever is ended.
func TestOutputIsBounded(t *testing.T) {
	for _, to := range []string{"1", "2"} {
		p := script(t, "yes 0123456789 >&"+to)
		if _, err := p.Enumerate(t.Context()); err == nil || err.Error() != "signer wrote more than 1 MiB" {
			t.Errorf("stream %s: %v", to, err)
		}
	}
	p := script(t, "head -c 1048570 /dev/zero | tr '\\0' ' '; echo '[]'")
	if _, err := p.Enumerate(t.Context()); err != nil {
		t.Errorf("1 MiB: %v", err)
	}
}

// A program that does not end is killed with all that it has started: with the context, and
// after its time.
func TestKilled(t *testing.T) {
	for _, test := range []struct {
		name string
		how  func(p *device.Program) (context.Context, context.CancelFunc)
		want string
	}{
		{"a stop", func(*device.Program) (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), time.Second)
		}, context.DeadlineExceeded.Error()},
		{"its time", func(p *device.Program) (context.Context, context.CancelFunc) {
			p.Timeout = time.Second
			return context.WithCancel(t.Context())
		}, "signer did not answer in time"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pid := filepath.Join(t.TempDir(), "pid")
			p := script(t, "sleep 1000 & echo $! > "+pid+"; wait")
			ctx, cancel := test.how(p)
			defer cancel()
			if _, err := p.Enumerate(ctx); err == nil || err.Error() != test.want {
				t.Errorf("got %v", err)
			}
			if child := childIn(t, pid); runs(child) {
				t.Errorf("process %d goes on", child)
			}
		})
	}
}

// Processes that a program leaves behind are killed when it has ended, whether they keep the output open or not.
// The output of the program counts all the same.
func TestLeftBehind(t *testing.T) {
	for name, output := range map[string]string{"of its own": ">/dev/null 2>&1 </dev/null", "of the program": ""} {
		t.Run(name, func(t *testing.T) {
			pid := filepath.Join(t.TempDir(), "pid")
			p := script(t, "sleep 1000 "+output+" & echo $! > "+pid+"; echo '[]'")
			if found, err := p.Enumerate(t.Context()); err != nil || len(found) > 0 {
				t.Errorf("got %v, %v", found, err)
			}
			if child := childIn(t, pid); runs(child) {
				t.Errorf("process %d goes on", child)
			}
		})
	}
}

// childIn reads the number of a process from a file.
func childIn(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return child
}

// runs reports whether a process is there, and no zombie.
func runs(pid int) bool {
	for range 100 {
		if syscall.Kill(pid, 0) != nil {
			return false
		}
		state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if err != nil || strings.HasPrefix(strings.TrimSpace(string(state)), "Z") {
			return false
		}
	}
	return true
}

// FuzzAnswers takes whatever a program may say: nothing panics.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{`[{"fingerprint": "1"}]`, `{"address": 5}`, `{"receive": [5], "internal": {}}`, `[[`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		device.Answers(text)
	})
}

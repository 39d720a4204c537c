package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// Publications are read as in Core: in the order of the topics, with the mark of each option;
// a number below 0 is no mark.
func TestPublications(t *testing.T) {
	for _, test := range []struct{ options, want, err string }{
		{"", "[]", ""},
		{
			"-zmqpubrawtx=tcp://127.0.0.1:1 -zmqpubhashtx=tcp://127.0.0.1:2 -zmqpubhashtx=unix:/a -zmqpubhashtxhwm=7",
			"[{pubhashtx tcp://127.0.0.1:2 7} {pubhashtx ipc:///a 7} {pubrawtx tcp://127.0.0.1:1 1000}]", "",
		},
		{"-zmqpubsequence=x -zmqpubsequencehwm=-1", "[{pubsequence x 1000}]", ""},
		{"-zmqpubhashblock=x -zmqpubhashblockhwm=0", "[{pubhashblock x 0}]", ""},
		{"-nozmqpubhashblock", "[]", ""},
		{"-zmqpubrawblock=x:0", "", "Invalid port specified in -zmqpubrawblock: 'x:0'"},
		{"-zmqpubrawblock=ipc:///x", "", "Invalid port specified in -zmqpubrawblock: 'ipc:///x'"},
	} {
		read := func(_ context.Context, s *session) error {
			got, err := publications(s.settings)
			if text := fmt.Sprint(got); err == nil && text != test.want {
				t.Errorf("%s: %s, want %s", test.options, text, test.want)
			}
			return err
		}
		status, stderr, _ := startWith(t, read, strings.Fields(test.options)...)
		if want := "Error: " + test.err + "\n"; test.err != "" && (status != 1 || stderr != want) {
			t.Errorf("%s: status %d, %q, want %q", test.options, status, stderr, want)
		} else if test.err == "" && status != 0 {
			t.Errorf("%s: %s", test.options, stderr)
		}
	}
}

// A text that is no address keeps nothing from starting, as in Core: nothing is published
// then, and the node warns.
func TestPublishNowhere(t *testing.T) {
	read := func(_ context.Context, s *session) error {
		err := s.openPublisher() //nolint:contextcheck // as in the program
		if s.publisher != nil || s.published != nil {
			t.Error("something is published")
		}
		if want := "Nothing is published by ZeroMQ: -zmqpubrawblock=foo is no address"; len(s.warnings) != 1 ||
			s.warnings[0] != want {
			t.Errorf("warnings %q, want %q", s.warnings, want)
		}
		return err
	}
	status, stderr, log := startWith(t, read, "-zmqpubrawtx=tcp://127.0.0.1:*", "-zmqpubrawblock=foo")
	if status != 0 || stderr != "" || !strings.Contains(log, "Nothing is published by ZeroMQ: -zmqpubrawblock=foo") {
		t.Errorf("status %d, %s, %s", status, stderr, log)
	}
}

// An address that cannot be had ends the start: nothing is left unpublished in silence. Names
// are resolved.
func TestPublishAtAnyAddress(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	read := func(_ context.Context, s *session) error {
		err := s.openPublisher() //nolint:contextcheck // as in the program
		if (s.publisher == nil) != (err != nil) {
			t.Errorf("publisher %v, %v", s.publisher, err)
		}
		return errors.Join(err, s.closePublisher())
	}
	for address, why := range map[string]string{
		"tcp://localhost:*": "", "tcp://lo:*": "", "tcp://*:*": "", "tcp://127.0.0.1:*": "",
		"unix:" + filepath.Join(t.TempDir(), "s"): "",
		"tcp://" + taken.Addr().String():          "address already in use",
		"tcp://no.such.host.invalid:*":            `"no.such.host.invalid" is neither a network interface nor a host`,
		"tcp://192.0.2.1:*":                       "cannot assign requested address",
		"unix:/no/such/folder/s":                  "no such file or directory",
	} {
		status, stderr, _ := startWith(t, read, "-zmqpubhashtx="+address)
		if why == "" {
			if status != 0 || stderr != "" {
				t.Errorf("%s: status %d, %s", address, status, stderr)
			}
			continue
		}
		begin := "Error: Nothing can be published by ZeroMQ: bind to " + strings.Replace(address, "unix:", "ipc://", 1) + ": "
		if status != 1 || !strings.HasPrefix(stderr, begin) || !strings.Contains(stderr, why) {
			t.Errorf("%s: status %d, %s", address, status, stderr)
		}
	}
}

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// What is to be published is read as Core does: in the order of the topics, with the mark of
// each option; a number below 0 is no mark.
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

// An address that cannot be had keeps nothing from starting: nothing is published then.
func TestPublishNowhere(t *testing.T) {
	read := func(_ context.Context, s *session) error {
		err := s.openPublisher()
		if s.publisher != nil || s.published != nil {
			t.Error("something is published")
		}
		return err
	}
	status, stderr, log := startWith(t, read, "-zmqpubrawtx=tcp://127.0.0.1:*", "-zmqpubrawblock=foo")
	if status != 0 || !strings.Contains(log, "Nothing is published by ZeroMQ: bind to foo: invalid address") {
		t.Errorf("status %d, %s, %s", status, stderr, log)
	}
}

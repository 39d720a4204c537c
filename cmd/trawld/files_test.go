package main

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc"
)

// Connections, however many, leave the stores the files that they need: the words
// are Core's.
func TestFilesAreDivided(t *testing.T) {
	for _, test := range []struct {
		files          int
		option         string
		peers, callers int
		warning, err   string
	}{
		{files: 159, err: "Not enough file descriptors available. 159 available, 160 required."},
		{
			files: 160, option: "-bind=127.0.0.1 -whitebind=127.0.0.2:1",
			err: "Not enough file descriptors available. 160 available, 161 required.",
		},
		{files: 160, callers: 53, warning: "Reducing -maxconnections from 200 to 0, because of system limitations."},
		{files: 200, peers: 40, callers: 53, warning: "Reducing -maxconnections from 200 to 40, because of system limitations."},
		{files: 1024, peers: 200, callers: 274},
		{files: 4096, peers: 200, callers: 1848},
		{files: 1024, option: "-core=30", peers: 125, callers: 299},
		{files: 4096, option: "-dialect=qbit", peers: 125, callers: 1923},
		{
			files: 20_000, option: "-maxconnections=99999999", peers: 19_840, callers: 53,
			warning: "Reducing -maxconnections from 99999999 to 19840, because of system limitations.",
		},
		{files: 20_000, option: "-maxconnections=0", callers: rpc.DefaultMaxConns},
		{files: math.MaxInt32, peers: 200, callers: rpc.DefaultMaxConns},
		{files: 20_000, option: "-maxconnections=-1", err: "-maxconnections must be greater or equal than zero"},
		{files: 20_000, option: "-maxconnections=2147483648", err: "-maxconnections must be greater or equal than zero"},
		{files: 20_000, option: "-maxconnections=99999999999999999999", err: "-maxconnections must be greater or equal than zero"},
		{files: 20_000, option: "-maxconnections=4294967299", peers: 3, callers: rpc.DefaultMaxConns},
	} {
		var got fileBudget
		divide := func(_ context.Context, s *session) (err error) {
			got, err = budgetFiles(test.files, s.settings)
			return err
		}
		_, stderr, _ := startWith(t, divide, strings.Fields(test.option)...)
		if want := "Error: " + test.err + "\n"; test.err != "" && stderr != want || test.err == "" &&
			strings.Contains(stderr, "Error") {
			t.Errorf("%d %s: %q, want %q", test.files, test.option, stderr, want)
		}
		if test.err == "" && (got.peers != test.peers || got.callers != test.callers || got.warning != test.warning) {
			t.Errorf("%d %s: %+v", test.files, test.option, got)
		}
	}
}

// A timeout that is none, or longer than a clock can tell, does not keep every caller out.
func TestServerTimeout(t *testing.T) {
	for _, text := range []string{"-1", "0", "9223372036854775807", "-9223372036854775808"} {
		read := func(_ context.Context, s *session) error {
			if got := serverConfig(s, fileBudget{}).Timeout; got < 0 {
				t.Errorf("%s: %v", text, got)
			}
			return nil
		}
		startWith(t, read, "-rpcservertimeout="+text)
	}
}

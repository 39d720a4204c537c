package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/load"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
)

func TestMain(m *testing.M) { e2e.Main(m) }

// A real node, whose answers have to be consistent, in an open and in a closed
// loop.
func TestRealNode(t *testing.T) {
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1", "-searchroom=1"}})
	d.Get(nil, "generatetodescriptor", 150, "raw(51)")
	dir := t.TempDir()
	descriptors := filepath.Join(dir, "descriptors")
	const keys = `["raw(51)",{"desc":"pkh(tpubD6NzVbkrYhZ4XgiXtGrdW5XDAPFCL9h7we1vwNCpn8tGbBcgfVYjXyhWo4E1xkh56hjod1Rh` +
		`GjxbaTLV3X4FyWuejifB9jusQ46QzG87VKp/*)","range":100}]`
	if err := os.WriteFile(descriptors, []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(d.Addr, ":")
	for _, loop := range []string{"-rate=0", "-rate=400"} {
		t.Run(loop, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			page, figures := filepath.Join(dir, "a.html"), filepath.Join(dir, "a.json")
			status := run(t.Context(), []string{
				"-regtest", "-datadir=" + d.Dir, "-rpcport=" + port, "-callers=40", "-count=600", loop,
				"-mix=start:3,status:6,abort:3,getblockhash[7]:1,search:2", "-descriptors=" + descriptors,
				"-html=" + page, "-json=" + figures,
			}, streams{stdout: &stdout, stderr: &stderr, terminal: true, home: dir})
			out := stdout.String()
			if status != 0 || !strings.Contains(out, "All replies are consistent.") || !strings.Contains(out, "150 relevant blocks") {
				t.Errorf("exit status %d, %s\n%s", status, stderr.String(), out)
			}
			for _, row := range []string{"start (busy)", "getblockhash (ok)", "search (completed)", "one search: "} {
				if !strings.Contains(out, row) {
					t.Errorf("no %s:\n%s", row, out)
				}
			}
			for path, want := range map[string]string{page: "<svg", figures: `"consistent": true`} {
				if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte(want)) {
					t.Errorf("%s: %v, no %s", path, err, want)
				}
			}
		})
	}
}

// parsed reads a command line that names a password.
func parsed(t *testing.T, args ...string) (*plan, error) {
	t.Helper()
	home := t.TempDir()
	return parse(append([]string{"-rpcpassword=p"}, args...), streams{
		stdout: new(bytes.Buffer), stderr: new(bytes.Buffer), home: home,
	})
}

func TestDefaults(t *testing.T) {
	p, err := parsed(t, "-regtest")
	if err != nil {
		t.Fatal(err)
	}
	c := p.load
	if c.Addr != "127.0.0.1:18443" || c.Login != ":p" || c.Callers != 1000 || c.Duration != 30*time.Second ||
		c.Count != 0 ||
		c.Rate != 0 || c.Mix.String() != defaultMix || c.Timeout != 900*time.Second || c.Seed != 1 || c.Objects != nil {
		t.Errorf("got %+v", c)
	}
	if p, err = parsed(t, "-count=5", "-rpcuser=u", "-rpcconnect=[::1]:99", "-rate=0.5"); err != nil {
		t.Fatal(err)
	}
	if c := p.load; c.Duration != 0 || c.Count != 5 || c.Addr != "[::1]:99" || c.Login != "u:p" || c.Rate != 0.5 {
		t.Errorf("got %+v", c)
	}
}

func TestRefusedOptions(t *testing.T) {
	tests := []struct{ option, want string }{
		{"-callers=0", "-callers must be a number from 1 to"},
		{"-callers=x", "-callers must be a number"},
		{"-count=-1", "-count must be a number"},
		{"-duration=5", "-duration must be a time"},
		{"-duration=-5s", "-duration must be a time"},
		{"-duration=0", "must limit the run"},
		{"-rate=-1", "-rate must be a number"},
		{"-rate=NaN", "-rate must be a number"},
		{"-mix=", "invalid mix"},
		{"-keys=1000001", "-keys must be a number"},
		{"-rpcport=0", "no such port"},
		{"-rpcconnect=example.org", "-allowremote is needed"},
		{"-rpcconnect=10.0.0.1", "-allowremote is needed"},
		{"-descriptors=none", "no such file"},
		{"-nonsense", "Invalid parameter -nonsense"},
		{"start", "There are only options"},
	}
	for _, test := range tests {
		if _, err := parsed(t, test.option); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.option, err, test.want)
		}
	}
	if _, err := parsed(t, "-rpcconnect=10.0.0.1", "-allowremote"); err != nil {
		t.Error(err)
	}
}

func TestScanObjects(t *testing.T) {
	tests := []struct{ text, want string }{
		{"raw(51)\n\n addr(x)#abc \n", `["raw(51)","addr(x)#abc"]`},
		{` [ "raw(51)", {"desc":"x","range":[1,2]} ]`, `["raw(51)",{"desc":"x","range":[1,2]}]`},
		{"", ""},
		{"[]", ""},
		{"[1", ""},
	}
	for _, test := range tests {
		if got, err := scanObjects([]byte(test.text)); string(got) != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%q: got %s, %v; want %s", test.text, got, err, test.want)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	var stdout, stderr bytes.Buffer
	status := run(context.Background(), []string{"-rpcpassword=p", "-rpcport=1"}, streams{
		stdout: &stdout, stderr: &stderr, home: t.TempDir(),
	})
	if status != exitFailure || !strings.HasPrefix(stderr.String(), "Error: ") {
		t.Errorf("exit status %d, %s", status, stderr.String())
	}
}

func TestHelp(t *testing.T) {
	if !slices.ContainsFunc(table.Load(), func(o options.Option) bool {
		return o.Name == "mix" && strings.HasSuffix(o.Help, "(default: "+defaultMix+")")
	}) {
		t.Error("the help names another mix than the default")
	}
	var stdout bytes.Buffer
	if status := run(t.Context(), []string{"-help"}, streams{stdout: &stdout}); status != 0 ||
		!strings.Contains(stdout.String(), "-mix=<calls>") {
		t.Errorf("exit status %d\n%s", status, stdout.String())
	}
	if strings.Contains(stdout.String(), "-rpcwait") {
		t.Error("the help has options in it that do nothing here")
	}
}

func TestProgressLine(t *testing.T) {
	got := progressLine(load.Progress{Calls: 12345, Scans: 6, Failed: 7}, 1500*time.Millisecond, 8000)
	if want := "  1.5 s  12345 calls, 8000/s  6 scans  7 failed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

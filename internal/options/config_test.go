package options

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestConfigErrors(t *testing.T) {
	tests := []struct{ config, want string }{
		{"\n-foo=1", "parse error on line 2: -foo=1, options in configuration file must be specified without leading -"},
		{"foo", "parse error on line 1: foo"},
		{"nofoo # x", "parse error on line 1: nofoo, if you intended to specify a negated option, use nofoo=1 instead"},
		{"rpcpassword=a#b", "parse error on line 1, using # in rpcpassword can be ambiguous and should be avoided"},
		{"regtest.rpcpassword=a # b", "parse error on line 1, using # in rpcpassword can be ambiguous and should be avoided"},
		{"conf=x", "conf cannot be set in the configuration file; use includeconf= if you want to include additional config files"},
		{"nodatadir=1", "Negating of -datadir is meaningless and therefore forbidden"},
		{"datadir=/none", `specified data directory "/none" does not exist.`},
		{"includeconf=none", "Failed to include configuration file none"},
		{"includeconf=", "Failed to include configuration file "},
		{"includeconf=dir", `Included config file "/data/dir" is a directory.`},
	}
	for _, test := range tests {
		s := New(small, "/data")
		err := s.ReadConfig(disk{"/data/trawl.conf": []byte(test.config), "/data/dir": nil})
		if err == nil || err.Error() != test.want {
			t.Errorf("%q: got %v, want %s", test.config, err, test.want)
		}
	}
}

// A line with a mistake may be a password: what a log has of it is its number.
func TestConfigErrorsInTheLog(t *testing.T) {
	for config, want := range map[string]string{
		"rpcpassword x": "parse error on line 1", "\n-rpcpassword=x": "parse error on line 2",
		"norpcpassword x": "parse error on line 1", "includeconf=none": "Failed to include configuration file none",
	} {
		err := New(small, "/data").ReadConfig(disk{"/data/trawl.conf": []byte(config)})
		if mistake, ok := errors.AsType[*Error](err); !ok || mistake.LogText() != want {
			t.Errorf("%q: got %v, want %s", config, err, want)
		}
	}
}

// A mark of the encoding is no part of the first option, and a file in another encoding is refused.
func TestConfigMarks(t *testing.T) {
	s := New(small, "/data")
	files := disk{
		"/data/trawl.conf": []byte("\xef\xbb\xbffoo=own\nincludeconf=more.conf"),
		"/data/more.conf":  []byte("\xef\xbb\xbfsignet=1"), "/data": nil,
	}
	if err := s.ReadConfig(files); err != nil || s.String("foo", "") != "own" || !s.Bool("signet", false) {
		t.Errorf("foo=%s, signet=%v, %v", s.String("foo", ""), s.Bool("signet", false), err)
	}
	const want = "the file is in UTF-16; save it as UTF-8"
	for _, text := range []string{"\xff\xfef\x00o\x00o\x00=\x001\x00", "\xfe\xff\x00f\x00o\x00o\x00=\x001"} {
		err := New(small, "/data").ReadConfig(disk{"/data/trawl.conf": []byte(text)})
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestConfigFile(t *testing.T) {
	files := disk{
		"/data/trawl.conf": []byte("foo=trawl"), "/data/my.conf": []byte("foo=my"), "/dir": nil, "/core": nil,
		"/core/bitcoin.conf": []byte("foo=core"), "/empty": nil,
	}
	tests := []struct {
		args             []string
		want, path, fail string
	}{
		{nil, "trawl", "/data/trawl.conf", ""},
		{[]string{"-datadir=/core"}, "core", "/core/bitcoin.conf", ""},
		{[]string{"-datadir=/core/"}, "core", "/core/bitcoin.conf", ""},
		{[]string{"-datadir=/empty"}, "", "/empty/trawl.conf", ""},
		{[]string{"-conf=my.conf"}, "my", "/data/my.conf", ""},
		{[]string{"-conf=/data/my.conf", "-datadir=/core"}, "my", "/data/my.conf", ""},
		{[]string{"-noconf"}, "", "", ""},
		{[]string{"-conf=none"}, "", "/data/none", `specified config file "/data/none" could not be opened.`},
		{[]string{"-conf=/dir"}, "", "/dir", `Config file "/dir" is a directory.`},
	}
	for _, test := range tests {
		s := New(small, "/data")
		if err := s.ParseArgs(test.args); err != nil {
			t.Fatal(err)
		}
		err := s.ReadConfig(files)
		if (err == nil) != (test.fail == "") || (err != nil && err.Error() != test.fail) {
			t.Errorf("%q: got error %v", test.args, err)
		}
		if got := s.String("foo", ""); got != test.want || s.ConfigPath() != test.path {
			t.Errorf("%q: got %q from %q", test.args, got, s.ConfigPath())
		}
	}
}

func TestIncludedFiles(t *testing.T) {
	s := New(small, "/data")
	if err := s.ParseArgs([]string{"-regtest"}); err != nil {
		t.Fatal(err)
	}
	err := s.ReadConfig(disk{
		"/data/trawl.conf": []byte("includeconf=b\nfoo=1\n[regtest]\nincludeconf=a\n[signet]\nincludeconf=none"),
		"/data/a":          []byte("foo=2\nincludeconf=c"),
		"/data/b":          []byte("foo=3"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Strings("foo"), []string{"1", "2", "3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want := []Remark{
		{Note, "Included configuration file a"},
		{Note, "Included configuration file b"},
		{Notice, "warning: -includeconf cannot be used from included files; ignoring -includeconf=c"},
	}
	if got := s.Remarks(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestNoIncludeConf(t *testing.T) {
	s := read(t, "includeconf=none\nfoo=1", "-noincludeconf")
	if got := s.String("foo", ""); got != "1" {
		t.Errorf("got %q", got)
	}
}

func TestUnknownSections(t *testing.T) {
	s := read(t, "[moon]\nfoo=1\nmars.foo=1\n\n[regtest]\n[]\n")
	want := []Section{
		{"moon", "/data/trawl.conf", 1},
		{"moon.mars", "/data/trawl.conf", 3},
		{"", "/data/trawl.conf", 6},
	}
	if got := s.UnknownSections(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestIgnoredConfig(t *testing.T) {
	files := disk{
		"/data/trawl.conf": []byte("foo=1"), "/data/my.conf": []byte(""), "/other": nil,
		"/start/trawl.conf": []byte("datadir=/data"), "/data": nil, "/start": nil,
	}
	const rest = ` is being used instead. Possible ways to address this would be to:
- Delete or rename the "trawl.conf" file in data directory "/data".
- Change datadir= or conf= options to specify one configuration file, not two, and use includeconf= to include any other configuration files.
- Set allowignoredconf=1 option to treat this condition as a warning, not an error.`
	const ignored = `Data directory "/data" contains a "trawl.conf" file which is ignored, because a different configuration file `
	tests := []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"-conf=/data/trawl.conf"}, ""},
		{[]string{"-noconf"}, ""},
		{[]string{"-datadir=/other"}, ""},
		{[]string{"-conf=my.conf", "-allowignoredconf"}, ""},
		{[]string{"-conf=my.conf"}, ignored + `"/data/my.conf" from command line argument "-conf=my.conf"` + rest},
	}
	for _, test := range tests {
		s := New(small, "/data")
		if err := s.ParseArgs(test.args); err != nil {
			t.Fatal(err)
		}
		start := s.DataDir()
		if err := s.ReadConfig(files); err != nil {
			t.Fatal(err)
		}
		err := s.CheckIgnoredConfig(files, start)
		if (err == nil) != (test.want == "") || (err != nil && err.Error() != test.want) {
			t.Errorf("%q: got %v", test.args, err)
		}
	}

	s := New(small, "/start")
	if err := s.ReadConfig(files); err != nil {
		t.Fatal(err)
	}
	want := ignored + `"/start/trawl.conf" from data directory "/start"` + rest
	if err := s.CheckIgnoredConfig(files, "/start"); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestOS(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (OS{}).ReadFile(big); err == nil {
		t.Error("a file beyond the limit is read")
	}
	if !(OS{}).IsDir(dir) || (OS{}).IsDir(big) || (OS{}).IsDir(filepath.Join(dir, "none")) {
		t.Error("IsDir is wrong")
	}
}

// A pipe is read as long as somebody writes to it, and nobody is waited for without end.
func TestPipes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (OS{RegularOnly: true}).ReadFile(path); err == nil {
		t.Error("a pipe is a regular file")
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte("regtest=1\n"), 0) }() // waits for a reader
	if text, err := (OS{}).ReadFile(path); err != nil || string(text) != "regtest=1\n" {
		t.Errorf("read %q, %v", text, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	read := func(patience time.Duration) ([]byte, error) {
		f, err := openPipe(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return readPipe(f, time.Now().Add(patience))
	}
	if text, err := read(50 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "nobody has written") {
		t.Errorf("without a writer: %q, %v", text, err)
	}
	silent, err := os.OpenFile(path, os.O_RDWR, 0) // a writer that never writes
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if text, err := read(50 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "nobody has written") {
		t.Errorf("with a silent writer: %q, %v", text, err)
	}
}

// Of two files that could be the configuration one is read, and the log is told of
// the other.
func TestUnreadConfigIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		files disk
		want  int
	}{
		"both":  {disk{"/data/trawl.conf": []byte("foo=1"), "/data/bitcoin.conf": []byte("foo=2")}, 1},
		"own":   {disk{"/data/trawl.conf": []byte("foo=1")}, 0},
		"other": {disk{"/data/bitcoin.conf": []byte("foo=1")}, 0},
	} {
		s := New(small, "/data")
		if err := s.ReadConfig(test.files); err != nil {
			t.Fatal(err)
		}
		if got := s.Remarks(); s.String("foo", "") != "1" || len(got) != test.want ||
			len(got) > 0 && got[0].Text != "The configuration file /data/bitcoin.conf is not read, because /data/trawl.conf is there." {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

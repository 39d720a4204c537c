package options

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// small is a table with one option of each sort.
var small = []Option{
	{Name: "datadir", Flags: NoNegation},
	{Name: "conf"},
	{Name: "includeconf"},
	{Name: "allowignoredconf"},
	{Name: "chain"},
	{Name: "regtest"},
	{Name: "signet"},
	{Name: "testnet"},
	{Name: "testnet4"},
	{Name: "help", Help: "Show this help"},
	{Name: "h", Flags: Hidden},
	{Name: "?", Flags: Hidden},
	{Name: "help-debug", Category: Debugging, Help: "Show more help"},
	{Name: "foo", Arg: "<n>", Help: "Set foo"},
	{Name: "loglevel", Category: Debugging, Flags: NoNegation | NeedsValue | Debug, Help: "Set the level"},
	{Name: "port", Category: Connection, Flags: NetworkOnly, Help: "Set the port"},
	{Name: "rpcpassword", Category: RPC, Flags: Sensitive, Help: "Set the password"},
	{Name: "rpccookiefile", Category: RPC, Help: "Set the cookie"},
	{Name: "rest", Category: RPC, Flags: Unused, Help: "No effect"},
}

// disk is a Files in memory; a nil file is a directory.
type disk map[string][]byte

func (d disk) ReadFile(path string) ([]byte, error) {
	if text := d[path]; text != nil {
		return text, nil
	}
	return nil, fs.ErrNotExist
}

func (d disk) IsDir(path string) bool {
	text, ok := d[path]
	return ok && text == nil
}

// read goes through all steps with one configuration file.
func read(t *testing.T, config string, args ...string) *Settings {
	t.Helper()
	s := New(small, "/data")
	if err := s.ParseArgs(args); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadConfig(disk{"/data/trawl.conf": []byte(config)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SelectChain(); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestValues(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		config string
		want   string // of foo; "-" for not set
		list   []string
	}{
		{"not set", nil, "", "-", nil},
		{"no value", []string{"-foo"}, "", "", []string{""}},
		{"two dashes", []string{"--foo=1"}, "", "1", []string{"1"}},
		{"value with equals sign", []string{"-foo=a=b"}, "", "a=b", []string{"a=b"}},
		{"last of the command line", []string{"-foo=1", "-foo=2"}, "", "2", []string{"1", "2"}},
		{"first of the file", nil, "foo=1\nfoo=2", "1", []string{"1", "2"}},
		{"command line before file", []string{"-foo=1"}, "foo=2", "1", []string{"1", "2"}},
		{"section before default", []string{"-regtest"}, "foo=1\n[regtest]\nfoo=2", "2", []string{"2", "1"}},
		{"another network's section", []string{"-regtest"}, "[signet]\nfoo=2", "-", nil},
		{"section by a dot", []string{"-regtest"}, "regtest.foo=2", "2", []string{"2"}},
		{"section main", nil, "[main]\nfoo=2", "2", []string{"2"}},
		{"negated", []string{"-nofoo"}, "", "0", nil},
		{"negated with 1", []string{"-nofoo=1"}, "", "0", nil},
		{"negated twice", []string{"-nofoo=0"}, "", "1", []string{"1"}},
		{"negated, then set", []string{"-nofoo", "-foo=3"}, "", "3", []string{"3"}},
		{"set, then negated", []string{"-foo=3", "-nofoo"}, "", "0", nil},
		{"negation ends the file", []string{"-nofoo"}, "foo=1", "0", nil},
		{"a value after the negation brings the file back", []string{"-nofoo", "-foo=3"}, "foo=1", "3", []string{"3", "1"}},
		{"negated in the file", nil, "foo=1\nnofoo=1\nfoo=2", "2", []string{"2"}},
		{"blanks and comments", nil, " foo = 1 2 # three\r\n#foo=4\n", "1 2", []string{"1 2"}},
		{"empty value in the file", nil, "foo=", "", []string{""}},
		{"no newline at the end", nil, "foo=1", "1", []string{"1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := read(t, test.config, test.args...)
			if got := s.String("foo", "-"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := s.Strings("foo"); !slices.Equal(got, test.list) {
				t.Errorf("list: got %q, want %q", got, test.list)
			}
			if got := s.IsSet("foo"); got != (test.want != "-") {
				t.Errorf("IsSet: got %v", got)
			}
		})
	}
}

func TestNumbersAndTruth(t *testing.T) {
	tests := []struct {
		text   string
		number int64
		truth  bool
	}{
		{"", 0, true},
		{"0", 0, false},
		{"1", 1, true},
		{"-1", -1, true},
		{"+7", 7, true},
		{"+-7", 0, false},
		{" 12abc", 12, true},
		{"true", 0, false},
		{"0x10", 0, false},
		{"1.9", 1, true},
		{"9223372036854775807", 9223372036854775807, true},
		{"9223372036854775808", 9223372036854775807, true},
		{"-9223372036854775808", -9223372036854775808, true},
		{"-99999999999999999999", -9223372036854775808, true},
		{"99999999999999999999", 9223372036854775807, true},
	}
	for _, test := range tests {
		s := read(t, "", "-foo="+test.text)
		if got := s.Int("foo", 99); got != test.number {
			t.Errorf("%q: got %d, want %d", test.text, got, test.number)
		}
		if got := s.Bool("foo", !test.truth); got != test.truth {
			t.Errorf("%q: got %v", test.text, got)
		}
	}
	s := read(t, "")
	if s.Int("foo", 99) != 99 || !s.Bool("foo", true) || s.Bool("foo", false) {
		t.Error("defaults are not kept")
	}
}

func TestCommandLineErrors(t *testing.T) {
	tests := []struct{ arg, want string }{
		{"-bar", "Invalid parameter -bar"},
		{"-bar=1", "Invalid parameter -bar=1"},
		{"--bar", "Invalid parameter --bar"},
		{"-regtest.foo=1", "Invalid parameter -regtest.foo=1"},
		{"-Foo", "Invalid parameter -Foo"},
		{"-no", "Invalid parameter -no"},
		{"--", "Invalid parameter --"},
		{"-=", "Invalid parameter -="},
		{"-nodatadir", "Negating of -datadir is meaningless and therefore forbidden"},
		{"-loglevel", "Can not set -loglevel with no value. Please specify value with -loglevel=value."},
		{"-noincludeconf=0", `-includeconf cannot be used from commandline; -includeconf=true`},
		{"-includeconf=x", `-includeconf cannot be used from commandline; -includeconf="x"`},
	}
	for _, test := range tests {
		err := New(small, "/data").ParseArgs([]string{test.arg})
		var user *Error
		if !errors.As(err, &user) || user.Text != test.want {
			t.Errorf("%s: got %v, want %s", test.arg, err, test.want)
		}
	}
}

func TestWords(t *testing.T) {
	s := New(small, "/data")
	if err := s.ParseArgs([]string{"-foo", "getblock", "-1", "-bar"}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Words(), []string{"getblock", "-1", "-bar"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChain(t *testing.T) {
	const combination = "Invalid combination of -regtest, -signet, -testnet, -testnet4 and -chain. Can use at most one."
	tests := []struct {
		args    []string
		config  string
		want    Chain
		failure string
	}{
		{nil, "", Main, ""},
		{[]string{"-regtest"}, "", Regtest, ""},
		{[]string{"-testnet"}, "", Testnet, ""},
		{[]string{"-chain=testnet4"}, "", Testnet4, ""},
		{nil, "signet=1", Signet, ""},
		{nil, "regtest=1\nregtest=0", Main, ""}, // the last one
		{[]string{"-noregtest"}, "regtest=1", Regtest, ""},
		{[]string{"-regtest=0"}, "regtest=1", Main, ""},
		{[]string{"-chain=moon"}, "", "", "Unknown chain moon."},
		{[]string{"-chain=testnet"}, "", "", "Unknown chain testnet."},
		{[]string{"-nochain"}, "", "", "Unknown chain 0."},
		{[]string{"-regtest", "-signet"}, "", "", combination},
		{[]string{"-chain=regtest", "-regtest"}, "", "", combination},
		{[]string{"-chain=main"}, "regtest=1", "", combination},
	}
	for _, test := range tests {
		s := New(small, "/data")
		if err := errors.Join(s.ParseArgs(test.args), s.addConfig(test.config, "f")); err != nil {
			t.Fatal(err)
		}
		got, err := s.SelectChain()
		if got != test.want || (err == nil) != (test.failure == "") || (err != nil && err.Error() != test.failure) {
			t.Errorf("%q %q: got %q, %v", test.args, test.config, got, err)
		}
	}
}

func TestNetworkOnlyOptions(t *testing.T) {
	tests := []struct {
		name      string
		args      []string
		config    string
		want      string
		misplaced []string
	}{
		{"main", nil, "port=1", "1", nil},
		{"default section", []string{"-regtest"}, "port=1", "-", []string{"port"}},
		{"own section", []string{"-regtest"}, "[regtest]\nport=1", "1", nil},
		{"both sections", []string{"-regtest"}, "port=1\n[regtest]\nport=2", "2", nil},
		{"command line", []string{"-regtest", "-port=3"}, "port=1", "3", nil},
		{"a negation counts", []string{"-regtest"}, "noport=1", "0", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := read(t, test.config, test.args...)
			if got := s.String("port", "-"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := s.Misplaced(); !slices.Equal(got, test.misplaced) {
				t.Errorf("misplaced: got %q, want %q", got, test.misplaced)
			}
		})
	}
}

func TestRemarks(t *testing.T) {
	s := read(t, "bar=1\nregtest.bar=2\nreindex=1", "-nofoo=0", "-norpcpassword=0")
	want := []string{
		"Warning: parsed potentially confusing double-negative -foo=0",
		"Warning: parsed potentially confusing double-negative -rpcpassword=****",
		"Ignoring unknown configuration value bar",
		"Ignoring unknown configuration value regtest.bar",
		"Warning: reindex=1 is set",
		"Ignoring unknown configuration value reindex",
	}
	got := s.Remarks()
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i, remark := range got {
		kind := Warning
		if strings.HasPrefix(want[i], "Warning: ") { // the line says it itself
			kind = Note
		}
		if remark.Kind != kind || !strings.HasPrefix(remark.Text, want[i]) {
			t.Errorf("got %q, want %q", remark.Text, want[i])
		}
	}
}

func TestListingMasksSecrets(t *testing.T) {
	s := read(t, "rpcpassword=hush\n[regtest]\nfoo=\"x\"\nrpcpassword=hush", "-rpcpassword=hush", "-noport", "-regtest", "-noregtest=0")
	want := `Config file arg: rpcpassword=****
Config file arg: [regtest] foo="\"x\""
Config file arg: [regtest] rpcpassword=****
Command-line arg: port=false
Command-line arg: regtest=""
Command-line arg: regtest=true
Command-line arg: rpcpassword=****`
	if got := strings.Join(s.Listing(), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestUnusedGiven(t *testing.T) {
	if got := read(t, "rest=1", "-foo").UnusedGiven(); !slices.Equal(got, []string{"rest"}) {
		t.Errorf("got %q", got)
	}
	if got := read(t, "", "-foo").UnusedGiven(); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

func TestForceWins(t *testing.T) {
	s := read(t, "rpcpassword=a", "-rpcpassword=b")
	s.Force("rpcpassword", "c")
	if got := s.String("rpcpassword", ""); got != "c" {
		t.Errorf("got %q", got)
	}
}

func TestPaths(t *testing.T) {
	s := read(t, "", "-regtest", "-rpccookiefile=x/../my.cookie")
	for _, test := range []struct{ what, got, want string }{
		{"data directory", s.DataDir(), "/data"},
		{"network's folder", s.NetDir(), "/data/regtest"},
		{"cookie", s.CookieFile(), "/data/regtest/my.cookie"},
		{"absolute", s.BelowNetDir("/elsewhere/"), "/elsewhere"},
		{"default cookie", read(t, "").CookieFile(), "/data/.cookie"},
		{"empty cookie", read(t, "", "-rpccookiefile=").CookieFile(), "/data/.cookie"},
		{"no cookie", read(t, "", "-norpccookiefile").CookieFile(), ""},
		{"default directory", DefaultDataDir("/home/u"), "/home/u/.trawl"},
		{"no home", DefaultDataDir(""), "/.trawl"},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", test.what, test.got, test.want)
		}
	}
}

func TestHelp(t *testing.T) {
	s := read(t, "", "-?")
	if !s.HelpAsked() {
		t.Error("-? does not ask for help")
	}
	text := s.Help()
	if !strings.HasPrefix(text, "Options:\n\n  -allowignoredconf\n") ||
		!strings.Contains(text, "\n\n  -foo=<n>\n       Set foo\n\n  -help\n       Show this help\n\n") ||
		!strings.Contains(text, "\n\nConnection options:\n\n  -port\n       Set the port\n\n") {
		t.Errorf("got\n%s", text)
	}
	if strings.Contains(text, "loglevel") {
		t.Error("an option for developers is shown")
	}
	if !strings.Contains(read(t, "", "-help-debug").Help(), "loglevel") {
		t.Error("-help-debug shows no more")
	}
	if read(t, "").HelpAsked() {
		t.Error("help without asking")
	}
}

func TestWrap(t *testing.T) {
	if got, want := Wrap("one two  three incomprehensible x", 9, "  "), "one two\n  three\n  incomprehensible\n  x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSplitHostPort(t *testing.T) {
	tests := []struct {
		text, host string
		port       uint16
		ok         bool
	}{
		{"", "", 0, true},
		{"localhost", "localhost", 0, true},
		{"localhost:1", "localhost", 1, true},
		{"127.0.0.1:65535", "127.0.0.1", 65535, true},
		{"::1", "::1", 0, true},
		{"[::1]", "::1", 0, true},
		{"[::1]:8332", "::1", 8332, true},
		{":8332", "", 8332, true},
		{"localhost:", "", 0, false},
		{"localhost:0", "", 0, false},
		{"localhost:65536", "", 0, false},
		{"localhost:+1", "", 0, false},
		{"localhost:1x", "", 0, false},
		{"[::1]:x", "", 0, false},
	}
	for _, test := range tests {
		host, port, ok := SplitHostPort(test.text)
		if host != test.host || port != test.port || ok != test.ok {
			t.Errorf("%q: got %q, %d, %v", test.text, host, port, ok)
		}
	}
}

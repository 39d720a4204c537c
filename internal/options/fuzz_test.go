package options

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzConfig: any file is read or refused with an error for the user, and then
// every getter works.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"foo=1\n[regtest]\nport=2 # x\nnofoo=1", "[]\n[x.y]\na.b.c=1", "-foo", "rpcpassword=#", "includeconf=x",
		"\x00=\xff\n=\n.=.\n[", "regtest=1\nchain=main", strings.Repeat("[", 99),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, config string) {
		s := New(small, "/data")
		err := s.ReadConfig(disk{"/data/trawl.conf": []byte(config + "\n")})
		if err == nil {
			_, err = s.SelectChain()
		}
		checkReadable(t, s, err)
	})
}

// FuzzArgs does the same for the command line, one word a line.
func FuzzArgs(f *testing.F) {
	for _, seed := range []string{
		"-foo\n-nofoo=0\nget\n-x", "-\nx", "--", "---foo", "-no", "-=", "-regtest.foo=1", "-nodatadir", "-foo=-99999999999999999999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, words string) {
		s := New(small, "/data")
		err := s.ParseArgs(strings.Split(words, "\n"))
		if err == nil {
			_, err = s.SelectChain()
		}
		checkReadable(t, s, err)
	})
}

// FuzzHostPort: what is taken apart is the same when it is put together.
func FuzzHostPort(f *testing.F) {
	for _, seed := range []string{"", "a", "a:1", "[::1]:8332", "[::1]", "::1", ":1", "a:0", "a:65536", "[]:1", "a:b:c", "[a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, port, ok := SplitHostPort(text)
		if !ok {
			if host != "" || port != 0 {
				t.Errorf("%q is refused and %q, %d", text, host, port)
			}
			return
		}
		number := strconv.Itoa(int(port))
		for _, whole := range []string{host, "[" + host + "]"} {
			if port == 0 && text == whole {
				return
			}
			if digits, found := strings.CutPrefix(text, whole+":"); found && port != 0 &&
				strings.TrimLeft(digits, "0") == number {
				return
			}
		}
		t.Errorf("%q is %q, %d", text, host, port)
	})
}

func checkReadable(t *testing.T, s *Settings, err error) {
	t.Helper()
	if user := (*Error)(nil); err != nil && !errors.As(err, &user) {
		t.Fatalf("%T %v", err, err)
	}
	for _, o := range small {
		if s.IsNegated(o.Name) && (s.Bool(o.Name, true) || s.Int(o.Name, 1) != 0 || s.Path(o.Name, "x") != "") {
			t.Errorf("-%s is negated and still set", o.Name)
		}
		if list := s.Strings(o.Name); len(list) > 0 && !s.IsSet(o.Name) {
			t.Errorf("-%s is not set and has values %q", o.Name, list)
		}
	}
	for _, line := range s.Listing() {
		if strings.Contains(line, "rpcpassword=") && !strings.HasSuffix(line, "rpcpassword="+mask) {
			t.Errorf("a secret is shown: %s", line)
		}
	}
	s.Misplaced()
	s.UnknownSections()
	s.UnusedGiven()
}

// An option on the command line settles it, whatever the file says.
func TestCommandLineSettlesProperty(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"-foo", "-foo=0", "-foo=7", "-nofoo", "-nofoo=0", "-regtest"}), 0, 6)
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"foo=1", "foo=2", "nofoo=1", "[regtest]", "[signet]", "regtest=1"}), 0, 6)
	rapid.Check(t, func(rt *rapid.T) {
		args, config := words.Draw(rt, "args"), strings.Join(lines.Draw(rt, "lines"), "\n")
		want := "file"
		for _, arg := range args {
			switch arg {
			case "-foo":
				want = ""
			case "-nofoo":
				want = "0"
			case "-nofoo=0":
				want = "1"
			case "-foo=0", "-foo=7":
				want = arg[5:]
			}
		}
		s := read(t, config, args...)
		if got := s.String("foo", "none"); want != "file" && got != want {
			rt.Fatalf("got %q, want %q", got, want)
		}
	})
}

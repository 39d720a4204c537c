package netsetup

import (
	"fmt"
	"strings"
	"testing"
)

// Where the node is bound, peers are told of these addresses alone, and of their ports.
func TestLocalAddressesOfBinds(t *testing.T) {
	for _, test := range []struct {
		external, bind, whitebind []string
		want                      string
	}{
		{[]string{"2.2.2.2"}, nil, nil, "2.2.2.2:7 4"},
		{[]string{"2.2.2.2"}, []string{"1.1.1.1"}, nil, "2.2.2.2:7 4|1.1.1.1:7 2"},
		{[]string{"2.2.2.2"}, []string{"127.0.0.1", "1.1.1.1:9"}, nil, "2.2.2.2:9 4|1.1.1.1:9 2"},
		{[]string{"2.2.2.2:5"}, []string{"1.1.1.1:9", "1.1.1.1:8=onion"}, nil, "2.2.2.2:5 4|1.1.1.1:9 2"},
		{[]string{"2.2.2.2"}, []string{"1.1.1.1:9"}, []string{"1.1.1.1:11"}, "2.2.2.2:9 4|1.1.1.1:9 2|1.1.1.1:11 2"},
		{[]string{"2.2.2.2"}, nil, []string{"noban@1.1.1.1:10", "1.1.1.1:11"}, "2.2.2.2:11 4|1.1.1.1:11 2"},
	} {
		binds := Binds{Bind: test.bind, Whitebind: test.whitebind, Port: 7}
		discover := len(test.bind)+len(test.whitebind) > 0 // else the interfaces of this host count
		list, err := LocalAddresses(test.external, discover, binds, nil)
		if err != nil {
			t.Fatal(err)
		}
		var each []string
		for _, l := range list {
			each = append(each, fmt.Sprintf("%v %d", l.Addr, l.Score))
		}
		if got := strings.Join(each, "|"); got != test.want {
			t.Errorf("%v %v %v: got %s, want %s", test.external, test.bind, test.whitebind, got, test.want)
		}
	}
}

// An address may be named once, whatever it is for.
func TestConflictingBinds(t *testing.T) {
	const addr, twice = "127.0.0.1:11012", "Duplicate binding configuration for address 127.0.0.1:11012. Please check your " +
		"-bind, -bind=...=onion and -whitebind settings."
	for _, test := range []struct {
		bind, whitebind []string
		want            string
	}{
		{[]string{addr}, nil, ""},
		{[]string{addr, "127.0.0.1:11013", "127.0.0.2:11012"}, []string{"127.0.0.3:11012"}, ""},
		{[]string{addr, addr}, nil, twice},
		{[]string{addr, addr + "=onion"}, nil, twice},
		{[]string{"127.0.0.1:7", "127.0.0.1", "127.0.0.1=onion"}, nil, strings.ReplaceAll(twice, "11012", "7")},
		{[]string{addr}, []string{"noban@" + addr}, twice},
		{nil, []string{addr, "noban@" + addr}, twice},
	} {
		got := ""
		if err := (Binds{Bind: test.bind, Whitebind: test.whitebind, Port: 7}).conflict(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%v %v: %q", test.bind, test.whitebind, got)
		}
	}
}

// Accepting peers at all addresses is, where the rules say so, as if none were named, but for the port.
func TestBoundToAll(t *testing.T) {
	for _, test := range []struct {
		bind  string
		finds bool
		want  int // addresses that are named yet
	}{
		{"0.0.0.0:9", true, 0}, {"[::]:9", true, 0}, {"0.0.0.0:9", false, 1}, {"1.1.1.1:9", true, 1}, {"0.0.0.0:9=onion", true, 1},
	} {
		c := Config{Binds: Binds{Bind: []string{test.bind}, Port: 7}, Rules: Rules{FindsAny: test.finds}}
		named := c.named()
		if len(named.Bind) != test.want || test.want == 0 && named.Port != 9 {
			t.Errorf("%s, %v: %+v", test.bind, test.finds, named)
		}
	}
}

// Later versions call Tor onion alone.
func TestOnlyOnion(t *testing.T) {
	for _, w := range []Ways{{OnlyNet: []string{"tor"}}, {Proxy: []string{"127.0.0.1:9050=tor"}}} {
		if _, err := Reach(t.Context(), Ways{OnlyNet: w.OnlyNet, Proxy: w.Proxy, TorLater: true}); err != nil {
			t.Errorf("%+v: %v", w, err)
		}
		w.OnlyOnion, w.TorLater = true, true
		if _, err := Reach(t.Context(), w); err == nil {
			t.Errorf("%+v was taken", w)
		}
	}
}

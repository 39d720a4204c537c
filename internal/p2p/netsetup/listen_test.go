package netsetup_test

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

// Where nothing is named, peers are accepted on all addresses, and from Tor at the port
// after it. An address for Tor alone has that port, too.
func TestListen(t *testing.T) {
	for _, test := range []struct {
		name string
		bind netsetup.Binds
		want func(port uint16) []string
	}{
		{"nothing named", netsetup.Binds{}, func(port uint16) []string {
			return []string{
				fmt.Sprintf("127.0.0.1:%d onion", port+1), fmt.Sprintf("[::]:%d", port), fmt.Sprintf("0.0.0.0:%d", port),
			}
		}},
		{"nothing named, none for Tor", netsetup.Binds{NoOnionBind: true}, func(port uint16) []string {
			return []string{fmt.Sprintf("[::]:%d", port), fmt.Sprintf("0.0.0.0:%d", port)}
		}},
		{"with permissions", netsetup.Binds{Whitebind: []string{"127.0.0.1:"}}, func(port uint16) []string {
			return []string{fmt.Sprintf("127.0.0.1:%d onion", port+1), fmt.Sprintf("127.0.0.1:%d granted", port)}
		}},
		{"for Tor", netsetup.Binds{Bind: []string{"127.0.0.1=onion"}, NoOnionBind: true}, func(port uint16) []string {
			return []string{fmt.Sprintf("127.0.0.1:%d onion", port+1)}
		}},
		{"for Tor and others", netsetup.Binds{Bind: []string{"127.0.0.1", "127.0.0.2=onion"}}, func(port uint16) []string {
			return []string{fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("127.0.0.2:%d onion", port+1)}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			port, opened := listenSomewhere(t, test.bind)
			var got []string
			for _, l := range opened {
				at := l.Addr().String()
				if l.Onion {
					at += " onion"
				}
				if l.Grant != nil {
					at += " granted"
				}
				got = append(got, at)
			}
			want := test.want(port)
			if !hasIPv6() {
				want = slices.DeleteFunc(want, func(at string) bool { return at[0] == '[' })
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// listenSomewhere tries ports until one is free, with the one after it.
func listenSomewhere(t *testing.T, b netsetup.Binds) (uint16, []netsetup.Listener) {
	t.Helper()
	var err error
	for range 50 {
		var probe net.Listener
		if probe, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		port := uint16(probe.Addr().(*net.TCPAddr).Port)
		_ = probe.Close()
		var opened []netsetup.Listener
		b.Port = port
		for i, at := range b.Whitebind {
			b.Whitebind[i] = at[:strings.LastIndexByte(at, ':')+1] + strconv.Itoa(int(port))
		}
		if opened, err = netsetup.Listen(t.Context(), b); err == nil {
			t.Cleanup(func() { netsetup.CloseAll(opened) })
			return port, opened
		}
	}
	t.Fatal(err)
	return 0, nil
}

func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::]:0")
	if err != nil {
		return false
	}
	return l.Close() == nil
}

package netsetup_test

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

// Where nothing is named, peers are accepted on all addresses, and from Tor at the port
// after it. An address for Tor alone has that port, too.
func TestListen(t *testing.T) {
	for _, test := range []struct {
		name string
		bind []string
		want func(port uint16) []string
	}{
		{"nothing named", nil, func(port uint16) []string {
			return []string{
				fmt.Sprintf("127.0.0.1:%d onion", port+1), fmt.Sprintf("[::]:%d", port), fmt.Sprintf("0.0.0.0:%d", port),
			}
		}},
		{"for Tor", []string{"127.0.0.1=onion"}, func(port uint16) []string {
			return []string{fmt.Sprintf("127.0.0.1:%d onion", port+1)}
		}},
		{"for Tor and others", []string{"127.0.0.1", "127.0.0.2=onion"}, func(port uint16) []string {
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
func listenSomewhere(t *testing.T, bind []string) (uint16, []netsetup.Listener) {
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
		if opened, err = netsetup.Listen(t.Context(), netsetup.Binds{Bind: bind, Port: port}); err == nil {
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

package trawl_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl"
)

// An impossible peer configuration keeps the node from starting, with Core's error text.
func TestPeerConfigErrors(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := taken.Addr().String()
	for _, test := range []struct {
		cfg  trawl.PeerConfig
		want string
	}{
		{trawl.PeerConfig{Bind: []string{at}}, fmt.Sprintf("Unable to bind to %s on this computer. Trawl is probably already running.", at)},
		{trawl.PeerConfig{Bind: []string{"here"}}, "Cannot resolve -bind address: 'here'"},
		{trawl.PeerConfig{Whitebind: []string{"noban@127.0.0.1"}}, "Need to specify a port with -whitebind: '127.0.0.1'"},
		{trawl.PeerConfig{Whitelist: []string{"oops@127.0.0.1"}}, "Invalid P2P permission: 'oops'"},
		{trawl.PeerConfig{Filters: true}, "Cannot set -peerblockfilters without -blockfilterindex."},
		{trawl.PeerConfig{OnlyNet: []string{"dsl"}}, "Unknown network specified in -onlynet: 'dsl'"},
		{trawl.PeerConfig{Proxy: []string{"1.2.3.4:0"}}, "Invalid -proxy address or hostname: '1.2.3.4:0'"},
		{trawl.PeerConfig{ExternalIP: []string{"here"}}, "Cannot resolve -externalip address: 'here'"},
		{trawl.PeerConfig{Comments: []string{"a/b"}}, "User Agent comment (a/b) contains unsafe characters."},
	} {
		cfg := regtest(t.TempDir())
		cfg.BlockFilterIndex, cfg.Peers = false, &test.cfg
		// Messages that are under way when the node gives up must not occupy the actor
		// library for long.
		cfg.System = actor.NewActorSystem(actor.WithDeadLetterThrottleInterval(time.Nanosecond))
		node, err := trawl.Open(t.Context(), cfg)
		if err == nil {
			t.Errorf("%s: no error", test.want)
			shut(t, node)
			continue
		}
		var value trawl.StartError
		var pointer *trawl.StartError
		if errors.As(err, &value) != errors.As(err, &pointer) || pointer != nil && *pointer != value {
			t.Errorf("%q, but %v as a pointer", value, pointer)
		}
		if got, _, _ := strings.Cut(err.Error(), "\n"); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// A node without a port is asked at that of the network, wherever this node listens.
func TestPortOfAddedNodes(t *testing.T) {
	proxy, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	open(t, trawl.Config{Chain: "regtest", Dir: t.TempDir(), Peers: &trawl.PeerConfig{
		Port: 12345, MaxPeers: 10, Proxy: []string{proxy.Addr().String()}, AddNodes: []string{"1.2.3.4"},
	}})
	if l, ok := proxy.(*net.TCPListener); ok {
		_ = l.SetDeadline(time.Now().Add(time.Minute))
	}
	conn, err := proxy.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	var asked [3 + 14]byte // SOCKS5: the ways to log in, then the target as a text
	if _, err := io.ReadFull(conn, asked[:3]); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte{5, 0}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, asked[3:]); err != nil {
		t.Fatal(err)
	}
	if port := binary.BigEndian.Uint16(asked[15:]); port != 18444 {
		t.Errorf("port %d is asked for, by % x", port, asked[3:])
	}
}

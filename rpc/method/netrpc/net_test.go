package netrpc_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/netrpc"
)

func call(t *testing.T, d netrpc.Deps, method string, params ...string) string {
	t.Helper()
	text, err := try(t, d, method, params...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func try(t *testing.T, d netrpc.Deps, method string, params ...string) (string, error) {
	t.Helper()
	return tryAs(t, dialect.Core30, d, method, params...)
}

// tryAs is try with the words of a version of Bitcoin Core.
func tryAs(t *testing.T, reference int, d netrpc.Deps, method string, params ...string) (string, error) {
	t.Helper()
	list := jsontree.NewArray()
	for _, p := range params {
		list.Append(jsontree.NewString(p))
	}
	return tryWith(t, reference, d, method, list)
}

func tryWith(t *testing.T, reference int, d netrpc.Deps, method string, list *jsontree.Value) (string, error) {
	t.Helper()
	table, err := command.NewTable(netrpc.Commands(d))
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	table.Speak(reference)
	prepared, err := table.Prepare(command.Caller{}, method, list)
	if err != nil {
		t.Fatal(err)
	}
	result, err := prepared.Run(t.Context())
	if err != nil {
		return "", err
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// A table stands in for the peer table.
type table struct {
	network messages.NetworkState
	peers   []messages.PeerInfo
	added   []messages.AddedNode
	address messages.AddedAddress // the answer about any
}

func (p *table) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.GetNetwork, messages.NetworkState]:
		m.Answer(p.network, nil)
	case *ask.Call[messages.GetPeers, []messages.PeerInfo]:
		m.Answer(p.peers, nil)
	case *ask.Call[messages.AddPeerAddress, messages.AddedAddress]:
		m.Answer(p.address, nil)
	case *ask.Call[messages.GetAddedNodes, []messages.AddedNode]:
		m.Answer(p.added, nil)
	default:
		ask.Unhandled(c)
	}
}

func (p *table) start(t *testing.T) *ask.Ref {
	t.Helper()
	return actortest.New(t).Spawn("peers", func() actor.Actor { return p })
}

func TestGetNetworkInfo(t *testing.T) {
	peers := &table{network: messages.NetworkState{
		Active:   true,
		Services: uint64(wire.SFNodeNetwork | wire.SFNodeWitness | wire.SFNodeNetworkLimited | 1<<63),
		Peers:    messages.PeerCount{In: 2, Out: 1},
		Networks: []messages.NetworkUse{
			{Name: "ipv4", Reachable: true}, {Name: "onion", Proxy: "127.0.0.1:9050", Randomize: true},
		},
		Local: []messages.LocalAddress{{Host: "1.2.3.4", Port: 8333, Score: 4}},
	}}
	got := call(t, netrpc.Deps{
		Version:         300200,
		Subversion:      "/Satoshi:30.2.0/Trawl:0.1.0/",
		ProtocolVersion: 70016,
		Peers:           peers.start(t),
		RelayFee:        100,
		IncrementalFee:  100,
		Warnings:        func(context.Context) ([]string, error) { return []string{"look out"}, nil },
	}, "getnetworkinfo")
	const want = `{"version":300200,"subversion":"/Satoshi:30.2.0/Trawl:0.1.0/","protocolversion":70016,` +
		`"localservices":"8000000000000409","localservicesnames":["NETWORK","WITNESS","NETWORK_LIMITED","UNKNOWN[2^63]"],` +
		`"localrelay":false,"timeoffset":0,"networkactive":true,"connections":3,"connections_in":2,"connections_out":1,` +
		`"networks":[{"name":"ipv4","limited":false,"reachable":true,"proxy":"","proxy_randomize_credentials":false},` +
		`{"name":"onion","limited":true,"reachable":false,"proxy":"127.0.0.1:9050","proxy_randomize_credentials":true}],` +
		`"relayfee":0.00000100,"incrementalfee":0.00000100,` +
		`"localaddresses":[{"address":"1.2.3.4","port":8333,"score":4}],"warnings":["look out"]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// With -deprecatedrpc=warnings the latest warning is told, as a text.
func TestLastWarning(t *testing.T) {
	for want, list := range map[string][]string{"": nil, "one": {"one"}, "two": {"one", "two"}} {
		got := call(t, netrpc.Deps{
			LastWarning: true, Warnings: func(context.Context) ([]string, error) { return list, nil },
		}, "getnetworkinfo")
		if !strings.HasSuffix(got, `"warnings":"`+want+`"}`) {
			t.Errorf("%q: %s", list, got)
		}
	}
	if got := call(t, netrpc.Deps{LastWarning: true}, "getnetworkinfo"); !strings.HasSuffix(got, `"warnings":""}`) {
		t.Error(got)
	}
}

func TestNoNetworking(t *testing.T) {
	got := call(t, netrpc.Deps{}, "getnetworkinfo")
	for _, want := range []string{
		`"localservices":"0000000000000000","localservicesnames":[]`, `"networkactive":false`, `"warnings":[]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	if got := call(t, netrpc.Deps{}, "getconnectioncount"); got != "0" {
		t.Errorf("connections: %s", got)
	}
	if got := call(t, netrpc.Deps{}, "getpeerinfo"); got != "[]" {
		t.Errorf("peers: %s", got)
	}
}

// A ping that took less than a microsecond is shown as 0, none is not shown.
func TestMinPing(t *testing.T) {
	for _, test := range []struct {
		peer messages.PeerInfo
		want string
	}{
		{messages.PeerInfo{}, ""},
		{messages.PeerInfo{Pinged: true}, `"minping":0,`},
		{messages.PeerInfo{Pinged: true, MinPing: time.Microsecond - 1}, `"minping":0,`},
		{messages.PeerInfo{Pinged: true, MinPing: 1500 * time.Microsecond}, `"minping":0.0015,`},
	} {
		got := call(t, netrpc.Deps{Peers: (&table{peers: []messages.PeerInfo{test.peer}}).start(t)}, "getpeerinfo")
		if test.want == "" && strings.Contains(got, "minping") || !strings.Contains(got, test.want) {
			t.Errorf("%+v: got %s", test.peer, got)
		}
	}
}

func TestSubversion(t *testing.T) {
	fill := strings.Repeat("x", 256-len("/Satoshi:30.2.0/Trawl:1.0()/"))
	const tooLong = "Total length of network version string (258) exceeds maximum length (256). " +
		"Reduce the number or size of uacomments."
	tests := []struct {
		name     string
		comments []string
		want     string // the subversion, or the error
	}{
		{"none", nil, "/Satoshi:30.2.0/Trawl:1.0/"},
		{"one", []string{"a node"}, "/Satoshi:30.2.0/Trawl:1.0(a node)/"},
		{"several", []string{"aZ09 .,;-_?@", "b"}, "/Satoshi:30.2.0/Trawl:1.0(aZ09 .,;-_?@; b)/"},
		{"slash", []string{"a", "b/c"}, "User Agent comment (b/c) contains unsafe characters."},
		{"parenthesis", []string{"a("}, "User Agent comment (a() contains unsafe characters."},
		{"no ASCII", []string{"é"}, "User Agent comment (é) contains unsafe characters."},
		{"longest", []string{fill}, "/Satoshi:30.2.0/Trawl:1.0(" + fill + ")/"},
		{"too long", []string{fill, ""}, tooLong},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := netrpc.Subversion("Satoshi:30.2.0", test.comments, "1.0")
			if refusal, ok := errors.AsType[netrpc.SubversionError](err); ok {
				got += refusal.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Without peers nobody can be disconnected, but wrong arguments are told.
func TestDisconnectNode(t *testing.T) {
	table, err := command.NewTable(netrpc.Commands(netrpc.Deps{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		params string
		code   command.Code
	}{
		{`["1.2.3.4:8333"]`, command.NodeNotConnected},
		{`[""]`, command.NodeNotConnected},
		{`["", 0]`, command.NodeNotConnected},
		{`[null, -5]`, command.NodeNotConnected},
		{`{"nodeid": 7}`, command.NodeNotConnected},
		{`[]`, command.InvalidParams},
		{`{}`, command.InvalidParams},
		{`["1.2.3.4:8333", 0]`, command.InvalidParams},
		{`["", 1.5]`, command.MiscError},
		{`[1]`, command.TypeError},
		{`["", "1"]`, command.TypeError},
		{`["", 1, 2]`, command.MiscError},
	} {
		params, err := jsontree.Parse([]byte(test.params))
		if err != nil {
			t.Fatal(err)
		}
		call, err := table.Prepare(command.Caller{}, "disconnectnode", params)
		if err == nil {
			_, err = call.Run(t.Context())
			err = revealed(table, err)
		}
		if e, ok := errors.AsType[command.Error](err); !ok || e.Code != test.code {
			t.Errorf("%s: got %v, want %d", test.params, err, test.code)
		}
	}
}

// revealed returns what a client is told of an error.
func revealed(table *command.Table, err error) error {
	if e, ok := table.Reveal(err); ok {
		return e
	}
	return err
}

// A name of a network is refused as it was given, and what "remove" does not look at is not refused.
func TestWordsOfArguments(t *testing.T) {
	peers := actortest.New(t).Spawn("peers", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *ask.Call[messages.GetNodeAddresses, []messages.NodeAddress]:
				m.Answer(nil, messages.ErrNetworkName)
			case *ask.Call[messages.SetBan, messages.Done]:
				m.Answer(messages.Done{}, messages.ErrNotBanned)
			default:
				ask.Unhandled(c)
			}
		})
	})
	table, err := command.NewTable(netrpc.Commands(netrpc.Deps{Peers: peers}))
	if err != nil {
		t.Fatal(err)
	}
	const notBanned = "Error: Unban failed. Requested address/subnet was not previously manually banned."
	for _, test := range []struct{ method, params, want string }{
		{"getnodeaddresses", `[1, " IPv4"]`, "Network not recognized:  IPv4"},
		{"getnodeaddresses", `[1, ""]`, "Network not recognized: "},
		{"setban", `["1.2.3.4", "remove", 1.5]`, notBanned},
		{"setban", `["1.2.3.4", "remove", 9223372036854775808, true]`, notBanned},
		{"setban", `["1.2.3.4", "add", 1.5]`, "JSON integer out of range"},
	} {
		params, err := jsontree.Parse([]byte(test.params))
		if err != nil {
			t.Fatal(err)
		}
		call, err := table.Prepare(command.Caller{}, test.method, params)
		if err == nil {
			_, err = call.Run(t.Context())
			err = revealed(table, err)
		}
		if e, ok := errors.AsType[command.Error](err); !ok || e.Message != test.want {
			t.Errorf("%s %s: got %v, want %s", test.method, test.params, err, test.want)
		}
	}
}

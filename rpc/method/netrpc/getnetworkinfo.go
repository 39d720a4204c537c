package netrpc

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

type networkInfo struct {
	Version         int             `json:"version"`
	Subversion      string          `json:"subversion"`
	ProtocolVersion int             `json:"protocolversion"`
	Services        string          `json:"localservices"`
	ServiceNames    []string        `json:"localservicesnames"`
	Relay           bool            `json:"localrelay"`
	TimeOffset      int64           `json:"timeoffset"`
	SendRate        int             `json:"tx_send_rate"`
	Backlogs        backlogs        `json:"inv_buckets"`
	Active          bool            `json:"networkactive"`
	Connections     int             `json:"connections"`
	Inbound         int             `json:"connections_in"`
	Outbound        int             `json:"connections_out"`
	Networks        []network       `json:"networks"`
	RelayFee        jsontree.Amount `json:"relayfee"`
	IncrementalFee  jsontree.Amount `json:"incrementalfee"`
	Addresses       []localAddress  `json:"localaddresses"`
	Warnings        any             `json:"warnings"`
}

// backlogs tells of transactions that are to be announced, for inbound and for outbound peers.
type backlogs struct {
	Inbound  backlog `json:"inbound"`
	Outbound backlog `json:"outbound"`
}

type backlog struct {
	Waiting int     `json:"backlog"`
	Txs     float64 `json:"count_tok"`
	Bytes   float64 `json:"size_tok"`
}

// A network is a kind of addresses.
type network struct {
	Name            string `json:"name"`
	Limited         bool   `json:"limited"`
	Reachable       bool   `json:"reachable"`
	Proxy           string `json:"proxy"`
	ProxyRandomized bool   `json:"proxy_randomize_credentials"`
}

// A localAddress is an address at which the node believes to be reachable.
type localAddress struct {
	Address string `json:"address"`
	Port    int    `json:"port"`
	Score   int    `json:"score"`
}

func getNetworkInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "getnetworkinfo",
		Category: command.Network,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the node's versions and the state of its networking.",
		Results: []command.Result{{Type: command.Object, Inner: append(
			slices.Clone(networkInfoResults), arg.WarningsResult(d.LastWarning),
		)}},
		Examples: []string{`[]`},
		Run:      func(ctx context.Context, _ *command.Args) (any, error) { return d.networkInfo(ctx) },
	}
}

var networkInfoResults = []command.Result{
	{Type: command.Number, Key: "version", Help: "version of Bitcoin Core whose interface this is"},
	{Type: command.String, Key: "subversion", Help: "how the node calls itself"},
	{Type: command.Number, Key: "protocolversion", Help: "version of the messages between peers"},
	{Type: command.Hex, Key: "localservices", Help: "services offered to peers, as bits"},
	{
		Type: command.Array, Key: "localservicesnames", Help: "services offered to peers",
		Inner: []command.Result{{Type: command.String, Help: "name of a service"}},
	},
	{Type: command.Bool, Key: "localrelay", Help: "whether peers are asked for transactions"},
	{Type: command.Number, Key: "timeoffset", Help: "seconds that the clocks of peers are ahead"},
	{
		Type: command.Number, Key: "tx_send_rate", Since: 32,
		Help: "how many transactions are announced in a second, to all peers who connected here",
	},
	{
		Type: command.Object, Key: "inv_buckets", Since: 32,
		Help: "what is to be announced: to peers who connected here, and to those that the node connected to",
		Inner: []command.Result{
			{Type: command.Object, Key: "inbound", Help: "to the former", Inner: backlogResults},
			{Type: command.Object, Key: "outbound", Help: "to the latter", Inner: backlogResults},
		},
	},
	{Type: command.Bool, Key: "networkactive", Help: "whether connections may be made"},
	{Type: command.Number, Key: "connections", Help: "number of connections"},
	{Type: command.Number, Key: "connections_in", Help: "number of those that peers made"},
	{Type: command.Number, Key: "connections_out", Help: "number of those that the node made"},
	{Type: command.Array, Key: "networks", Help: "the kinds of addresses", Inner: []command.Result{
		{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "name", Help: "name of the network (ipv4, ipv6, onion, i2p, cjdns)"},
			{Type: command.Bool, Key: "limited", Help: "whether it is left out"},
			{Type: command.Bool, Key: "reachable", Help: "whether it is used"},
			{Type: command.String, Key: "proxy", Help: "host and port of the proxy in use, if any"},
			{
				Type: command.Bool, Key: "proxy_randomize_credentials",
				Help: "whether each connection logs in to the proxy anew",
			},
		}},
	}},
	{Type: command.Amount, Key: "relayfee", Help: "least fee of transactions passed on, for 1000 virtual bytes"},
	{
		Type: command.Amount, Key: "incrementalfee",
		Help: "least fee by which a transaction replaces others, for 1000 virtual bytes",
	},
	{Type: command.Array, Key: "localaddresses", Help: "where the node can be reached", Inner: []command.Result{
		{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "address", Help: "the address"},
			{Type: command.Number, Key: "port", Help: "the port"},
			{Type: command.Number, Key: "score", Help: "how sure that is"},
		}},
	}},
}

var backlogResults = []command.Result{
	{Type: command.Number, Key: "backlog", Help: "transactions that wait, as too many came at once"},
	{Type: command.Number, Key: "count_tok", Help: "transactions that may be announced now"},
	{Type: command.Number, Key: "size_tok", Help: "bytes of transactions that may be announced now"},
}

// noNetworking is the state of a node without a peer table.
var noNetworking = messages.NetworkState{Networks: []messages.NetworkUse{
	{Name: "ipv4"}, {Name: "ipv6"}, {Name: "onion"}, {Name: "i2p"}, {Name: "cjdns"},
}}

func (d *Deps) networkInfo(ctx context.Context) (any, error) {
	state := noNetworking
	if !d.Peers.IsAbsent() {
		var err error
		if state, err = tell(ctx, d, messages.GetNetwork{}); err != nil {
			return nil, err
		}
	}
	var sending nodemsg.TxSending
	if !d.Relay.IsAbsent() {
		var err error
		if sending, err = ask.Ask(ctx, d.Relay, nodemsg.GetTxSending{}); err != nil {
			return nil, err
		}
	}
	info := networkInfo{
		SendRate: sending.Rate, Backlogs: backlogs{backlog(sending.Inbound), backlog(sending.Outbound)},

		Version:         d.Version,
		Subversion:      d.Subversion,
		ProtocolVersion: d.ProtocolVersion,
		Services:        fmt.Sprintf("%016x", state.Services),
		ServiceNames:    d.serviceNames(wire.ServiceFlag(state.Services)),
		Relay:           state.Relay,
		TimeOffset:      int64(state.TimeOffset / time.Second),
		Active:          state.Active,
		Connections:     state.Peers.In + state.Peers.Out,
		Inbound:         state.Peers.In,
		Outbound:        state.Peers.Out,
		RelayFee:        d.RelayFee,
		IncrementalFee:  d.IncrementalFee,
	}
	for _, n := range state.Networks {
		info.Networks = append(info.Networks, network{n.Name, !n.Reachable, n.Reachable, n.Proxy, n.Randomize})
	}
	for _, l := range state.Local {
		info.Addresses = append(info.Addresses, localAddress{l.Host, int(l.Port), l.Score})
	}
	var err error
	info.Warnings, err = arg.Warnings(ctx, d.Warnings, d.LastWarning)
	return info, err
}

// services are the names that Core knows.
var services = map[wire.ServiceFlag]string{
	wire.SFNodeNetwork:        "NETWORK",
	wire.SFNodeBloom:          "BLOOM",
	wire.SFNodeWitness:        "WITNESS",
	wire.SFNodeCF:             "COMPACT_FILTERS",
	wire.SFNodeNetworkLimited: "NETWORK_LIMITED",
	wire.SFNodeP2PV2:          "P2P_V2",
}

func (d *Deps) serviceNames(offered wire.ServiceFlag) []string {
	var names []string
	for bit := range 64 {
		flag := wire.ServiceFlag(1) << bit
		if offered&flag == 0 {
			continue
		}
		name, ok := services[flag]
		if !ok {
			name, ok = d.ServiceNames[flag]
		}
		if !ok {
			name = fmt.Sprintf("UNKNOWN[2^%d]", bit)
		}
		names = append(names, name)
	}
	return names
}

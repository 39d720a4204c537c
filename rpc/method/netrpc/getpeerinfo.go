package netrpc

import (
	"context"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getPeerInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "getpeerinfo",
		Category: command.Network,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the peers that the node is connected to.",
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: peerResults},
		}}},
		Examples: []string{`[]`},
		Run:      func(ctx context.Context, _ *command.Args) (any, error) { return d.peerInfos(ctx) },
	}
}

type peerInfo struct {
	ID             int64             `json:"id"`
	Addr           string            `json:"addr"`
	Bind           string            `json:"addrbind,omitempty"`
	Local          string            `json:"addrlocal,omitempty"`
	Network        string            `json:"network"`
	AS             uint32            `json:"mapped_as,omitempty"`
	Services       string            `json:"services"`
	ServiceNames   []string          `json:"servicesnames"`
	RelayTxs       bool              `json:"relaytxes"`
	LastInv        uint64            `json:"last_inv_sequence"`
	ToAnnounce     int               `json:"inv_to_send"`
	LastSend       int64             `json:"lastsend"`
	LastRecv       int64             `json:"lastrecv"`
	LastTx         int64             `json:"last_transaction"`
	LastBlock      int64             `json:"last_block"`
	Sent           uint64            `json:"bytessent"`
	Received       uint64            `json:"bytesrecv"`
	Connected      int64             `json:"conntime"`
	TimeOffset     int64             `json:"timeoffset"`
	Ping           float64           `json:"pingtime,omitempty"`
	MinPing        *float64          `json:"minping,omitempty"`
	PingWait       float64           `json:"pingwait,omitempty"`
	Version        int32             `json:"version"`
	Subversion     string            `json:"subver"`
	Inbound        bool              `json:"inbound"`
	CompactTo      bool              `json:"bip152_hb_to"`
	CompactFrom    bool              `json:"bip152_hb_from"`
	StartingHeight int32             `json:"startingheight"`
	Presynced      int32             `json:"presynced_headers"`
	SyncedHeaders  int32             `json:"synced_headers"`
	SyncedBlocks   int32             `json:"synced_blocks"`
	InFlight       []int32           `json:"inflight"`
	AddrRelay      bool              `json:"addr_relay_enabled"`
	AddrProcessed  uint64            `json:"addr_processed"`
	AddrLimited    uint64            `json:"addr_rate_limited"`
	Permissions    []string          `json:"permissions"`
	MinFee         jsontree.Amount   `json:"minfeefilter"`
	SentBy         map[string]uint64 `json:"bytessent_per_msg"`
	ReceivedBy     map[string]uint64 `json:"bytesrecv_per_msg"`
	Type           string            `json:"connection_type"`
	Transport      string            `json:"transport_protocol_type"`
	SessionID      string            `json:"session_id"`
}

var peerResults = []command.Result{
	{Type: command.Number, Key: "id", Help: "number of the connection"},
	{Type: command.String, Key: "addr", Help: "address and port of the peer"},
	{Type: command.String, Key: "addrbind", Optional: true, Help: "own address and port of the connection"},
	{Type: command.String, Key: "addrlocal", Optional: true, Help: "own address as the peer sees it"},
	{
		Type: command.String, Key: "network",
		Help: "network of the address (ipv4, ipv6, onion, i2p, cjdns, not_publicly_routable)",
	},
	{
		Type: command.Number, Key: "mapped_as", Optional: true,
		Help: "number of the autonomous system that the peer's address belongs to, with -asmap",
	},
	{Type: command.Hex, Key: "services", Help: "services that the peer offers, as bits"},
	{
		Type: command.Array, Key: "servicesnames", Help: "services that the peer offers",
		Inner: []command.Result{{Type: command.String, Help: "name of a service"}},
	},
	{Type: command.Bool, Key: "relaytxes", Help: "whether transactions are announced to the peer"},
	{
		Type: command.Number, Key: "last_inv_sequence", Since: 32,
		Help: "sequence number of the pool when transactions were last announced to the peer",
	},
	{Type: command.Number, Key: "inv_to_send", Since: 32, Help: "transactions that are to be announced to the peer"},
	{Type: command.Timestamp, Key: "lastsend", Help: "when something was last sent"},
	{Type: command.Timestamp, Key: "lastrecv", Help: "when something last came"},
	{Type: command.Timestamp, Key: "last_transaction", Help: "when a valid transaction last came"},
	{Type: command.Timestamp, Key: "last_block", Help: "when a block last came"},
	{Type: command.Number, Key: "bytessent", Help: "bytes sent"},
	{Type: command.Number, Key: "bytesrecv", Help: "bytes received"},
	{Type: command.Timestamp, Key: "conntime", Help: "when the connection was made"},
	{Type: command.Number, Key: "timeoffset", Help: "seconds that the peer's clock is ahead"},
	{Type: command.Number, Key: "pingtime", Optional: true, Help: "seconds that the last ping took"},
	{Type: command.Number, Key: "minping", Optional: true, Help: "seconds that the fastest ping took"},
	{Type: command.Number, Key: "pingwait", Optional: true, Help: "seconds for which the answer to a ping is awaited"},
	{Type: command.Number, Key: "version", Help: "version of the protocol that the peer speaks"},
	{Type: command.String, Key: "subver", Help: "how the peer calls itself"},
	{Type: command.Bool, Key: "inbound", Help: "whether the peer made the connection"},
	{Type: command.Bool, Key: "bip152_hb_to", Help: "whether the peer is to send compact blocks unasked"},
	{Type: command.Bool, Key: "bip152_hb_from", Help: "whether the peer wants compact blocks unasked"},
	{Type: command.Number, Key: "startingheight", Until: 32, Help: "height of the peer's chain when it connected"},
	{
		Type: command.Number, Key: "presynced_headers",
		Help: "height that a check of a chain's work has come to, -1 without one",
	},
	{Type: command.Number, Key: "synced_headers", Help: "height of the last header in common"},
	{Type: command.Number, Key: "synced_blocks", Help: "height of the last block in common"},
	{
		Type: command.Array, Key: "inflight", Help: "blocks that the peer was asked for",
		Inner: []command.Result{{Type: command.Number, Key: "n", Help: "height of a block"}},
	},
	{Type: command.Bool, Key: "addr_relay_enabled", Help: "whether addresses are relayed with the peer"},
	{Type: command.Number, Key: "addr_processed", Help: "addresses taken from the peer"},
	{Type: command.Number, Key: "addr_rate_limited", Help: "addresses of the peer dropped because they were too many"},
	{
		Type: command.Array, Key: "permissions", Help: "what the peer is allowed beyond others",
		Inner: []command.Result{{Type: command.String, Key: "permission_type", Help: "name of a permission"}},
	},
	{
		Type: command.Amount, Key: "minfeefilter",
		Help: "least fee of transactions that the peer takes, for 1000 virtual bytes",
	},
	{Type: command.UserKeys, Key: "bytessent_per_msg", Inner: []command.Result{
		{Type: command.Number, Key: "msg", Help: "bytes sent in messages of this name"},
	}},
	{Type: command.UserKeys, Key: "bytesrecv_per_msg", Inner: []command.Result{
		{
			Type: command.Number, Key: "msg",
			Help: "bytes received in messages of this name; unknown ones are under *other*",
		},
	}},
	{
		Type: command.String, Key: "connection_type",
		Help: "what the connection is for: inbound, manual, outbound-full-relay, block-relay-only, feeler, addr-fetch",
	},
	{Type: command.String, Key: "transport_protocol_type", Help: "detecting, v1 or v2"},
	{Type: command.String, Key: "session_id", Help: "id of the encrypted session, empty without one"},
}

func (d *Deps) peerInfos(ctx context.Context) (any, error) {
	if d.Peers.IsAbsent() {
		return []peerInfo{}, nil
	}
	peers, err := tell(ctx, d, messages.GetPeers{})
	if err != nil {
		return nil, err
	}
	var sync map[int64]nodemsg.PeerSync
	if !d.Sync.IsAbsent() {
		if sync, err = ask.Ask(ctx, d.Sync, nodemsg.GetPeerSync{}); err != nil {
			return nil, err
		}
	}
	var relay map[int64]nodemsg.PeerRelay
	if !d.Relay.IsAbsent() {
		if relay, err = ask.Ask(ctx, d.Relay, nodemsg.GetPeerRelay{}); err != nil {
			return nil, err
		}
	}
	infos := make([]peerInfo, len(peers))
	for i := range peers {
		infos[i] = d.newPeerInfo(&peers[i])
		if s, ok := sync[peers[i].ID]; ok {
			infos[i].follows(&s)
		}
		r := relay[peers[i].ID]
		infos[i].LastTx, infos[i].MinFee = seconds(r.LastTx), jsontree.Amount(r.MinFeeFilter)
		infos[i].LastInv, infos[i].ToAnnounce = r.LastInv, r.ToAnnounce
	}
	return infos, nil
}

func (d *Deps) newPeerInfo(p *messages.PeerInfo) peerInfo {
	var least *float64
	if p.Pinged {
		took := micros(p.MinPing)
		least = &took
	}
	return peerInfo{
		ID: p.ID, Addr: p.Addr, Bind: p.Bind, Local: p.Local, Network: p.Network, AS: p.AS,
		Services: fmt.Sprintf("%016x", p.Services), ServiceNames: d.serviceNames(wire.ServiceFlag(p.Services)),
		RelayTxs: p.RelayTxs, LastSend: seconds(p.LastSend), LastRecv: seconds(p.LastRecv),
		Sent: p.Sent, Received: p.Received, Connected: seconds(p.Connected),
		TimeOffset: int64(p.TimeOffset / time.Second),
		Ping:       micros(p.Ping), MinPing: least, PingWait: micros(p.PingWait),
		Version: p.Version, Subversion: p.Subversion, Inbound: p.Inbound, CompactFrom: p.CompactFrom,
		StartingHeight: p.StartHeight, Presynced: -1, SyncedHeaders: -1, SyncedBlocks: -1,
		AddrRelay: p.AddrRelay, AddrProcessed: p.AddrProcessed, AddrLimited: p.AddrLimited,
		Permissions: p.Permissions, SentBy: p.SentBy, ReceivedBy: p.ReceivedBy,
		Type: p.Type, Transport: p.Transport, SessionID: p.SessionID,
	}
}

// follows enters what is known of the peer's chain.
func (p *peerInfo) follows(s *nodemsg.PeerSync) {
	p.Presynced, p.SyncedHeaders, p.SyncedBlocks = s.PresyncedHeaders, s.SyncedHeaders, s.SyncedBlocks
	p.InFlight, p.LastBlock, p.CompactTo = s.InFlight, seconds(s.LastBlock), s.CompactTo
}

// seconds returns a time as JSON-RPC has it: since 1970, 0 for never.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// micros returns a time in seconds, in whole microseconds as Core's clock counts.
func micros(d time.Duration) float64 { return d.Truncate(time.Microsecond).Seconds() }

package netrpc

import (
	"context"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getArchivePeers(d *Deps) command.Command {
	return command.Command{
		Name:     "getarchivepeers",
		Category: command.Network,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the peers that offer all blocks with their witnesses (ARCHIVE), and the nodes of " +
			"-connectarchive.\nThat a peer offers them does not prove that it has them.",
		Params: []command.Param{{
			Name: "view", Type: command.String, Default: `"all"`,
			Help: "what to return: \"all\", \"summary\", \"connected\" or \"configured\"",
		}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Object, Key: "summary", Inner: archiveSummaryResults},
			{
				Type: command.Array, Key: "connected", Optional: true,
				Help: "peers that offer the service, or that -connectarchive made the node connect to, with the " +
					"views \"all\" and \"connected\"",
				Inner: []command.Result{{Type: command.Object, Inner: archivePeerResults}},
			},
			{
				Type: command.Array, Key: "configured", Optional: true,
				Help:  "nodes of -connectarchive, with the views \"all\" and \"configured\"",
				Inner: []command.Result{{Type: command.Object, Inner: archiveTargetResults}},
			},
		}}},
		Examples: []string{`[]`, `["summary"]`, `["connected"]`},
		Run:      d.archivePeers,
	}
}

var archiveSummaryResults = []command.Result{
	{Type: command.Number, Key: "connected_advertised_archive_peers", Help: "connected peers that offer the service"},
	{Type: command.Number, Key: "connected_archive_connections", Help: "connections that -connectarchive made"},
	{Type: command.Number, Key: "configured_archive_targets", Help: "nodes of -connectarchive"},
	{Type: command.Number, Key: "connected_configured_archive_targets", Help: "those of them that are connected"},
}

var archivePeerResults = []command.Result{
	{Type: command.Number, Key: "nodeid", Help: "number of the connection"},
	{Type: command.String, Key: "address", Help: "address and port of the peer"},
	{Type: command.String, Key: "connection_type", Help: "type of the connection"},
	{Type: command.Bool, Key: "archive_connection", Help: "whether -connectarchive made the connection"},
	{Type: command.Bool, Key: "advertises_archive", Help: "whether the peer offers the service"},
	{Type: command.Hex, Key: "services", Help: "services that the peer offers, as bits"},
	{
		Type: command.Array, Key: "servicesnames", Help: "services that the peer offers",
		Inner: []command.Result{{Type: command.String, Help: "name of a service"}},
	},
}

var archiveTargetResults = []command.Result{
	{Type: command.String, Key: "target", Help: "the node as it was configured"},
	{Type: command.String, Key: "source", Help: "where it was configured: connectarchive"},
	{Type: command.Bool, Key: "connected", Help: "whether it is connected"},
	{Type: command.Number, Key: "nodeid", Optional: true, Help: "number of the connection, only when connected"},
}

type archivePeers struct {
	Summary    archiveSummary   `json:"summary"`
	Connected  *[]archivePeer   `json:"connected,omitempty"`
	Configured *[]archiveTarget `json:"configured,omitempty"`
}

type archiveSummary struct {
	Advertised  int `json:"connected_advertised_archive_peers"`
	Connections int `json:"connected_archive_connections"`
	Targets     int `json:"configured_archive_targets"`
	Reached     int `json:"connected_configured_archive_targets"`
}

type archivePeer struct {
	ID           int64    `json:"nodeid"`
	Addr         string   `json:"address"`
	Type         string   `json:"connection_type"`
	Archive      bool     `json:"archive_connection"`
	Advertises   bool     `json:"advertises_archive"`
	Services     string   `json:"services"`
	ServiceNames []string `json:"servicesnames"`
}

type archiveTarget struct {
	Node      string `json:"target"`
	Source    string `json:"source"`
	Connected bool   `json:"connected"`
	ID        *int64 `json:"nodeid,omitempty"`
}

func (d *Deps) archivePeers(ctx context.Context, a *command.Args) (any, error) {
	view, err := a.StringOr(0, "all")
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"all", "summary", "connected", "configured"}, view) {
		return nil, command.Error{
			Code:    command.InvalidParameter,
			Message: "Invalid view, expected one of: all, summary, connected, configured",
		}
	}
	peers, err := tell(ctx, d, messages.GetPeers{})
	if err != nil {
		return nil, err
	}
	nodes, err := tell(ctx, d, messages.GetAddedNodes{})
	if err != nil {
		return nil, err
	}
	var got archivePeers
	connected, configured := d.connectedArchives(peers, &got.Summary), configuredArchives(nodes, &got.Summary)
	if view == "all" || view == "connected" {
		got.Connected = &connected
	}
	if view == "all" || view == "configured" {
		got.Configured = &configured
	}
	return got, nil
}

// connectedArchives lists the connected archives, and counts them.
func (d *Deps) connectedArchives(peers []messages.PeerInfo, sum *archiveSummary) []archivePeer {
	list := []archivePeer{}
	for i := range peers {
		p := &peers[i]
		offered := wire.ServiceFlag(p.Services)
		advertises := offered&d.Archive != 0
		if advertises {
			sum.Advertised++
		}
		if p.Archive {
			sum.Connections++
		}
		if advertises || p.Archive {
			list = append(list, archivePeer{
				ID: p.ID, Addr: p.Addr, Type: p.Type, Archive: p.Archive, Advertises: advertises,
				Services: fmt.Sprintf("%016x", p.Services), ServiceNames: d.serviceNames(offered),
			})
		}
	}
	return list
}

// configuredArchives lists the nodes of -connectarchive, and counts them.
func configuredArchives(nodes []messages.AddedNode, sum *archiveSummary) []archiveTarget {
	list := []archiveTarget{}
	for _, n := range nodes {
		if !n.Archive {
			continue
		}
		sum.Targets++
		target := archiveTarget{Node: n.Node, Source: "connectarchive", Connected: n.Addr != ""}
		if target.Connected {
			sum.Reached++
			target.ID = &n.ID
		}
		list = append(list, target)
	}
	return list
}

package messages

import (
	"time"
)

// The requests of this file are served by the peer table, but for
// [GetPeerSync] and [GetPeerRelay]. Addresses are texts as getpeerinfo shows them:
// "1.2.3.4:8333", "[::1]:8333".

var (
	// ErrPeerNotFound reports a peer that is not connected.
	ErrPeerNotFound = refusal("peer is not connected")

	// ErrNodeAdded reports a node that is in the list of added nodes already.
	ErrNodeAdded = refusal("node was added already")

	// ErrNodeNotAdded reports a node that is not in the list of added nodes.
	ErrNodeNotAdded = refusal("node was not added")

	// ErrNoSlot reports that there are as many connections of a type as there
	// may be.
	ErrNoSlot = refusal("at capacity for the type of connection")

	// ErrBanned reports an address or a subnet that is banned already.
	ErrBanned = refusal("already banned")

	// ErrNotBanned reports an address or a subnet that was not banned by
	// exactly that name.
	ErrNotBanned = refusal("not banned")
)

// GetPeers asks for all connections, by ascending id.
type GetPeers struct{ Control[[]PeerInfo] }

// PeerInfo is what is known of a connection. Before the handshake the fields that
// the peer tells are zero.
type PeerInfo struct {
	ID          int64
	Addr        string
	Bind        string // own end of the connection; empty: not known
	Local       string // own address as the peer sees it; empty: not said
	Network     string // "ipv4", … , "not_publicly_routable"
	AS          uint32 // autonomous system of the address; 0: not known
	Type        string // "inbound", "manual", …
	Inbound     bool
	Transport   string // "detecting", "v1", "v2"
	SessionID   string // hex; empty with v1
	Permissions []string

	Services    uint64 // as the peer has said, and shown since
	Version     int32
	Subversion  string
	StartHeight int32
	RelayTxs    bool // whether transactions may be announced to the peer
	Established bool

	Connected, LastSend, LastRecv time.Time // zero: never
	Sent, Received                uint64    // bytes
	SentBy, ReceivedBy            map[string]uint64
	TimeOffset                    time.Duration
	Ping, MinPing, PingWait       time.Duration // 0: none
	Pinged                        bool          // a ping was answered: MinPing counts, 0 too

	AddrRelay     bool   // whether addresses are relayed with the peer
	AddrProcessed uint64 // addresses taken
	AddrLimited   uint64 // addresses dropped, because there were too many

	CompactFrom bool // the peer wants blocks announced as compact blocks
	Archive     bool // the connection was made to a node that must give all blocks with their witnesses
}

// CountPeers asks how many connections there are.
type CountPeers struct{ Control[PeerCount] }

// PeerCount is the answer to [CountPeers].
type PeerCount struct{ In, Out int }

// DisconnectPeer ends a connection at once, the first one of that address, or
// that of the id.
//
// Errors: [ErrPeerNotFound].
type DisconnectPeer struct {
	Control[Done]

	Addr string // counts unless ID is set
	ID   *int64
}

// ConnectPeer connects to a node once. It is answered when that has succeeded or
// failed; neither is an error.
//
// Errors: [ErrNoSlot].
type ConnectPeer struct {
	Control[Done]

	Node string // host or address, with or without a port
	Type string // as PeerInfo.Type; empty: manual
	V2   *bool  // nil: as the node is configured
}

// AddNode enters a node into the list of those that the node stays connected to.
//
// Errors: [ErrNodeAdded].
type AddNode struct {
	Control[Done]

	Node string
	V2   *bool // nil: as the node is configured
}

// RemoveNode takes a node out of that list; a connection stays.
//
// Errors: [ErrNodeNotAdded].
type RemoveNode struct {
	Control[Done]

	Node string
}

// GetAddedNodes asks for the list of added nodes.
type GetAddedNodes struct{ Control[[]AddedNode] }

// AddedNode is a node of that list.
type AddedNode struct {
	Node    string
	Archive bool   // must give all blocks with their witnesses
	Addr    string // of the connection; empty: there is none
	ID      int64  // of the connection, where there is one
	Inbound bool
}

// PingPeers pings all peers.
type PingPeers struct{ Control[Done] }

// SetNetworkActive lets the node have connections, or ends all and makes none.
type SetNetworkActive struct {
	Control[Done]

	Active bool
}

// GetNetwork asks for the state of the node's networking.
type GetNetwork struct{ Control[NetworkState] }

// NetworkState is the answer to [GetNetwork].
type NetworkState struct {
	Active         bool
	Services       uint64 // offered to peers
	Relay          bool   // whether peers are asked for transactions
	Peers          PeerCount
	TimeOffset     time.Duration // median of the peers'
	Sent, Received uint64        // bytes, of all connections ever
	Networks       []NetworkUse
	Local          []LocalAddress
	V2             bool // whether the encrypted transport is spoken
	Uploads        UploadState
	Archives       ArchiveCount
}

// ArchiveCount counts the nodes that serve all blocks with their witnesses, on networks that have a service
// flag for archives.
type ArchiveCount struct {
	Offering            int // peers that offer the service
	Configured, Reached int // nodes that the operator has named for it, and those of them that are connected
}

// UploadState tells how much of the daily upload limit is used up. It is zero without a
// limit.
type UploadState struct {
	Limit, Left uint64        // bytes
	Reached     bool          // as much was sent
	OldReached  bool          // the rest is kept for blocks to come: old ones are served no more
	Remains     time.Duration // until the limit begins anew
}

// NetworkUse is how addresses of one network are reached.
type NetworkUse struct {
	Name      string // "ipv4"
	Reachable bool
	Proxy     string // host:port; empty: none
	Randomize bool   // other credentials of the proxy for each connection
}

// LocalAddress is one at which the node believes it can be reached.
type LocalAddress struct {
	Host  string
	Port  uint16
	Score int
}

var (
	// ErrSubnet reports a text that is neither an address nor a range of addresses.
	ErrSubnet = refusal("no address or subnet")

	// ErrPast reports a ban that would be over already.
	ErrPast = refusal("time is in the past")
)

// SetBan bans an address or a range of addresses and disconnects its peers, or
// takes that back. It is answered when it is on disk.
//
// Errors: [ErrSubnet], [ErrBanned], [ErrPast], [ErrNotBanned].
type SetBan struct {
	Control[Done]

	Subnet   string // "1.2.3.4", "1.2.0.0/16", "::1"
	Remove   bool
	Time     int64 // seconds from now; 0 or less: as the node is configured
	Absolute bool  // Time is in seconds since 1970
}

// ListBans asks for all bans, in the order of networks and addresses.
type ListBans struct{ Control[[]Ban] }

// Ban is a range of addresses that may not connect.
type Ban struct {
	Subnet              string
	Created, Until, Now time.Time // to the second; Now is the node's time
}

// ClearBans takes back all bans. It is answered when that is on disk.
type ClearBans struct{ Control[Done] }

// ErrNetworkName reports a network that nobody knows.
var ErrNetworkName = refusal("unknown network")

// GetNodeAddresses asks for addresses of nodes that may be there, at random.
//
// Errors: [ErrNetworkName].
type GetNodeAddresses struct {
	Control[[]NodeAddress]

	Count   int    // at most; 0: all
	Network string // "ipv4"; empty: any
}

// NodeAddress is where a node may be.
type NodeAddress struct {
	Host     string
	Port     uint16
	Network  string
	Services uint64
	Seen     time.Time // last heard of
	Tried    bool      // was reached once
}

// AddPeerAddress adds the address of a node by hand.
type AddPeerAddress struct {
	Control[AddedAddress]

	Host  string
	Port  uint16
	Tried bool // add it as an address that was reached
}

// AddedAddress is the answer to [AddPeerAddress].
type AddedAddress struct {
	Added  bool
	Failed string // how, in Core's words; empty with a text that is no address
}

// CountAddresses asks how many addresses of nodes are known: of each network, and
// of all.
type CountAddresses struct{ Control[[]AddressCount] }

// AddressCount is how many addresses are known of a network.
type AddressCount struct {
	Network    string
	New, Tried int // heard of, and reached
}

// GetAddressTables asks for the tables of the addresses of nodes, as they are.
type GetAddressTables struct{ Control[AddressTables] }

// AddressTables is the answer to [GetAddressTables], by place: an address may be in New
// more than once.
type AddressTables struct{ New, Tried []PlacedAddress }

// A PlacedAddress is an address at a place of a table.
type PlacedAddress struct {
	NodeAddress

	Bucket, Position      int
	Source, SourceNetwork string // of the node that told of it
	AS, SourceAS          uint32 // autonomous systems of both; 0: not known
}

// SendToPeer sends a peer a message of any kind, as it is.
//
// Errors: [ErrPeerNotFound], also before the handshake is done.
type SendToPeer struct {
	Control[Done]

	ID      int64
	Command string // at most 12 bytes
	Payload []byte
}

package dialect

import (
	"cmp"
	"time"
)

// Traffic is how nodes of a network deal with their peers.
type Traffic struct {
	// MaxTipAge is the age of the tip from which on a node counts as behind by default.
	MaxTipAge time.Duration

	// HeadersWithin is how long a peer may take to answer getheaders before it is asked again.
	HeadersWithin time.Duration

	// MaxAnnounced is how many new blocks are announced to peers by headers.
	MaxAnnounced int

	// CompactDepth is how deep a block may lie that is sent as a compact block, BlockTxDepth how
	// deep if single transactions of it are given out.
	CompactDepth, BlockTxDepth int32

	// Inbound and Outbound are the mean times between announcements of transactions to a peer: an
	// inbound peer has connected to this node, an outbound peer was connected to.
	Inbound, Outbound time.Duration

	// TimesByAddress has inbound peers that came by different addresses of the node get announcements at
	// different times; else all of them get these at one time.
	TimesByAddress bool

	// FeeFilter is the mean time between the fee rates that a peer is sent.
	FeeFilter time.Duration

	// OwnAddressFirst has a peer sent the node's own address in a message by itself, before other addresses.
	OwnAddressFirst bool

	// QuietFeelers says that peers are asked for no addresses where they are only looked whether they are there.
	QuietFeelers bool

	// StrictCompact has compact blocks taken from peers alone that say to have them, and were asked for the block or
	// chosen to send blocks so, and by nodes alone that take transactions.
	StrictCompact bool

	// DefendedOnion says that Tor is asked to defend the node's onion service by proofs of work.
	DefendedOnion bool

	// ZeroFeeParents has a child pay for a parent below the least fee rate of relayed transactions, whatever the
	// version of the parent; else only for parents of version 3.
	ZeroFeeParents bool

	InvalidChain InvalidChain // the words about a long chain that is not valid

	// NewerLog has lines of the log about peers written as Core 32 does.
	NewerLog bool

	// NearWork has chains taken in that leave ours 144 blocks before the tip or later, by the work
	// of these blocks. Else it goes by the work of the tip alone.
	NearWork bool
}

// PeerOptions says how the operator's options of the network are taken; the zero value is how Core 30.2 takes them.
type PeerOptions struct {
	RefusesTwice bool   // an address to accept peers at may be named once
	OnlyOnion    bool   // Tor has the name onion alone, not tor
	HashesFile   bool   // a map of autonomous systems is known by the hash of its bytes, not of its bits
	SessionName  string // of a session in I2P in the log; empty: SAM session
	FindsAny     bool   // accepting peers at all addresses by name has own addresses found, as without a name
}

// LogNames are those of categories of the log, where versions of Bitcoin Core differ.
type LogNames struct {
	Unlisted []string // that are not listed
	Gone     string   // of a category that is passed over; empty: none
}

// GoneCategory is the warning about a category of the log that is passed over.
func GoneCategory(name string) string {
	return "The logging category `" + name + "` is deprecated, does nothing, and will be removed in a future version"
}

// TipAge returns the age of the tip from which on a node counts as behind, where the operator has chosen one, or 0.
func (n *Network) TipAge(chosen time.Duration) time.Duration {
	return cmp.Or(chosen, n.Traffic.MaxTipAge)
}

// bitcoinTraffic is that of Bitcoin's networks.
var bitcoinTraffic = Traffic{
	MaxTipAge: 24 * time.Hour, HeadersWithin: 2 * time.Minute, MaxAnnounced: 8, CompactDepth: 5, BlockTxDepth: 10,
	Inbound: 5 * time.Second, Outbound: 2 * time.Second, FeeFilter: 10 * time.Minute,
	InvalidChain: invalidChain30,
}

// InvalidChain is the words where a chain that is not valid has the work of more than six blocks more
// than the active one.
type InvalidChain struct {
	Warning   string // to the operator
	Log       string // in the log
	Initially bool   // in the initial download, too
}

// invalidChain30 and invalidChain32 are the words of Core 30.2 and 32.
var (
	invalidChain30 = InvalidChain{
		Warning: "Warning: We do not appear to fully agree with our peers! You may need to upgrade, or other nodes " +
			"may need to upgrade.",
		Log: "Warning: Found invalid chain at least ~6 blocks longer than our best chain. " +
			"Chain state database corruption likely.",
	}
	invalidChain32 = InvalidChain{
		Warning:   "Warning: " + foundInvalid,
		Log:       foundInvalid,
		Initially: true,
	}
)

const foundInvalid = "Found invalid chain more than 6 blocks longer than our best chain. This could be due to " +
	"database corruption or consensus incompatibility with peers."

// setRelay32 changes what nodes take from their peers, and tell them, to what Core 32 does.
func (n *Network) setRelay32() {
	t := &n.Traffic
	t.OwnAddressFirst, t.QuietFeelers, t.StrictCompact, t.DefendedOnion = true, true, true, true
	n.PeerOptions = PeerOptions{
		RefusesTwice: true, OnlyOnion: true, HashesFile: true, FindsAny: true, SessionName: "I2P SAM session",
	}
	t.TimesByAddress, t.ZeroFeeParents, t.InvalidChain, t.NewerLog = true, true, invalidChain32, true
}

// qbitTraffic is that of qbit's, whose blocks come more often.
var qbitTraffic = Traffic{
	MaxTipAge: 3 * time.Hour, HeadersWithin: 30 * time.Second, MaxAnnounced: 16, CompactDepth: 10, BlockTxDepth: 20,
	Inbound: time.Second, Outbound: time.Second, FeeFilter: 2 * time.Minute, NearWork: true,
	InvalidChain: invalidChain30,
}

// Signals is how signals for unknown rules are counted, so that the node can warn.
type Signals struct {
	From              int32 // height of the first block that counts
	Bits              int   // of versions that count: the lowest ones
	Period, Threshold int32 // blocks
}

// The count of the main chains.
const (
	signalPeriod    = 2016
	signalThreshold = 1815
	voteBits        = 29
)

// bitcoinSignals count in periods of difficulty on chains for tests.
func (n *Network) bitcoinSignals() Signals {
	s := Signals{From: n.Signals.From, Bits: voteBits, Period: signalPeriod, Threshold: signalThreshold}
	if n.ForTests {
		s.Period = int32(n.Params.TargetTimespan / n.Params.TargetTimePerBlock)
		s.Threshold = s.Period * 3 / 4
	}
	return s
}

// qbitSignals count in the longest period of the deployments on chains for tests. The other bits
// of versions name lanes, or are counted with by miners.
func (n *Network) qbitSignals() Signals {
	s := Signals{Bits: qbitVoteBits, Period: signalPeriod, Threshold: signalThreshold}
	if n.ForTests {
		s.Period = 0
		for i := range n.Deployments {
			s.Period = max(s.Period, n.Deployments[i].Period)
		}
		s.Threshold = s.Period * 3 / 4
	}
	return s
}

const qbitVoteBits = 8

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

	// FeeFilter is the mean time between the fee rates that a peer is sent.
	FeeFilter time.Duration

	// NearWork has chains taken in that leave ours 144 blocks before the tip or later, by the work
	// of these blocks. Else it goes by the work of the tip alone.
	NearWork bool
}

// TipAge returns the age of the tip from which on a node counts as behind, where the operator has chosen one, or 0.
func (n *Network) TipAge(chosen time.Duration) time.Duration {
	return cmp.Or(chosen, n.Traffic.MaxTipAge)
}

// bitcoinTraffic is that of Bitcoin's networks.
var bitcoinTraffic = Traffic{
	MaxTipAge: 24 * time.Hour, HeadersWithin: 2 * time.Minute, MaxAnnounced: 8, CompactDepth: 5, BlockTxDepth: 10,
	Inbound: 5 * time.Second, Outbound: 2 * time.Second, FeeFilter: 10 * time.Minute,
}

// qbitTraffic is that of qbit's, whose blocks come more often.
var qbitTraffic = Traffic{
	MaxTipAge: 3 * time.Hour, HeadersWithin: 30 * time.Second, MaxAnnounced: 16, CompactDepth: 10, BlockTxDepth: 20,
	Inbound: time.Second, Outbound: time.Second, FeeFilter: 2 * time.Minute, NearWork: true,
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

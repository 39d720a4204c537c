package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed61375155/trawl/messages"
)

// patience is how long a scrape waits for what actors tell.
const patience = time.Second

// AddNode shows the numbers of a node, which read returns, with those that are known when
// ctx ends. Call it once.
func (e *Exporter) AddNode(read func(ctx context.Context) messages.NodeStats) {
	e.add(newNodeNumbers(read))
}

// nodeNumbers tell of a node.
type nodeNumbers struct {
	read func(ctx context.Context) messages.NodeStats

	actors   *numbers[messages.PartStats]
	late     *numbers[messages.LatePart]
	chain    *numbers[messages.ChainStats]
	warnings *numbers[int]
	indexes  *numbers[messages.IndexStats]
	matching *numbers[messages.MatchStats]
	scan     *numbers[messages.ScanStatus]
	searches *numbers[messages.SearchStats]
	states   *numbers[int]
	peers    *numbers[messages.NetworkState]
	peerSide *numbers[int]
	pool     *numbers[messages.PoolInfo]
	copied   *numbers[messages.CopiedPool]
	wallets  *numbers[messages.WalletStats]
	attached *numbers[messages.AttachState]
	stale    *numbers[messages.StaleStats]
	phase    *numbers[bool]
	sources  *numbers[messages.AttachSource]
	stores   *numbers[messages.StoreStats]
}

func newNodeNumbers(read func(ctx context.Context) messages.NodeStats) *nodeNumbers {
	return &nodeNumbers{
		read:   read,
		actors: newNumbers(actorNumbers, "actor"),
		late: newNumbers([]number[messages.LatePart]{{
			"trawl_late_parts", gauge, "1 where a part did not answer this scrape, or failed: its numbers are missing.",
			func(p *messages.LatePart) float64 { return truth(p.Late) },
		}}, "actor"),
		chain:    newNumbers(chainNumbers),
		warnings: newNumbers(count("trawl_warnings", "Warnings that the operator should look at.")),
		indexes:  newNumbers(indexNumbers, "index"),
		matching: newNumbers(matchNumbers),
		scan:     newNumbers(scanNumbers),
		searches: newNumbers(searchNumbers),
		states:   newNumbers(count("trawl_searches", "Searches that are kept, by state."), "state"),
		peers:    newNumbers(peerNumbers),
		peerSide: newNumbers(count("trawl_peers", "Connections to peers, by who opened them."), "direction"),
		pool:     newNumbers(poolNumbers),
		copied:   newNumbers(copiedNumbers),
		wallets:  newNumbers(walletNumbers),
		attached: newNumbers(attachNumbers),
		stale:    newNumbers(staleNumbers),
		phase: newNumbers([]number[bool]{{
			"trawl_attach_phase_state", gauge, "1 for what the node does that is attached to another one, else 0.",
			func(is *bool) float64 { return truth(*is) },
		}}, "phase"),
		sources: newNumbers(sourceNumbers, "source"),
		stores: newNumbers([]number[messages.StoreStats]{{
			"trawl_store_size_bytes", gauge, "Size of the files of a store, as of the last minutes.",
			func(s *messages.StoreStats) float64 { return float64(s.Bytes) },
		}}, "store"),
	}
}

// count is a gauge that a number is read for.
func count(name, help string) []number[int] {
	return []number[int]{{name, gauge, help, func(n *int) float64 { return float64(*n) }}}
}

// Describe implements prometheus.Collector.
func (n *nodeNumbers) Describe(to chan<- *prometheus.Desc) {
	for _, describe := range []func(chan<- *prometheus.Desc){
		n.actors.describe, n.late.describe, n.chain.describe, n.warnings.describe, n.indexes.describe,
		n.matching.describe, n.scan.describe, n.searches.describe, n.states.describe, n.peers.describe,
		n.peerSide.describe, n.pool.describe, n.copied.describe, n.wallets.describe, n.attached.describe,
		n.stale.describe, n.phase.describe, n.sources.describe, n.stores.describe,
	} {
		describe(to)
	}
}

// Collect implements prometheus.Collector.
func (n *nodeNumbers) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s := n.read(ctx)
	for i := range s.Actors {
		n.actors.collect(to, &s.Actors[i], s.Actors[i].Part)
	}
	for i := range s.Late {
		n.late.collect(to, &s.Late[i], s.Late[i].Part)
	}
	for i := range s.Indexes {
		n.indexes.collect(to, &s.Indexes[i], s.Indexes[i].Name)
	}
	for i := range s.Stores {
		n.stores.collect(to, &s.Stores[i], s.Stores[i].Name)
	}
	optional(to, n.chain, s.Chain)
	optional(to, n.warnings, s.Warnings)
	optional(to, n.matching, s.Matching)
	optional(to, n.scan, s.Scan)
	optional(to, n.pool, s.Pool)
	optional(to, n.copied, s.Copied)
	optional(to, n.wallets, s.Wallets)
	optional(to, n.stale, s.Stale)
	n.collectSearches(to, s.Searches)
	n.collectPeers(to, s.Peers)
	n.collectAttached(to, s.Attached)
}

// optional tells of v where it is there.
func optional[T any](to chan<- prometheus.Metric, n *numbers[T], v *T) {
	if v != nil {
		n.collect(to, v)
	}
}

func (n *nodeNumbers) collectSearches(to chan<- prometheus.Metric, s *messages.SearchStats) {
	if s == nil {
		return
	}
	n.searches.collect(to, s)
	for state, some := range s.States {
		n.states.collect(to, &some, string(state))
	}
}

func (n *nodeNumbers) collectPeers(to chan<- prometheus.Metric, s *messages.NetworkState) {
	if s == nil {
		return
	}
	n.peers.collect(to, s)
	n.peerSide.collect(to, &s.Peers.In, "inbound")
	n.peerSide.collect(to, &s.Peers.Out, "outbound")
}

// phases are all that an attached node may be in.
var phases = []messages.AttachPhase{
	messages.AttachStarting, messages.AttachHeaders, messages.AttachFollowing, messages.AttachHolding,
	messages.AttachAway, messages.AttachOther,
}

// sources are where an attached node may have blocks from.
var sources = []string{"files", "rest", "rpc"}

func (n *nodeNumbers) collectAttached(to chan<- prometheus.Metric, s *messages.AttachState) {
	if s == nil {
		return
	}
	n.attached.collect(to, s)
	for _, phase := range phases {
		is := s.Phase == phase
		n.phase.collect(to, &is, string(phase))
	}
	for i := range s.Sources {
		for _, name := range sources {
			if s.Sources[i].Name == name {
				n.sources.collect(to, &s.Sources[i], name)
			}
		}
	}
}

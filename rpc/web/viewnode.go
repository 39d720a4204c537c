package web

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

type chainInfo struct {
	Chain, BestBlockHash string
	Blocks, Headers      int64
	Time                 int64
	Difficulty           float64
	VerificationProgress float64
	InitialBlockDownload bool
	SizeOnDisk           int64 `json:"size_on_disk"`
	Pruned               bool
	PruneHeight          int64
	Warnings             []string
}

// Synced reports whether the chain is at the best known header.
func (c *chainInfo) Synced() bool { return c.Blocks >= c.Headers && !c.InitialBlockDownload }

// RingGap is how much of the ring of the whole chain is left open.
func (c *chainInfo) RingGap() string { return chart.Coord(188.5 * (1 - c.share())) }

// RingText is the share of the chain that is validated.
func (c *chainInfo) RingText() string {
	return strconv.FormatFloat(math.Floor(100*c.share()), 'f', 0, 64) + " %"
}

// share is the validated share of the chain, by work if the node tells that.
func (c *chainInfo) share() float64 {
	if c.Synced() {
		return 1
	}
	share := c.VerificationProgress
	if share == 0 && c.Headers > 0 {
		share = float64(c.Blocks) / float64(c.Headers)
	}
	return min(max(share, 0), 1)
}

type networkInfo struct {
	Subversion     string
	NetworkActive  bool
	Connections    int64
	ConnectionsIn  int64 `json:"connections_in"`
	ConnectionsOut int64 `json:"connections_out"`
}

type poolInfo struct {
	Size, Bytes   int64
	Usage         int64
	MaxMempool    int64
	MempoolMinFee amount
	TotalFee      amount `json:"total_fee"`
}

// Share is how much of the memory for the pool is taken.
func (p *poolInfo) Share() float64 {
	if p.MaxMempool <= 0 {
		return 0
	}
	return min(float64(p.Usage)/float64(p.MaxMempool), 1)
}

type attachInfo struct {
	State, Reason string
	Since         int64
	Height        int64
	Behind        int64
	Node          struct {
		Address, Subversion string
		Blocks              int64
	}
	Verified int64
	Refused  bool
}

type peer struct {
	ID             int64
	Addr           string
	Network        string
	Subver         string
	Inbound        bool
	SyncedBlocks   int64 `json:"synced_blocks"`
	StartingHeight int64
	PingTime       float64
	ConnTime       int64
	Type           string `json:"connection_type"`
	Transport      string `json:"transport_protocol_type"`
}

// An index is how far one has come.
type index struct {
	Name   string
	Synced bool
	Height int64 `json:"best_block_height"`
	Share  float64
}

type scanStatus struct {
	Progress int64
	Height   int64 `json:"current_height"`
	Stage    string
}

// A home is the data of the overview. A field is nil where the viewer may not see it,
// or where there is no such thing.
type home struct {
	Chain   *chainInfo
	Network *networkInfo
	Pool    *poolInfo
	Attach  *attachInfo
	Uptime  *int64
	Indexes []index
	Peers   *[]peer
	Crowd   *crowd // the peers as a picture
	Fees    []feeFor
	Cars    []car     // the last blocks
	Next    *poolView // what the next block may have

	Scan, CoinScan *scanStatus

	Searches *[]search
	Wallets  []wallet // loaded
	Unloaded []string

	MaySearches, MayWallets bool
	missing                 bool // some of the last blocks are to come

	Failed []string // what could not be read now, in words
}

// Running are the searches that look at blocks now, or will.
func (h *home) Running() (running []search) {
	if h.Searches != nil {
		for _, s := range *h.Searches {
			if s.State == "running" || s.State == "queued" {
				running = append(running, s)
			}
		}
	}
	return running
}

// Rescans are the wallets that look through the chain.
func (h *home) Rescans() (rescans []wallet) {
	for _, w := range h.Wallets {
		if w.Info != nil && w.Info.Scanning.is {
			rescans = append(rescans, w)
		}
	}
	return rescans
}

// Busy reports whether something runs whose progress is shown.
func (h *home) Busy() bool {
	return h.Scan != nil || h.CoinScan != nil || len(h.Running()) > 0 || len(h.Rescans()) > 0
}

// Seconds is after how long the page asks again without events.
func (h *home) Seconds() int {
	if h.missing {
		return 1
	}
	if h.Busy() || h.Chain == nil || h.Chain.InitialBlockDownload {
		return 2
	}
	return 10
}

// homeModel reads everything at the same time: some calls wait for others of the node.
func (v *view) homeModel(ctx context.Context, viewer viewer, _ url.Values) (any, error) {
	n := &noting{viewer: viewer}
	viewer = n
	h := &home{
		MaySearches: viewer.Has("listsearches"),
		MayWallets:  viewer.Has("listwallets"),
	}
	together(
		func() { h.Chain = get[chainInfo](ctx, viewer, nil, "getblockchaininfo") },
		func() { h.Network = get[networkInfo](ctx, viewer, nil, "getnetworkinfo") },
		func() { h.Pool = get[poolInfo](ctx, viewer, nil, "getmempoolinfo") },
		func() { h.Attach = get[attachInfo](ctx, viewer, nil, "getattachinfo") },
		func() { h.Uptime = get[int64](ctx, viewer, nil, "uptime") },
		func() { h.Indexes = indexes(ctx, viewer) },
		func() { h.Peers = get[[]peer](ctx, viewer, nil, "getpeerinfo") },
		func() { h.Fees = fees(ctx, viewer) },
		func() { h.Scan = scanOf(ctx, viewer, "scanblocks") },
		func() { h.CoinScan = scanOf(ctx, viewer, "scantxoutset") },
		func() { h.Searches = get[[]search](ctx, viewer, nil, "listsearches") },
		func() { h.Wallets, h.Unloaded = wallets(ctx, viewer) },
	)
	v.sum(ctx, viewer, h.Searches)
	if h.Chain != nil && h.Chain.Synced() {
		together(
			func() { h.Cars = v.cars(ctx, viewer, h.Chain.Blocks, trainCars) },
			func() { h.Next = v.pool(ctx, viewer, h.Pool, fewPooled) },
		)
		h.missing = missing(h.Cars, viewer)
	}
	h.Failed = n.words()
	if h.Peers != nil {
		h.Crowd = crowdOf(*h.Peers)
	}
	if h.Chain != nil {
		for i := range h.Indexes {
			h.Indexes[i].Share = min(1, float64(h.Indexes[i].Height+1)/float64(h.Chain.Blocks+1))
		}
	}
	return h, nil
}

// filterIndex is the index that searches need.
const filterIndex = "Block filter index"

// indexNames are those of the node in the words of the page.
var indexNames = map[string]string{
	"basic block filter index": filterIndex, "txindex": "Transaction index", "coinstatsindex": "Index of sums",
	"txospenderindex": "Index of spenders",
	"scriptindex":     "Index of scripts",
}

// indexes returns all, by name.
func indexes(ctx context.Context, v viewer) (all []index) {
	byName := get[map[string]index](ctx, v, nil, "getindexinfo")
	if byName == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(*byName)) {
		i := (*byName)[name]
		i.Name = cmp.Or(indexNames[name], name)
		all = append(all, i)
	}
	return all
}

// scanOf returns how far a scan is, nil where none runs.
func scanOf(ctx context.Context, v viewer, method string) *scanStatus {
	if status := get[*scanStatus](ctx, v, nil, method, "status"); status != nil {
		return *status
	}
	return nil
}

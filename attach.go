package trawl

import (
	"context"
	"path/filepath"

	"github.com/seed61375155/trawl/actors/attach"
	"github.com/seed61375155/trawl/actors/corepool"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/follower"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/rpc/forward/attachment"
)

// An AttachConfig says which Bitcoin Core a node is attached to, and how.
type AttachConfig = attachment.Config

// An Attachment is the way to the Bitcoin Core that a node is attached to. It is for one node.
type Attachment = attachment.Attachment

// NewAttachment reads what Core's configuration says where Core is on this machine. It
// asks Core for nothing: a node starts without it. Its errors are for the operator.
func NewAttachment(c AttachConfig) (*Attachment, error) { return attachment.New(c) }

// checkAttach refuses what does not go together with a chain that another node validates.
func (c *Config) checkAttach() error {
	if c.Attach == nil {
		return nil
	}
	foreign := c.Dialect
	if foreign == dialect.NameBitcoin {
		foreign = ""
	}
	return attachment.Host{
		Chain: c.Chain, Foreign: foreign, Dirs: []string{c.Dir, c.BlocksDir}, Wallets: c.Wallets != nil,
		Prune: c.Prune != nil, TxIndex: c.TxIndex, CoinStatsIndex: c.CoinStatsIndex, TxoSpenderIndex: c.TxoSpenderIndex,
		Reindex: c.Reindex || c.ReindexState, LoadBlock: len(c.LoadBlock) > 0, Peers: c.Peers != nil,
	}.Check(c.Attach)
}

func (n parts) openFollower(ctx context.Context) (engine.Engine, error) {
	return follower.Open(ctx, follower.Config{
		Network: n.net, Dir: filepath.Join(n.cfg.Dir, "follow"), Core: n.cfg.Attach.Client(),
		Blocks: n.cfg.Attach.BlocksDir(), Filters: n.cfg.Attach.NetDir(), From: n.cfg.Attach.From(),
		Log: n.cfg.Log,
	})
}

// startAttach starts what follows the node that this one is attached to.
func (n parts) startAttach(_ context.Context, u *part.Uses) (part.Running, error) {
	return n.spawn(attachPart, attach.New(attach.Config{
		Node: n.cfg.Attach.Client(), Network: n.net, Chain: u.Ref(chainPart), Log: n.cfg.Log,
		Learned: func(v int) { attachment.NoteVersion(n.cfg.Dir, v) }, Chosen: n.cfg.Reference != 0,
	}), attach.Requests, nil)
}

// startCorePool starts what copies the pool of the node that this one is attached to.
func (n parts) startCorePool(u *part.Uses) (part.Running, error) {
	return n.spawn(mempoolPart, corepool.New(corepool.Config{
		Node: n.cfg.Attach.Client(), Chain: u.Ref(chainPart), View: n.view, Tip: n.tip, Feed: n.pool,
		Limits: corepool.DefaultLimits, MaySend: n.cfg.Attach.MaySend(), Log: n.cfg.Log,
	}), corepool.Requests, nil)
}

// fetchPart is the part that fetches pruned blocks again.
func (n *Node) fetchPart() string {
	if n.cfg.Attach != nil {
		return attachPart
	}
	return syncPart
}

// fetch returns how components get a pruned block again, which start before the peers; nil where none are pruned.
func (n *Node) fetch(from func() *Ref) chainview.Fetch {
	if n.cfg.Prune == nil && n.cfg.Attach == nil {
		return nil
	}
	return follow.FetchBy(from, n.net.ReadBlock)
}

package chainrpc

import (
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func getBlockchainInfo(d *Deps) command.Command {
	progress := &progress{deps: d}
	return command.Command{
		Name:     "getblockchaininfo",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the state of the chain and of its validation.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "chain", Help: "name of the network"},
			{Type: command.Number, Key: "blocks", Help: "height of the active chain"},
			{Type: command.Number, Key: "headers", Help: "height of the best known header"},
			{Type: command.Hex, Key: "bestblockhash", Help: "hash of the tip"},
			{Type: command.Hex, Key: "bits", Help: "target of the tip in compact form"},
			{Type: command.Hex, Key: "target", Help: "target of the tip"},
			{Type: command.Number, Key: "difficulty", Help: "difficulty of the tip"},
			{Type: command.Timestamp, Key: "time", Help: "time of the tip"},
			{Type: command.Timestamp, Key: "mediantime", Help: "median time of the tip and the ten before it"},
			{
				Type: command.Number, Key: "verificationprogress",
				Help: "estimate of the share of all transactions that is validated, 0 to 1",
			},
			{
				Type: command.Bool, Key: "initialblockdownload",
				Help: "whether the node seems to be behind the network since its start",
			},
			{
				Type: command.Object, Key: "backgroundvalidation", Optional: true, Since: 32,
				Help: "how far the blocks before a snapshot are validated that the chain began with",
				Inner: []command.Result{
					{Type: command.Number, Key: "snapshotheight", Help: "height of the snapshot"},
					{Type: command.Number, Key: "blocks", Help: "height up to which they are"},
					{Type: command.Hex, Key: "bestblockhash", Help: "hash of the block there"},
					{
						Type: command.Timestamp, Key: "mediantime",
						Help: "median time of the block and the ten before it",
					},
					{Type: command.Hex, Key: "chainwork", Help: "expected number of hashes up to the block"},
					{
						Type: command.Number, Key: "verificationprogress",
						Help: "share of the transactions up to the snapshot, 0 to 1",
					},
				},
			},
			{Type: command.Hex, Key: "chainwork", Help: "expected number of hashes in the active chain"},
			{Type: command.Number, Key: "size_on_disk", Help: "bytes that blocks and undo data take"},
			{Type: command.Bool, Key: "pruned", Help: "whether old blocks are deleted"},
			{
				Type: command.Number, Key: "pruneheight", Optional: true,
				Help: "height of the first block that is there, if pruned",
			},
			{
				Type: command.Bool, Key: "automatic_pruning", Optional: true,
				Help: "whether blocks are deleted without request, if pruned",
			},
			{
				Type: command.Number, Key: "prune_target_size", Optional: true,
				Help: "bytes that block files may take, if so",
			},
			{
				Type: command.Hex, Key: "signet_challenge", Optional: true,
				Help: "script that blocks of a signet must solve",
			},
			{Type: command.Object, Key: "p2mr_validation_weight", Optional: true, Help: "on chains that pay to P2MR " +
				"outputs: what a signature takes of a spend's budget", Inner: []command.Result{
				{Type: command.Number, Key: "legacy_per_sigop", Help: "before the second version of the rule"},
				{Type: command.Number, Key: "v2_per_sigop", Help: "from then on"},
				{Type: command.Number, Key: "activation_height", Help: "first block of the second version"},
				{Type: command.Bool, Key: "active_for_tip", Help: "whether the tip is under it"},
				{Type: command.Bool, Key: "active_for_next_block", Help: "whether the next block is"},
				{Type: command.Number, Key: "blocks_remaining", Help: "blocks before it, from the next one on"},
			}},
			{
				Type: command.Object, Key: "future_block_time", Optional: true,
				Help: "on such chains: how far the time of a block may be ahead", Inner: []command.Result{
					{Type: command.Number, Key: "legacy_limit_seconds", Help: "before the second version of the rule"},
					{Type: command.Number, Key: "v2_limit_seconds", Help: "from then on"},
					{Type: command.Number, Key: "activation_height", Help: "first block of the second version"},
					{Type: command.Bool, Key: "active_for_tip", Help: "whether the tip is under it"},
					{Type: command.Bool, Key: "active_for_next_block", Help: "whether the next block is"},
					{Type: command.Number, Key: "tip_limit_seconds", Help: "limit of the tip"},
					{Type: command.Number, Key: "next_block_limit_seconds", Help: "limit of the next block"},
					{
						Type: command.Number, Key: "blocks_remaining",
						Help: "blocks before the second version, from the next one on",
					},
					{Type: command.Timestamp, Key: "next_block_min_time", Help: "least time of the next block"},
					{
						Type: command.Timestamp, Key: "next_block_max_time",
						Help: "greatest time of the next block, if it is made now",
					},
					{Type: command.Number, Key: "next_block_time_headroom_seconds", Help: "seconds between the two"},
				},
			},
			arg.WarningsResult(d.LastWarning),
		}}},
		Examples: []string{`[]`},
		Control:  always,
		Run:      func(ctx context.Context, _ *command.Args) (any, error) { return d.blockchainInfo(ctx, progress) },
	}
}

// blockchainInfo is what getblockchaininfo returns.
type blockchainInfo struct {
	Chain           string         `json:"chain"`
	Blocks          int32          `json:"blocks"`
	Headers         int32          `json:"headers"`
	BestBlockHash   chainhash.Hash `json:"bestblockhash"`
	Bits            string         `json:"bits"`
	Target          string         `json:"target"`
	Difficulty      float64        `json:"difficulty"`
	Time            int64          `json:"time"`
	MedianTime      int64          `json:"mediantime"`
	Progress        float64        `json:"verificationprogress"`
	InitialDownload bool           `json:"initialblockdownload"`
	Background      *background    `json:"backgroundvalidation,omitempty"`
	ChainWork       string         `json:"chainwork"`
	SizeOnDisk      int64          `json:"size_on_disk"`
	Pruned          bool           `json:"pruned"`
	PruneHeight     *int32         `json:"pruneheight,omitempty"`
	PruneAutomatic  *bool          `json:"automatic_pruning,omitempty"`
	PruneTarget     *int64         `json:"prune_target_size,omitempty"`
	SignetChallenge string         `json:"signet_challenge,omitempty"`
	Weight          *weightRule    `json:"p2mr_validation_weight,omitempty"`
	Future          *futureRule    `json:"future_block_time,omitempty"`
	Warnings        any            `json:"warnings"`
}

// background is how far the blocks before a snapshot are validated.
type background struct {
	Snapshot   int32          `json:"snapshotheight"`
	Blocks     int32          `json:"blocks"`
	Best       chainhash.Hash `json:"bestblockhash"`
	MedianTime int64          `json:"mediantime"`
	ChainWork  string         `json:"chainwork"`
	Progress   float64        `json:"verificationprogress"`
}

// background returns nil where the chain began with no snapshot, or all is validated.
func (p *progress) background(reader chainview.Reader) *background {
	a := chainview.AssumedOf(reader)
	if a == nil {
		return nil
	}
	b := a.Validated
	shown := &background{
		Snapshot: a.Base.Height, Blocks: b.Height, Best: b.Hash, MedianTime: b.MedianTimePast(),
		ChainWork: uint256Text(b.Work()),
	}
	if count, err := p.before.upTo(reader, b); err == nil && a.Txs > 0 {
		shown.Progress = float64(count) / float64(a.Txs)
	}
	return shown
}

func (d *Deps) blockchainInfo(ctx context.Context, p *progress) (any, error) {
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	active := reader.Active()
	tip, best := active.Tip(), chainview.BestHeader(reader, active)
	info := blockchainInfo{
		Chain:           d.Network.Name,
		Blocks:          tip.Height,
		Headers:         best.Height,
		BestBlockHash:   tip.Hash,
		Bits:            txjson.Bits(tip.Bits()),
		Target:          txjson.Target(tip.Bits()),
		Difficulty:      txjson.Difficulty(tip.Bits()),
		Time:            tip.Time().Unix(),
		MedianTime:      tip.MedianTimePast(),
		Progress:        p.verified(reader, active, best),
		InitialDownload: d.Initial.Lasts(active.Tip()),
		Background:      p.background(reader),
		ChainWork:       uint256Text(tip.Work()),
		SizeOnDisk:      chainview.DiskSize(reader),
		SignetChallenge: hex.EncodeToString(d.Network.SignetChallenge),
	}
	if d.Pruning != nil {
		info.showPruning(d.Pruning, active)
	}
	info.showScheduled(d.Network, tip, d.Now().Unix())
	info.Warnings, err = arg.Warnings(ctx, d.Warnings, d.LastWarning)
	return info, err
}

// showPruning fills in what concerns the deletion of blocks.
func (i *blockchainInfo) showPruning(p *Pruning, active *chainview.Chain) {
	first, automatic := prunedHeight(active)+1, p.Target > 0
	i.Pruned, i.PruneHeight, i.PruneAutomatic = true, &first, &automatic
	if automatic {
		i.PruneTarget = &p.Target
	}
}

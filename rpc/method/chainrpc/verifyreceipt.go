package chainrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func verifyReceipt(d *Deps) command.Command {
	s := &scan{deps: d, net: d.Network.Descriptors(), printer: d.printer()}
	return command.Command{
		Name:     "verifyreceipt",
		Category: command.Blockchain,
		About:    command.Filters, Effect: command.Reads, At: command.Block, Own: true,
		Summary: "Tells whether this node finds what a receipt says, by a scan of its own filters (needs the block " +
			"filter index).\nIt is the node's one scan meanwhile: scanblocks tells how far it is, and aborts it.",
		Params: []command.Param{
			{Name: "receipt", Type: command.Object, Help: "as scanblocks or getsearch returned it"},
			{
				Name: "scanobjects", Type: command.Array, Optional: true, Usage: scanParams[1].Usage, Secret: true,
				Help:  "what was looked for, of a receipt that does not tell; as for scanblocks",
				Inner: scanParams[1].Inner,
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Bool, Key: "valid", Help: "whether this node finds the same"},
			{Type: command.String, Key: "reason", Optional: true, Help: "why it is not valid"},
			{Type: command.Number, Key: "height", Optional: true, Help: "where it is not valid, if at a height"},
		}}},
		Examples: []string{`[{"version": 1}]`},
		Run:      s.verify,
	}
}

// verdict is what verifyreceipt returns.
type verdict struct {
	Valid  bool   `json:"valid"`
	Reason string `json:"reason,omitempty"`
	Height *int32 `json:"height,omitempty"`
}

func refused(d *receipt.Difference) verdict {
	v := verdict{Reason: d.Reason}
	if d.Height >= 0 {
		v.Height = &d.Height
	}
	return v
}

func (s *scan) verify(ctx context.Context, a *command.Args) (any, error) {
	stated, digest, err := receipt.Parse(a.Value(0))
	if err != nil {
		return nil, command.Error{Code: command.InvalidParameter, Message: err.Error()}
	}
	objects := a.Value(1)
	if objects.IsNull() {
		if objects, err = s.scanObjectsOf(stated); err != nil {
			return nil, err
		}
	}
	if stated.Digest() != digest {
		return refused(&receipt.Difference{Reason: "the digest is not the receipt's", Height: -1}), nil
	}
	reader, err := openFilters(s.deps)
	if err != nil {
		return nil, err
	}
	if d := placeOf(reader, stated); d != nil {
		return refused(d), nil
	}
	return s.scanAgain(ctx, reader, stated, objects)
}

// scanObjectsOf returns the descriptors of a receipt as scan objects. A range may be larger than that of a scan object:
// a search has widened it.
func (s *scan) scanObjectsOf(r *receipt.Receipt) (*jsontree.Value, error) {
	if r.Descriptors == nil {
		return nil, command.Error{
			Code: command.InvalidParameter, Message: "The receipt tells no descriptors: scanobjects are needed",
		}
	}
	list := jsontree.NewArray()
	for i := range r.Descriptors {
		parts := r.Descriptors[i].Parts(descriptor.MaxRange)
		if len(parts) > 1 && r.Indices() > uint64(scriptLimit(s.deps)) {
			limit := messages.SearchLimitError{Option: "-searchscripts"}
			return nil, command.Error{Code: command.InvalidParameter, Message: limit.Error()}
		}
		for j := range parts {
			list.Append(parts[j].ScanObject())
		}
	}
	return list, nil
}

// placeOf tells why the last block of a receipt is not in the active chain, nil if it is.
func placeOf(reader chainview.Reader, r *receipt.Receipt) *receipt.Difference {
	active := reader.Active()
	if active.At(0) == nil || active.At(0).Hash != r.Genesis {
		return &receipt.Difference{Reason: receipt.WrongChain, Height: -1}
	}
	b := reader.Lookup(&r.Block)
	switch {
	case b == nil:
		return &receipt.Difference{Reason: "the last block is not known", Height: r.To}
	case b.Height != r.To:
		return &receipt.Difference{Reason: "the last block is at another height", Height: b.Height}
	case !active.Contains(b):
		return &receipt.Difference{
			Reason: "the last block is not in the active chain", Height: active.ForkHeight(b) + 1,
		}
	}
	return nil
}

// scanAgain compares a receipt with a scan of the same blocks.
func (s *scan) scanAgain(
	ctx context.Context, reader chainview.Reader, stated *receipt.Receipt, objects *jsontree.Value,
) (any, error) {
	slot, release, err := s.reserve(ctx)
	if err != nil {
		return nil, scanFailure(err)
	}
	completed := false
	defer func() { release(completed) }()
	result, err := s.search(ctx, slot, objects, &scanOrder{
		start: stated.From, stop: reader.Lookup(&stated.Block), checkBlocks: true, receipt: true, hide: true,
		activity: stated.Activity != nil, sumOnly: true,
	})
	if err != nil {
		return nil, err
	}
	if completed = result.Completed; !completed {
		return nil, command.Error{Code: command.MiscError, Message: "The scan was aborted"}
	}
	difference := stated.Compare(result.Receipt, func(hash chainhash.Hash) int32 {
		if b := reader.Lookup(&hash); b != nil {
			return b.Height
		}
		return -1
	})
	if difference != nil {
		return refused(difference), nil
	}
	return verdict{Valid: true}, nil
}

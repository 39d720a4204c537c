package rest

import (
	"context"
	"math"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// The verbosities of getblock that are asked for.
const (
	serialized   = 0
	withIDs      = 1
	withPrevouts = 3
)

func blockWithIDs(ctx context.Context, r *request) (Reply, error) { return block(ctx, r, withIDs) }

func blockWithDetails(ctx context.Context, r *request) (Reply, error) {
	return block(ctx, r, withPrevouts)
}

func block(ctx context.Context, r *request, verbosity int64) (Reply, error) {
	if err := checkHash(r.part); err != nil {
		return Reply{}, err
	}
	hash := jsontree.NewString(r.part)
	if r.format == jsonText {
		text, err := r.raw(ctx, "getblock", hash, jsontree.NewInt(verbosity))
		if clientText(err) == command.BlockStripped {
			text, err = r.strippedBlock(verbosity)
		}
		return document(text), r.noBlock(err)
	}
	data, err := r.bytes(ctx, "getblock", hash, jsontree.NewInt(serialized))
	if err != nil {
		return Reply{}, r.noBlock(err)
	}
	return inFormat(r.format, data)
}

// strippedBlock shows a block as it is stored.
func (r *request) strippedBlock(verbosity int64) ([]byte, error) {
	reader := r.node.Reader()
	hash, err := chainhash.NewHashFromStr(r.part)
	if err != nil || reader == nil {
		return nil, refuse(statusNotFound, r.part+" not found")
	}
	return reader.BlockText(hash, verbosity >= withPrevouts)
}

// notOnDisk is the error of a block that cannot be read.
const notOnDisk = "Block not found on disk"

// noBlock says of the block that is asked for why it cannot be had.
func (r *request) noBlock(err error) error {
	hash, text := r.part, clientText(err)
	switch {
	case text == notOnDisk && r.ReadFailures:
		return refuse(statusFailed, "I/O error reading "+hash)
	case text == "Block not found", text == notOnDisk:
		return refuse(statusNotFound, hash+" not found")
	case text == "Block not available (pruned data)":
		return refuse(statusNotFound, hash+" not available (pruned data)")
	case text == "Block not available (not fully downloaded)":
		return refuse(statusNotFound, hash+" not available (not fully downloaded)")
	}
	return err
}

func blockHash(ctx context.Context, r *request) (Reply, error) {
	text := r.part
	if digits, ok := strings.CutPrefix(text, "-"); ok && strings.Trim(digits, "0") == "" {
		text = digits // a zero, with a sign too
	}
	height, ok := number(text, 0, math.MaxInt32)
	if !ok {
		return Reply{}, refuse(statusBadRequest, "Invalid height: "+shown(r.part))
	}
	hash, err := r.text(ctx, "getblockhash", jsontree.NewInt(height))
	if clientCode(err) == command.InvalidParameter {
		return Reply{}, refuse(statusNotFound, "Block height out of range")
	}
	if err != nil {
		return Reply{}, err
	}
	switch r.format {
	case jsonText:
		object := jsontree.NewObject()
		object.Add("blockhash", jsontree.NewString(hash))
		return document(object.AppendJSON(nil)), nil
	case hexText: // as it is shown, unlike everything else
		return Reply{Status: statusOK, Type: typeText, Body: []byte(hash + "\n")}, nil
	case bin:
		data, err := appendHash(nil, hash)
		if err != nil {
			return Reply{}, err
		}
		return inFormat(bin, data)
	case none:
	}
	return Reply{}, errFormat
}

func spentOutputs(ctx context.Context, r *request) (Reply, error) {
	if strings.Contains(r.part, "/") {
		return Reply{}, refuse(statusBadRequest, "Invalid URI format. Expected /rest/spenttxouts/<hash>.<ext>")
	}
	if err := checkHash(r.part); err != nil {
		return Reply{}, err
	}
	text, data, err := r.spent(ctx)
	if err != nil {
		switch why := clientText(err); {
		case why == "Block not found":
			return Reply{}, refuse(statusNotFound, r.part+" not found")
		case why != "" && clientCode(err) == command.MiscError:
			return Reply{}, errNoUndo(r.part)
		}
		return Reply{}, err
	}
	if text != nil {
		return document(text), nil
	}
	return inFormat(r.format, data)
}

// spent returns what a block spends: as JSON where that is asked for, else as bytes.
func (r *request) spent(ctx context.Context) (text, data []byte, err error) {
	reader := r.node.Reader()
	if reader == nil {
		return r.spentByCalls(ctx)
	}
	hash, err := chainhash.NewHashFromStr(r.part)
	if err != nil {
		return nil, nil, err
	}
	if r.format == jsonText {
		text, err = reader.SpentText(hash)
	} else {
		data, err = reader.Spent(hash)
	}
	return text, data, err
}

func (r *request) spentByCalls(ctx context.Context) (text, data []byte, err error) {
	blk, err := r.call(ctx, "getblock", jsontree.NewString(r.part), jsontree.NewInt(withPrevouts))
	if err != nil {
		return nil, nil, err
	}
	if r.format == jsonText {
		list, err := listSpent(blk)
		if err != nil {
			return nil, nil, errNoUndo(r.part)
		}
		return list.AppendJSON(nil), nil, nil
	}
	if data, err = serializeSpent(blk); err != nil {
		return nil, nil, errNoUndo(r.part)
	}
	return nil, data, nil
}

func errNoUndo(hash string) error { return refuse(statusNotFound, hash+" undo not available") }

// spent returns what the inputs of a transaction spend, nothing for a coinbase.
func spent(tx *jsontree.Value) ([]*jsontree.Value, error) {
	var outputs []*jsontree.Value
	for _, input := range tx.Get("vin").Elements() {
		if input.Get("coinbase").Kind() != jsontree.Null {
			continue
		}
		prevout := input.Get("prevout")
		if prevout.Kind() != jsontree.Object {
			return nil, errNoUndo("")
		}
		outputs = append(outputs, prevout)
	}
	return outputs, nil
}

func listSpent(blk *jsontree.Value) (*jsontree.Value, error) {
	list := jsontree.NewArray()
	for _, tx := range blk.Get("tx").Elements() {
		outputs, err := spent(tx)
		if err != nil {
			return nil, err
		}
		inner := jsontree.NewArray()
		for _, output := range outputs {
			shown := jsontree.NewObject()
			shown.Add("value", output.Get("value"))
			shown.Add("scriptPubKey", output.Get("scriptPubKey"))
			inner.Append(shown)
		}
		list.Append(inner)
	}
	return list, nil
}

func serializeSpent(blk *jsontree.Value) ([]byte, error) {
	data := command.AppendCount(nil, blk.Get("tx").Len())
	for _, tx := range blk.Get("tx").Elements() {
		outputs, err := spent(tx)
		if err != nil {
			return nil, err
		}
		data = command.AppendCount(data, len(outputs))
		for _, output := range outputs {
			if data, err = appendOutput(data, output); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

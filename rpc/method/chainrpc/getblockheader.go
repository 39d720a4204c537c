package chainrpc

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func getBlockHeader(d *Deps) command.Command {
	return command.Command{
		Name:     "getblockheader",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Block | command.BlockOrCore,
		Summary: "Returns the header of a block of any branch: its members, or as it is serialized.",
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex, Help: "hash of the block"},
			{
				Name: "verbose", Type: command.Bool, Default: "true",
				Help: "true for an object, false for the 80 bytes in hexadecimal",
			},
		},
		Results: []command.Result{
			{Type: command.Object, When: "for verbose = true", Inner: headerResults},
			{Type: command.Hex, When: "for verbose = false", Help: "the serialized header"},
		},
		Examples: []string{`["000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return d.blockHeader(a) },
	}
}

func (d *Deps) blockHeader(a *command.Args) (any, error) {
	hash, err := arg.Hash(a.Value(0), "hash")
	if err != nil {
		return nil, err
	}
	verbose, err := a.BoolOr(1, true)
	if err != nil {
		return nil, err
	}
	reader, err := d.open()
	if err != nil {
		return nil, err
	}
	b, err := lookup(reader, &hash)
	if err != nil {
		return nil, err
	}
	if !verbose {
		return headerHex(b), nil
	}
	txs, err := txsOf(reader, b)
	if err != nil {
		return nil, err
	}
	return newHeader(reader.Active(), b, txs), nil
}

// txsOf returns how many transactions a block has, 0 for a header alone.
func txsOf(reader chainview.Reader, b *chainview.Block) (int, error) {
	txs, err := b.TxCount(reader)
	if err == nil || errors.Is(err, chainview.ErrNotFound) || errors.Is(err, chainview.ErrNotYet) {
		return txs, nil
	}
	return 0, blockTexts.failure(err)
}

// headerHex is the header as it is sent, with what follows it.
func headerHex(b *chainview.Block) jsontree.Hex {
	return appendHeader(make([]byte, 0, headerBytes+len(b.Payload())), b)
}

// headerBytes is how long a header is, without what may follow it.
const headerBytes = 80

func appendHeader(to []byte, b *chainview.Block) []byte {
	h := b.Header()
	to = binary.LittleEndian.AppendUint32(to, uint32(h.Version))
	to = append(append(to, h.PrevBlock[:]...), h.MerkleRoot[:]...)
	to = binary.LittleEndian.AppendUint32(to, uint32(h.Timestamp.Unix()))
	to = binary.LittleEndian.AppendUint32(to, h.Bits)
	return append(binary.LittleEndian.AppendUint32(to, h.Nonce), b.Payload()...)
}

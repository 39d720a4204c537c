package peers_test

import (
	"bytes"
	"slices"
	"testing"

	bip37 "github.com/btcsuite/btcd/btcutil/bloom"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/chainview/merkleproof"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// A peer with a filter gets a proof for a block, and the transactions that its filter lets
// through; a peer without a filter gets nothing. A peer that adds to a missing filter is
// disconnected.
func TestServesFilteredBlocks(t *testing.T) {
	l := openLibrary(t, func(c *peers.Config) { c.Services |= wire.SFNodeBloom })
	b := l.at(700)
	block, err := l.chain.Block(&b.Hash)
	if err != nil {
		t.Fatal(err)
	}
	id := block.Transactions[0].TxHash()
	get := &wire.MsgGetData{InvList: []*wire.InvVect{wire.NewInvVect(wire.InvTypeFilteredBlock, &b.Hash)}}
	if got := l.ask(get); len(got) != 0 {
		t.Errorf("%d messages without a filter", len(got))
	}
	for _, element := range [][]byte{id[:], []byte("nothing")} {
		f := bip37.NewFilter(10, 3, 0.000001, wire.BloomUpdateNone)
		f.Add(element)
		if err := l.Send(f.MsgFilterLoad()); err != nil {
			t.Fatal(err)
		}
		got := l.ask(get)
		matches := bytes.Equal(element, id[:])
		if found := provenIn(t, got, b.Hash, block.Header.MerkleRoot); slices.Contains(found, id) != matches ||
			len(got) != 1+len(found) || len(found) > 1 {
			t.Errorf("%q: %d messages, proven %v", element, len(got), found)
		}
	}
	if err := l.Send(&wire.MsgFilterClear{}); err != nil {
		t.Fatal(err)
	}
	if err := l.Send(wire.NewMsgFilterAdd([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	left(t, l.remote, "adding to no filter")
}

// provenIn returns the transactions that a filtered block proves.
func provenIn(t *testing.T, got []wire.Message, hash, root chainhash.Hash) (ids []chainhash.Hash) {
	t.Helper()
	if len(got) == 0 || got[0].Command() != wire.CmdMerkleBlock {
		t.Fatalf("got %v", got)
	}
	raw, err := codec.Encode(got[0], codec.ProtocolVersion)
	if err != nil {
		t.Fatal(err)
	}
	header, proof, err := merkleproof.Read(raw, wire.MaxBlockHeaderPayload)
	if err != nil || header.BlockHash() != hash {
		t.Fatal("not the block", err)
	}
	is, found, ok := proof.Verify(1000)
	if !ok || is != root {
		t.Fatal("no proof")
	}
	for _, m := range found {
		ids = append(ids, m.ID)
	}
	return ids
}

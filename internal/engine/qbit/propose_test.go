package qbit

import (
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
)

// unworked is a payload whose parent has no work, for a block that is named in an order.
func unworked(hash chainhash.Hash, bits uint32, bytewise bool) []byte {
	if bytewise {
		slices.Reverse(hash[:])
	}
	payload := payloadFor(hash, bits)
	nonce := payload[len(payload)-4:]
	for {
		if parent := chainhash.DoubleHashH(payload[len(payload)-80:]); parent[chainhash.HashSize-1] >= 0x80 {
			return payload
		}
		nonce[0]++
	}
}

// Proposals are held against everything but work: that of the parent of a merge-mined block, too.
func TestProposeMergeMined(t *testing.T) {
	t.Parallel()
	e := fresh(t, dialect.Choices{Activation: map[string]int32{"auxpowcommitment": 3}})
	b := &builder{tb: t, e: e}
	tip := b.chain(e.tree.Active().Tip(), 1)
	for _, height := range []int32{2, 3} { // named in byte order, and in display order
		for _, test := range []struct {
			name   string
			change func(*block)
			want   string
		}{
			{"no work", func(b *block) { b.Payload = unworked(b.BlockHash(), b.Bits, height < 3) }, ""},
			{"other order", func(b *block) {
				b.Payload = unworked(b.BlockHash(), b.Bits, height >= 3)
			}, "bad-auxpow-commitment"},
			{"other chain", func(b *block) {
				b.Version += 1 << 13
				b.Payload = unworked(b.BlockHash(), b.Bits, height < 3)
			}, "bad-auxpow-chainid"},
			{"other block", func(b *block) {
				b.Payload = unworked(chainhash.Hash{}, b.Bits, false)
			}, "bad-auxpow-commitment"},
			{"other chain and root", func(b *block) {
				b.Version += 1 << 13
				b.MerkleRoot[0] ^= 1
			}, "bad-auxpow-chainid"},
			{"other root", func(b *block) {
				b.MerkleRoot[0] ^= 1
				b.Payload = unworked(b.BlockHash(), b.Bits, height < 3)
			}, "bad-txnmrklroot"},
		} {
			raw := b.build(tip, nil, merged(func(*block) {}))
			read, err := readBlock(raw)
			if err != nil {
				t.Fatal(err)
			}
			test.change(read)
			if got := reason(t, e.Propose(read.serialize())); got != test.want {
				t.Errorf("height %d, %s: got %q, want %q", height, test.name, got, test.want)
			}
			if err := e.Accept(read.serialize()); err == nil {
				t.Errorf("height %d, %s: accepted", height, test.name)
			}
		}
		tip = b.chain(tip, 1)
	}
}

// A merge-mined block that comes again is judged by what may be another: its payload.
func TestOtherPayload(t *testing.T) {
	t.Parallel()
	e := fresh(t, dialect.Choices{})
	b := &builder{tb: t, e: e}
	raw := b.build(b.chain(e.tree.Active().Tip(), 1), nil, merged(func(*block) {}))
	if err := e.Accept(raw); err != nil {
		t.Fatal(err)
	}
	read, err := readBlock(raw)
	if err != nil {
		t.Fatal(err)
	}
	e.SetMockTime(read.Timestamp.Add(-time.Hour)) // it would be too new
	bytewise := read.BlockHash()
	slices.Reverse(bytewise[:])
	for _, test := range []struct {
		name    string
		payload []byte
		want    string
	}{
		{"same", read.Payload, ""},
		{"no work", unworked(read.BlockHash(), read.Bits, false), "bad-auxpow-parent-hash"},
		{"other order", payloadFor(bytewise, read.Bits), "bad-auxpow-commitment"},
	} {
		header := append(slices.Clone(raw[:wire.MaxBlockHeaderPayload]), test.payload...)
		_, added, err := e.AcceptHeaders([][]byte{header})
		if got := reason(t, err); got != test.want || added != 0 {
			t.Errorf("%s: got %q, want %q; %d added", test.name, got, test.want, added)
		}
	}
}

// Without ASERT the first block of a period may not lie long before its parent, where that is asked for.
func TestTimewarp(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		choices dialect.Choices
		back    time.Duration
		want    string
	}{
		{dialect.Choices{BIP94: true}, 60 * time.Second, ""},
		{dialect.Choices{BIP94: true}, 61 * time.Second, "time-timewarp-attack"},
		{dialect.Choices{}, 61 * time.Second, ""},
	} {
		e := fresh(t, test.choices)
		e.net.Params.TargetTimespan = 4 * e.net.Params.TargetTimePerBlock // blocks of a period
		b := &builder{tb: t, e: e}
		tip := b.chain(e.tree.Active().Tip(), 2)
		ahead := func(b *block) { b.Timestamp = b.Timestamp.Add(90 * time.Second) }
		if err := e.Accept(b.build(tip, nil, ahead)); err != nil {
			t.Fatal(err)
		}
		tip = e.tree.Active().Tip()
		raw := b.build(tip, nil, func(b *block) { b.Timestamp = tip.Time().Add(-test.back) })
		if got := reason(t, e.Accept(raw)); got != test.want {
			t.Errorf("%+v, %v back: %q, want %q", test.choices, test.back, got, test.want)
		}
	}
}

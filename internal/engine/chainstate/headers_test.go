package chainstate_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
)

func headersOf(blocks [][]byte) [][]byte {
	headers := make([][]byte, len(blocks))
	for i, raw := range blocks {
		headers[i] = raw[:wire.MaxBlockHeaderPayload]
	}
	return headers
}

// recorded returns the blocks of the recorded chain after the genesis block.
func recorded(tb testing.TB) [][]byte {
	tb.Helper()
	return enginetest.Blocks(tb, enginetest.Chain)[1:]
}

func statusOf(tb testing.TB, e *bitcoin.Engine, raw []byte) chainview.Status {
	tb.Helper()
	hash := chainhash.DoubleHashH(raw[:wire.MaxBlockHeaderPayload])
	b := e.Reader().Lookup(&hash)
	if b == nil {
		tb.Fatalf("block %v is unknown", hash)
	}
	return b.Status()
}

// Headers come before their blocks, are there after a restart, and their blocks
// take their places.
func TestHeadersFirst(t *testing.T) {
	blocks := recorded(t)
	headers := headersOf(blocks)
	dir := t.TempDir()
	e := open(t, dir, network(t, "regtest"))
	last, added, err := e.AcceptHeaders(headers)
	if err != nil || added != len(blocks) || last.Height != int32(len(blocks)) {
		t.Fatalf("%d headers, %v", added, err)
	}
	if _, added, err = e.AcceptHeaders(headers); err != nil || added != 0 {
		t.Fatalf("once more: %d headers, %v", added, err)
	}
	for _, raw := range blocks[:100] {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = open(t, dir, network(t, "regtest"))
		if tips := e.Reader().Tips(); len(tips) != 1 || tips[0].Height != int32(len(blocks)) {
			t.Fatalf("reopened with %d tips", len(tips))
		}
		if s := statusOf(t, e, blocks[100]); s != 0 {
			t.Errorf("header without block has status %b", s)
		}
	}
	defer func() { _ = e.Close() }()
	for _, raw := range blocks[100:] {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
	}
	if got := e.Reader().Active().Height(); got != int32(len(blocks)) {
		t.Errorf("at height %d", got)
	}
}

// solvedHeader returns a header changed and solved.
func solvedHeader(raw []byte, change func(*wire.BlockHeader)) []byte {
	var h wire.BlockHeader
	_ = h.Deserialize(bytes.NewReader(raw))
	change(&h)
	for hash := h.BlockHash(); consensus.HashNumber(&hash).Cmp(
		consensus.TargetOf(0x207fffff),
	) > 0; hash = h.BlockHash() {
		h.Nonce++
	}
	var out bytes.Buffer
	_ = h.Serialize(&out)
	return out.Bytes()
}

func TestHeaderRules(t *testing.T) {
	blocks := recorded(t)
	e := open(t, t.TempDir(), network(t, "regtest"))
	defer func() { _ = e.Close() }()
	const before = 50
	if _, _, err := e.AcceptHeaders(headersOf(blocks[:before])); err != nil {
		t.Fatal(err)
	}
	next := headersOf(blocks)[before]
	for _, test := range []struct {
		name   string
		raw    []byte
		reason string
	}{
		{"right", next, ""},
		{"unknown parent", solvedHeader(next, func(h *wire.BlockHeader) { h.PrevBlock[0]++ }), "prev-blk-not-found"},
		{"other bits", solvedHeader(next, func(h *wire.BlockHeader) { h.Bits-- }), "bad-diffbits"},
		{"no target", solvedHeader(next, func(h *wire.BlockHeader) { h.Bits = 0 }), "high-hash"},
		{"target too high", solvedHeader(next, func(h *wire.BlockHeader) { h.Bits = 0x217fffff }), "high-hash"},
		{"too old", solvedHeader(next, func(h *wire.BlockHeader) { h.Timestamp = time.Unix(1, 0) }), "time-too-old"},
		{"in three hours", solvedHeader(
			next, func(h *wire.BlockHeader) { h.Timestamp = time.Now().Add(3 * time.Hour) },
		), "time-too-new"},
		{"in two hours", solvedHeader(
			next, func(h *wire.BlockHeader) { h.Timestamp = time.Now().Add(7190 * time.Second) },
		), ""},
		{"old version", solvedHeader(next, func(h *wire.BlockHeader) { h.Version = 3 }), "bad-version(0x00000003)"},
		{"short", next[:79], "bad-header"},
	} {
		_, _, err := e.AcceptHeaders([][]byte{test.raw})
		var reject *messages.RejectError
		switch {
		case err == nil && test.reason == "":
		case !errors.As(err, &reject) || reject.Reason != test.reason:
			t.Errorf("%s: %v, want %q", test.name, err, test.reason)
		}
	}
}

// A block that breaks a rule is known as bad from then on, with what builds on its
// header, unless another body may belong to the header.
func TestBadBlockOfKnownHeader(t *testing.T) {
	blocks := recorded(t)
	dir := t.TempDir()
	e := open(t, dir, network(t, "regtest"))
	if _, _, err := e.AcceptHeaders(headersOf(blocks[:20])); err != nil {
		t.Fatal(err)
	}
	mutated := bytes.Clone(blocks[0])
	mutated[len(mutated)-1]++ // the lock time of the coinbase: another Merkle root
	if err := e.Accept(mutated); err == nil {
		t.Fatal("a mutated block was accepted")
	}
	fork := solvedHeader(blocks[9], func(h *wire.BlockHeader) { h.Timestamp = h.Timestamp.Add(time.Second) })
	if _, _, err := e.AcceptHeaders([][]byte{fork}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s := statusOf(t, e, blocks[0]); s.Invalid() {
			t.Fatalf("a mutated block makes its header invalid: %b", s)
		}
		if s := statusOf(t, e, fork); s != 0 || len(e.Reader().Tips()) != 2 {
			t.Fatalf("a branch of headers has status %b, of %d tips", s, len(e.Reader().Tips()))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = open(t, dir, network(t, "regtest"))
	}
	if err := e.Accept(blocks[0]); err != nil {
		t.Fatal(err)
	}

	hash := chainhash.DoubleHashH(blocks[5][:wire.MaxBlockHeaderPayload])
	if err := e.Invalidate(&hash); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s := statusOf(t, e, blocks[5]); s != chainview.Failed {
			t.Errorf("invalidated header: %b", s)
		}
		if s := statusOf(t, e, blocks[19]); s != chainview.FailedAncestor {
			t.Errorf("its descendant: %b", s)
		}
		if _, _, err := e.AcceptHeaders(headersOf(blocks[20:21])); err == nil || err.Error() != "bad-prevblk" {
			t.Errorf("header on an invalid one: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = open(t, dir, network(t, "regtest"))
	}
	defer func() { _ = e.Close() }()
	if err := e.Reconsider(&hash); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.AcceptHeaders(headersOf(blocks[20:])); err != nil {
		t.Fatal(err)
	}
	// A block with data that turns invalid takes the headers above along.
	first := chainhash.DoubleHashH(blocks[0][:wire.MaxBlockHeaderPayload])
	if err := e.Invalidate(&first); err != nil {
		t.Fatal(err)
	}
	if s := statusOf(t, e, blocks[30]); s != chainview.FailedAncestor {
		t.Errorf("header above an invalid block: %b", s)
	}
	last := chainhash.DoubleHashH(blocks[30][:wire.MaxBlockHeaderPayload])
	if err := e.Reconsider(&last); err != nil {
		t.Fatal(err)
	}
	if s := statusOf(t, e, blocks[30]); s != 0 || e.Reader().Active().Height() != 1 {
		t.Errorf("reconsidered: %b at height %d", s, e.Reader().Active().Height())
	}
}

// A known header that comes with a payload is checked again: the payload may be another. The headers of the
// genesis block and of a block that broke a rule are not.
func TestKnownHeaderWithPayload(t *testing.T) {
	e := fresh(t)
	chain := genesis(t).chainOn(2)
	for _, b := range chain {
		must(t, e.Accept(b.raw))
	}
	must(t, e.Invalidate(&chain[1].hash))
	var first bytes.Buffer
	must(t, network(t, "regtest").Params.GenesisBlock.Header.Serialize(&first))
	again := errors.New("another payload")
	for _, payloads := range []bool{false, true} {
		want := []string{"", "", "duplicate-invalid"}
		if payloads {
			chainstate.GivePayloads(e, again)
			want[1] = again.Error()
		}
		for i, raw := range [][]byte{first.Bytes(), chain[0].raw[:80], chain[1].raw[:80]} {
			last, added, err := e.AcceptHeaders([][]byte{raw})
			text := ""
			if err != nil {
				text, _, _ = strings.Cut(err.Error(), ",")
			}
			if text != want[i] || added != 0 || (err == nil) != (last != nil) {
				t.Errorf("header %d with a payload %v: %v, %d added", i, payloads, err, added)
			}
		}
	}
}

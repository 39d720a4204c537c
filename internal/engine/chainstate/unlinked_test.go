package chainstate_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
)

// Blocks that come before their parents can be read, are there after a restart, and
// become part of the chain when the parents come.
func TestUnlinked(t *testing.T) {
	blocks := recorded(t)
	dir := t.TempDir()
	e := open(t, dir, network(t, "regtest"))
	if _, _, err := e.AcceptHeaders(headersOf(blocks[:60])); err != nil {
		t.Fatal(err)
	}
	late := slices.Clone(blocks[1:60])
	slices.Reverse(late)
	for _, raw := range late {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Accept(late[3]); err == nil || err.Error() != "duplicate" {
		t.Errorf("once more: %v", err)
	}
	hash := chainhash.DoubleHashH(late[0][:80])
	for range 2 {
		if s := statusOf(t, e, late[0]); s != chainview.HasData {
			t.Errorf("parked block has status %b", s)
		}
		if raw, err := e.Reader().Raw(&hash); err != nil || !bytes.Equal(raw, late[0]) {
			t.Errorf("parked block is read as %d bytes, %v", len(raw), err)
		}
		if got := e.Reader().Active().Height(); got != 0 {
			t.Errorf("at height %d", got)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = open(t, dir, network(t, "regtest"))
	}
	defer func() { _ = e.Close() }()
	if err := e.Accept(blocks[0]); err != nil {
		t.Fatal(err)
	}
	if got := e.Reader().Active().Height(); got != 60 {
		t.Errorf("at height %d", got)
	}
	if s := statusOf(t, e, late[0]); s != chainview.HasData|chainview.Valid {
		t.Errorf("status %b", s)
	}
	for _, raw := range blocks[60:] {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
	}
}

// A parked block must be the one of its header, and an invalidated one is not given
// to the chain.
func TestUnlinkedIsChecked(t *testing.T) {
	blocks := recorded(t)
	e := open(t, t.TempDir(), network(t, "regtest"))
	defer func() { _ = e.Close() }()
	if _, _, err := e.AcceptHeaders(headersOf(blocks[:10])); err != nil {
		t.Fatal(err)
	}
	mutated := bytes.Clone(blocks[5])
	mutated[len(mutated)-1]++
	if err := e.Accept(mutated); err == nil {
		t.Error("a mutated block is parked")
	}
	for _, raw := range blocks[4:10] {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
	}
	hash := chainhash.DoubleHashH(blocks[5][:80])
	if err := e.Invalidate(&hash); err != nil {
		t.Fatal(err)
	}
	for _, raw := range blocks[:4] {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
	}
	if got := e.Reader().Active().Height(); got != 5 {
		t.Errorf("at height %d, want 5", got)
	}
	if err := e.Reconsider(&hash); err != nil {
		t.Fatal(err)
	}
	if got := e.Reader().Active().Height(); got != 10 {
		t.Errorf("reconsidered: at height %d, want 10", got)
	}
}

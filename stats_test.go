package trawl

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/seed61375155/trawl/messages"
)

// The numbers of a node are those of its parts; of one that is closed there are none, at once.
func TestStats(t *testing.T) {
	node, err := Open(t.Context(), Config{
		Dir: t.TempDir(), Chain: "regtest", Cache: 1 << 20, BlockFilterIndex: true, TxIndex: true, CoinStatsIndex: true,
		Wallets: &WalletConfig{}, Peers: &PeerConfig{},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Ask(t.Context(), node.Wallets(), messages.CreateWallet{Name: "a", DisablePrivateKeys: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Call(t.Context(), "generatetodescriptor", []any{2, "raw(51)"}); err != nil {
		t.Fatal(err)
	}
	s := node.Stats(t.Context())
	if s.Chain == nil || s.Chain.Height != 2 || s.Chain.Headers != 2 || s.Chain.Branches != 1 {
		t.Errorf("chain %+v", s.Chain)
	}
	if len(s.Indexes) != 3 || s.Scan == nil || s.Searches == nil || s.Peers == nil || s.Pool == nil ||
		s.Matching == nil || s.Warnings == nil || s.Wallets == nil || s.Wallets.Loaded != 1 ||
		s.Attached != nil || s.Copied != nil {
		t.Errorf("%+v", s)
	}
	for _, part := range []string{chainPart, mempoolPart, searchesPart, peersPart, "wallet"} {
		at := slices.IndexFunc(s.Actors, func(p messages.PartStats) bool { return p.Part == part })
		if at < 0 || s.Actors[at].Actors != 1 || s.Actors[at].Messages == 0 || s.Actors[at].Restarts != 0 {
			t.Errorf("%s: %+v", part, s.Actors)
		}
	}
	for _, p := range s.Late {
		if p.Late {
			t.Errorf("%s is late", p.Part)
		}
	}
	if !slices.ContainsFunc(s.Stores, func(s messages.StoreStats) bool { return s.Name == "blocks" && s.Bytes > 0 }) {
		t.Errorf("stores %+v", s.Stores)
	}
	if err := node.Close(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if s := node.Stats(ctx); s.Pool != nil || s.Scan != nil || ctx.Err() != nil {
		t.Errorf("of a closed node: %+v", s)
	}
}

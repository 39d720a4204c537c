package trawl

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/seed61375155/trawl/actors/alerts"
	"github.com/seed61375155/trawl/actors/blockindex"
	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/actors/corepool"
	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/actors/stale"
	"github.com/seed61375155/trawl/actors/wallets"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/metrics/nodestats"
	"github.com/seed61375155/trawl/messages"
)

// Each request for numbers goes to an actor that serves it. Which actor serves a part's requests
// depends on whether the node is attached.
func TestNumbersAreServed(t *testing.T) {
	const attached = " attached"
	served := map[string][]ask.Served{
		alertsPart: alerts.Requests, stalePart: stale.Requests,
		indexerPart: indexer.Requests, txindexPart: blockindex.Requests,
		coinstatsPart: blockindex.Requests, spendersPart: blockindex.Requests, scriptsPart: blockindex.Requests,
		scannerPart: scanner.Requests, searchesPart: searches.Requests,
		peersPart: peers.Requests, mempoolPart: mempool.Requests, mempoolPart + attached: corepool.Requests,
		walletsPart: wallets.Requests, chainPart + attached: chain.Requests,
	}
	for _, absent := range []string{"", attachPart} {
		set := somebody{absent: absent, ref: actortest.New(t).Probe("any" + absent).Ref}
		suffix := ""
		if absent == "" {
			suffix = attached
		}
		asks := nodestats.New(nodestats.Config{Parts: set}).Asks()
		if len(asks) < 9 {
			t.Errorf("only %v is asked", asks)
		}
		for _, a := range asks {
			list, ok := served[a.Part+suffix]
			if !ok {
				list = served[a.Part]
			}
			if !slices.Contains(ask.Kinds(list), a.Request) {
				t.Errorf("%s%s does not serve %v", a.Part, suffix, a.Request)
			}
		}
	}
}

// somebody stands for all parts but one.
type somebody struct {
	absent string
	ref    *ask.Ref
}

func (s somebody) Stats() []messages.PartStats { return nil }

func (s somebody) Ref(name string) *ask.Ref {
	if name == s.absent {
		return ask.Absent(name)
	}
	return s.ref
}

// The numbers of a node are the numbers of its parts. A closed node has none, and Stats returns at
// once.
func TestStats(t *testing.T) {
	node, err := Open(t.Context(), Config{
		Dir: t.TempDir(), Chain: "regtest", Cache: 1 << 20, BlockFilterIndex: true, TxIndex: true, CoinStatsIndex: true,
		TxoSpenderIndex: true, ScriptIndex: true, Wallets: &WalletConfig{}, Peers: &PeerConfig{},
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
	if len(s.Indexes) != 5 || s.Scan == nil || s.Searches == nil || s.Peers == nil || s.Pool == nil ||
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

package trawl

import (
	"context"
	"go/ast"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/coins"
	"github.com/seed61375155/trawl/actors/corepool"
	"github.com/seed61375155/trawl/actors/discovery"
	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/actors/txbuilder"
	"github.com/seed61375155/trawl/actors/wallets"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// Every request of package messages is served by an actor that a node shows.
func TestRequestsAreServed(t *testing.T) {
	var served []string
	for _, list := range [][]ask.Served{
		chain.Requests, coins.Requests, corepool.Requests, discovery.Requests,
		indexer.Requests, mempool.Requests, peers.Requests, scanner.Requests,
		searches.Requests, cluster.Requests,
		txbuilder.Requests, wallets.Requests, wallets.WalletRequests,
	} {
		for _, kind := range ask.Kinds(list) {
			if strings.HasSuffix(kind.PkgPath(), "/messages") {
				served = append(served, kind.Name())
			}
		}
	}
	asked := requests(t)
	if len(asked) < 80 {
		t.Errorf("only %d requests were found", len(asked))
	}
	for _, name := range asked {
		if !slices.Contains(served, name) {
			t.Errorf("nobody serves messages.%s", name)
		}
	}
	// Compares the other way too: the search of the sources must have found
	// each request that an actor serves.
	for _, name := range served {
		if !slices.Contains(asked, name) {
			t.Errorf("messages.%s is served and was not found", name)
		}
	}
}

// requests returns the types of package messages that are requests.
func requests(t *testing.T) (names []string) {
	t.Helper()
	packages, err := sources("messages")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range packages["messages"].Files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			fields, ok := spec.Type.(*ast.StructType)
			if !ok || len(fields.Fields.List) == 0 || len(fields.Fields.List[0].Names) > 0 || spec.TypeParams != nil {
				return true
			}
			if embedded, ok := fields.Fields.List[0].Type.(*ast.IndexExpr); ok {
				of := embedded.X.(*ast.Ident).Name
				if of == "Asks" || of == "Control" {
					names = append(names, spec.Name.Name)
				}
			}
			return true
		})
	}
	return names
}

// However many wait for a tip, others are answered.
func TestWaitingTakesNoPlace(t *testing.T) {
	node, err := Open(t.Context(), Config{Dir: t.TempDir(), Chain: "regtest", Cache: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	tip := node.Blocks().Tip()
	for range 2 * DefaultMaxCalls {
		go func() {
			_, err := Ask(ctx, node.Chain(), messages.WaitTip{Not: &tip.Hash})
			left <- err
		}()
	}
	soon, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	for range 2 * DefaultMaxCalls {
		if got, err := Ask(soon, node.Chain(), messages.GetTip{}); err != nil || got != tip {
			t.Fatal(got, err)
		}
	}
	cancel()
	for range 2 * DefaultMaxCalls {
		if err := <-left; err == nil {
			t.Error("another tip")
		}
	}
	if err := node.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

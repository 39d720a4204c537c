package corenode

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/e2e/replay"
)

// until tries until there is an answer; nothing but ErrAway may come before.
func until[R any](t *testing.T, do func(context.Context) (R, error)) R {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		r, err := do(t.Context())
		if err == nil {
			return r
		}
		if !errors.Is(err, ErrAway) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// Every request to a Core works, across a kill and a start with another cookie.
func TestLiveCore(t *testing.T) {
	core := replay.StartCore(t, "", "-rest=1", "-blockfilterindex=1")
	configured, err := ReadConfig(core.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Address: configured.Address, Cookie: configured.Cookie, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	info := until(t, c.Info)
	if info.Version < 300000 || info.Chain.Chain != "regtest" || !info.REST || !info.SpentREST || !info.LongPoll {
		t.Errorf("%+v", info)
	}
	if _, ok := info.Indexes[FilterIndex]; !ok {
		t.Errorf("indexes %v", info.Indexes)
	}
	genesis := until(t, c.BestBlock)
	news := make(chan chainhash.Hash, 1)
	go func() {
		tip, err := c.WaitNewBlock(t.Context(), &genesis, 20*time.Second)
		if err != nil {
			t.Error(err)
		}
		news <- tip
	}()
	var mined []Hash
	const address = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	if err := c.Call(t.Context(), &mined, "generatetoaddress", 3, address); err != nil {
		t.Fatal(err)
	}
	if tip := <-news; tip == genesis {
		t.Error("no event")
	}
	tip := chainhash.Hash(mined[2])
	checkBlocks(t, c, &genesis, &tip)
	results, errs, err := c.Batch(t.Context(), "getblockhash", [][]any{{3}, {4}, {0}})
	if err != nil || string(results[0]) != `"`+tip.String()+`"` || errs[1] == nil || errs[0] != nil {
		t.Errorf("batch: %s, %v, %v", results, errs, err)
	}
	core.Kill()
	if _, err := c.BestBlock(t.Context()); !errors.Is(err, ErrAway) {
		t.Errorf("killed: %v", err)
	}
	core.Start() // without REST
	until(t, c.BestBlock)
	if info := until(t, c.Info); info.REST {
		t.Errorf("REST is off: %+v", info)
	}
	if _, err := c.Block(t.Context(), &tip); !errors.Is(err, ErrNoREST) {
		t.Errorf("REST is off: %v", err)
	}
}

func checkBlocks(t *testing.T, c *Client, genesis, tip *chainhash.Hash) {
	t.Helper()
	headers, err := c.Headers(t.Context(), genesis, 10)
	if err != nil || len(headers) != 4*headerSize || chainhash.DoubleHashH(headers[3*headerSize:]) != *tip {
		t.Errorf("%d bytes of headers: %v", len(headers), err)
	}
	block, err := c.Block(t.Context(), tip)
	if err != nil || len(block) < headerSize || chainhash.DoubleHashH(block[:headerSize]) != *tip {
		t.Errorf("block of %d bytes: %v", len(block), err)
	}
	if spent, err := c.SpentOutputs(t.Context(), tip); err != nil || len(spent) == 0 {
		t.Errorf("spent outputs %x: %v", spent, err)
	}
	filter := until(t, func(ctx context.Context) ([]byte, error) {
		filter, err := c.BlockFilter(ctx, tip)
		if e, ok := errors.AsType[*Error](err); ok {
			return nil, away("%w", e) // the index is a moment behind
		}
		return filter, err
	})
	var byRPC struct{ Filter string }
	if err := c.Call(t.Context(), &byRPC, "getblockfilter", tip.String()); err != nil {
		t.Fatal(err)
	}
	if got := hexOf(filter); got != byRPC.Filter {
		t.Errorf("filter %s, want %s", got, byRPC.Filter)
	}
	missing := chainhash.Hash{1}
	_, err = c.Block(t.Context(), &missing)
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != codeNotFound {
		t.Errorf("a block that there is not: %v", err)
	}
}

// A whitelist lets what a follower needs pass.
func TestLiveWhitelist(t *testing.T) {
	core := replay.StartCore(t, "", "-rpcauth=u:s$"+hashOf("s", secret),
		"-rpcwhitelist=u:getblockchaininfo,getbestblockhash,getblockhash")
	configured, err := ReadConfig(core.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Address: configured.Address, User: "u", Password: secret, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	info := until(t, c.Info)
	if info.Version != 0 || info.Indexes != nil || info.Chain.Chain != "regtest" {
		t.Errorf("%+v", info)
	}
	tip := until(t, c.BestBlock)
	if same, err := c.WaitNewBlock(t.Context(), &tip, 50*time.Millisecond); err != nil || same != tip {
		t.Errorf("polled: %v, %v", same, err)
	}
	if err := c.Call(t.Context(), nil, "stop"); !errors.Is(err, ErrForbidden) {
		t.Errorf("stop: %v", err)
	}
	wrong, err := New(Config{Address: configured.Address, User: "u", Password: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wrong.BestBlock(t.Context()); !errors.Is(err, ErrLogin) {
		t.Errorf("wrong login: %v", err)
	}
}

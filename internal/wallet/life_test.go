package wallet_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// recordedLife is the content of testdata/life.json.gz. Before has calls that
// made wallets on the first blocks of the recorded chain and asked about them.
// After has the same questions after the branch of testdata/branch.blk.gz took
// over.
type recordedLife struct {
	Before, After []recordedCase
}

// forkHeight is that of the last block before the branch, and tipHeight that of
// the tip at which the wallets were made.
const (
	forkHeight = 336
	tipHeight  = 354
)

// TestLife makes wallets as they were made with Core, and compares all answers,
// before and after a reorganisation.
func TestLife(t *testing.T) {
	var life recordedLife
	if err := json.Unmarshal(unzip("testdata/life.json.gz"), &life); err != nil {
		t.Fatal(err)
	}
	chain := newTestChain()
	for _, b := range recordedChain().blocks[:tipHeight+1] {
		chain.take(b, recordedChain().median[b.Height])
	}
	l := &liver{chain: chain, players: make(map[string]*player)}
	for _, c := range life.Before {
		l.play(t, c)
	}
	l.reorganise(t)
	for _, c := range life.After {
		l.play(t, c)
	}
	played := 0
	for _, p := range l.players {
		played += p.played
	}
	if played < 400 {
		t.Errorf("only %d answers compared", played)
	}
	t.Logf("%d answers compared", played)
}

// take appends a block that is known from another chain.
func (c *testChain) take(b *txs.Block, median int64) {
	c.blocks = append(c.blocks, b)
	c.places[b.Hash] = b.Height
	c.filters = append(c.filters, c.filter(b))
	c.median = append(c.median, median)
}

// liver holds wallets while they live.
type liver struct {
	chain   *testChain
	players map[string]*player
}

func (l *liver) play(t *testing.T, c recordedCase) {
	t.Helper()
	if c.Method == "createwallet" {
		l.create(t, argumentsOf(c.Params, "wallet_name"))
		return
	}
	if p := l.players[c.Wallet]; p != nil {
		p.play(t, c)
		p.wallet.TakeChanges()
	}
}

func (l *liver) create(t *testing.T, args arguments) {
	t.Helper()
	var name string
	args.get("wallet_name", &name)
	p := wallet.CreateParams{Params: regtest(t, name), Now: 1_700_000_000}
	args.get("blank", &p.Blank)
	args.get("disable_private_keys", &p.DisablePrivateKeys)
	w, err := wallet.Create(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	w.Txs().SetTip(l.chain.tip())
	l.players[name] = &player{wallet: w, chain: l.chain, params: p.Params}
}

// reorganise replaces the blocks above the fork by the branch.
func (l *liver) reorganise(t *testing.T) {
	t.Helper()
	for l.chain.tip().Height > forkHeight {
		last := len(l.chain.blocks) - 1
		gone := l.chain.blocks[last]
		delete(l.chain.places, gone.Hash)
		l.chain.blocks, l.chain.filters = l.chain.blocks[:last], l.chain.filters[:last]
		l.chain.median = l.chain.median[:last]
		for _, p := range l.players {
			p.wallet.Txs().DisconnectBlock(gone, l.chain.tip(), 1_800_000_000)
		}
	}
	for _, block := range readBlocks("testdata/branch.blk.gz") {
		l.chain.add(block)
		for _, p := range l.players {
			p.wallet.Txs().ConnectBlock(l.chain.blocks[len(l.chain.blocks)-1], 1_800_000_000)
		}
	}
}

func readBlocks(path string) []*wire.MsgBlock {
	var blocks []*wire.MsgBlock
	for raw := unzip(path); len(raw) > 8; {
		size := binary.LittleEndian.Uint32(raw[4:])
		block := new(wire.MsgBlock)
		if err := block.Deserialize(bytes.NewReader(raw[8 : 8+size])); err != nil {
			panic(err)
		}
		blocks, raw = append(blocks, block), raw[8+size:]
	}
	return blocks
}

// importItem is one element of the argument of importdescriptors.
type importItem struct {
	Desc      *string         `json:"desc"`
	Active    bool            `json:"active"`
	Range     json.RawMessage `json:"range"`
	NextIndex *int64          `json:"next_index"`
	Timestamp json.RawMessage `json:"timestamp"`
	Internal  *bool           `json:"internal"`
	Label     *string         `json:"label"`
}

func (i *importItem) request() messages.ImportItem {
	r := messages.ImportItem{
		Active: i.Active, NextIndex: i.NextIndex, Internal: i.Internal, Label: i.Label, NoDesc: i.Desc == nil,
		Timestamp: messages.NowTimestamp,
	}
	if i.Desc != nil {
		r.Desc = *i.Desc
	}
	_ = json.Unmarshal(i.Timestamp, &r.Timestamp) // a text stands for now
	if i.Range != nil {
		r.Range = new([2]int64)
		if json.Unmarshal(i.Range, r.Range) != nil {
			_ = json.Unmarshal(i.Range, &r.Range[1])
		}
	}
	return r
}

func (p *player) importDescriptors(args arguments) (any, error) {
	var items []importItem
	args.get("requests", &items)
	requests := make([]messages.ImportItem, len(items))
	for i := range items {
		requests[i] = items[i].request()
	}
	tip := len(p.chain.blocks) - 1
	times := keys.ImportTimes{Tip: p.chain.blocks[tip].Time, Median: p.chain.median[tip]}
	done, err := p.wallet.Importer().Import(requests, times)
	if err != nil {
		return nil, err
	}
	if done.Rescan {
		start := slices.IndexFunc(p.chain.blocks, func(b *txs.Block) bool { return b.MaxTime >= done.From-2*60*60 })
		scan(p.wallet, p.chain, int32(start))
	}
	shown := make([]object, len(done.Results))
	for i, result := range done.Results {
		shown[i] = object{"success": result.Err == nil}
		if result.Err != nil {
			shown[i]["error"] = errorObject(result.Err)
		}
		if result.Warnings != nil {
			shown[i]["warnings"] = result.Warnings
		}
	}
	return shown, nil
}

func (p *player) unspent(args arguments) (any, error) {
	r := messages.ListUnspent{MinConf: 1, MaxConf: 9999999, IncludeUnsafe: true}
	args.get("minconf", &r.MinConf)
	shown := []object{}
	for _, u := range p.wallet.Reports().ListUnspent(r) {
		o := object{
			"txid": u.TxID.String(), "vout": u.Index, "amount": amount(u.Amount), "confirmations": u.Confirmations,
			"scriptPubKey": hexOf(u.Script), "spendable": u.Spendable, "solvable": u.Solvable, "safe": u.Safe,
			"parent_descs": u.ParentDescs,
		}
		address, ok := descriptor.AddressOf(u.Script, p.params.Network)
		set(o, "address", address, ok)
		set(o, "label", u.Label, u.HasLabel)
		set(o, "desc", u.Desc, u.Solvable)
		set(o, "redeemScript", hexOf(u.RedeemScript), u.RedeemScript != nil)
		set(o, "witnessScript", hexOf(u.WitnessScript), u.WitnessScript != nil)
		set(o, "reused", u.Reused, u.HasReused)
		shown = append(shown, o)
	}
	return shown, nil
}

func set(o object, name string, value any, ok bool) {
	if ok {
		o[name] = value
	}
}

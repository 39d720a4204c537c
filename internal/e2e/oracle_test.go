package e2e_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/btcutil/gcs"
	"github.com/btcsuite/btcd/btcutil/gcs/builder"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/internal/e2e/replay"
)

// The regtest chain of the recordings, and the branch that replaces its end.
const (
	chainFile    = "testdata/golden/regtest-chain/chain.blk.gz"
	branchFile   = "testdata/golden/regtest-chain/branch.blk.gz"
	chainTip     = "139127cbc18a93b9944df362e9159b093a2c90696e6695150316b3ba83d8ae48"
	chainHeight  = 354
	branchTip    = "442ad4a94627d848dd4612c1c94bca4e2a55e05790c990046a71487b33a6773b"
	branchHeight = 361
)

// filterReply is the result of getblockfilter.
type filterReply struct {
	Filter string `json:"filter"`
	Header string `json:"header"`
}

// oracle computes filters from blocks, with btcutil's code and without a node.
type oracle struct {
	filters map[chainhash.Hash]filterReply
	headers map[chainhash.Hash]chainhash.Hash // filter headers
	scripts map[wire.OutPoint][]byte
}

func newOracle() *oracle {
	return &oracle{
		filters: map[chainhash.Hash]filterReply{},
		headers: map[chainhash.Hash]chainhash.Hash{{}: {}},
		scripts: map[wire.OutPoint][]byte{},
	}
}

// clone returns an oracle that knows the same and learns alone: an oracle
// belongs to one goroutine.
func (o *oracle) clone() *oracle {
	return &oracle{filters: maps.Clone(o.filters), headers: maps.Clone(o.headers), scripts: maps.Clone(o.scripts)}
}

// add computes the filter of a block, whose parent must have been added.
func (o *oracle) add(t *testing.T, raw []byte) chainhash.Hash {
	t.Helper()
	block := new(wire.MsgBlock)
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	hash := block.BlockHash()
	if _, known := o.filters[hash]; known {
		return hash
	}
	o.addOutputs(block)
	filter, err := builder.BuildBasicFilter(block, o.spent(t, block))
	if err != nil {
		t.Fatal(err)
	}
	o.put(t, &block.Header, filter)
	return hash
}

func (o *oracle) addOutputs(block *wire.MsgBlock) {
	for _, tx := range block.Transactions {
		id := tx.TxHash()
		for i, out := range tx.TxOut {
			o.scripts[wire.OutPoint{Hash: id, Index: uint32(i)}] = out.PkScript
		}
	}
}

// spent returns the scripts of the outputs that a block spends.
func (o *oracle) spent(t *testing.T, block *wire.MsgBlock) [][]byte {
	t.Helper()
	var scripts [][]byte
	for _, tx := range block.Transactions[1:] {
		for _, in := range tx.TxIn {
			script, ok := o.scripts[in.PreviousOutPoint]
			if !ok {
				t.Fatalf("unknown output %v", in.PreviousOutPoint)
			}
			scripts = append(scripts, script)
		}
	}
	return scripts
}

func (o *oracle) put(t *testing.T, head *wire.BlockHeader, filter *gcs.Filter) {
	t.Helper()
	parent, ok := o.headers[head.PrevBlock]
	if !ok {
		t.Fatalf("the parent %v is unknown", head.PrevBlock)
	}
	raw, err := filter.NBytes()
	if err != nil {
		t.Fatal(err)
	}
	header, err := builder.MakeHeaderForFilter(filter, parent)
	if err != nil {
		t.Fatal(err)
	}
	hash := head.BlockHash()
	o.headers[hash] = header
	o.filters[hash] = filterReply{hex.EncodeToString(raw), header.String()}
}

// addFile adds the blocks of a file and returns them.
func (o *oracle) addFile(t *testing.T, path string) [][]byte {
	t.Helper()
	blocks, err := replay.ReadBlocks(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range blocks {
		o.add(t, raw)
	}
	return blocks
}

// auditor checks the filter index of one node against an oracle, again and again.
type auditor struct {
	*oracle
	d      *e2e.Daemon
	served map[string]bool // blocks whose filters the node has given
}

func (o *oracle) audits(d *e2e.Daemon) *auditor {
	return &auditor{oracle: o, d: d, served: map[string]bool{}}
}

// check waits for the filter index and compares every filter and filter header
// of the active chain, and those the node has of blocks that left it. It
// returns the height of the tip.
func (a *auditor) check(t *testing.T) int32 {
	t.Helper()
	var tip string
	var height int32
	a.d.Get(&tip, "getbestblockhash")
	a.d.Get(&height, "getblockcount")
	a.d.WaitTip(tip, height, true)
	active := map[string]bool{}
	for h := range height + 1 {
		var hash string
		a.d.Get(&hash, "getblockhash", h)
		active[hash], a.served[hash] = true, true
		want := a.filter(t, a.d, hash)
		var got filterReply
		a.d.Get(&got, "getblockfilter", hash)
		if got != want {
			t.Fatalf("block %d %s: got %v, want %v", h, hash, got, want)
		}
	}
	a.checkStale(t, active)
	return height
}

// checkStale looks at the filters of other blocks. The node may never have made
// such a filter, but a filter that it has is right, and stays.
func (a *auditor) checkStale(t *testing.T, active map[string]bool) {
	t.Helper()
	for block, want := range a.filters {
		hash := block.String()
		if active[hash] {
			continue
		}
		var got filterReply
		err := a.d.Call(t.Context(), &got, "getblockfilter", hash)
		switch {
		case errors.As(err, new(jsonrpc.Error)) && !a.served[hash]:
		case err != nil || got != want:
			t.Errorf("stale block %s: got %v, %v, want %v", hash, got, err, want)
		default:
			a.served[hash] = true
		}
	}
}

// filter returns the filter of a block, which the node may have mined.
func (o *oracle) filter(t *testing.T, d *e2e.Daemon, hash string) filterReply {
	t.Helper()
	h, err := chainhash.NewHashFromStr(hash)
	if err != nil {
		t.Fatal(err)
	}
	if _, known := o.filters[*h]; !known {
		o.fetch(t, d, hash)
	}
	return o.filters[*h]
}

func (o *oracle) fetch(t *testing.T, d *e2e.Daemon, hash string) {
	t.Helper()
	var text string
	d.Get(&text, "getblock", hash, 0)
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	o.add(t, raw)
}

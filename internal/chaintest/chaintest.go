// Package chaintest builds block chains in memory for tests of whatever reads
// chains.
//
// Nothing is validated: blocks need no work and may hold any transactions, as
// long as the outputs these spend were made by the chain below.
package chaintest

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
)

// A Chain is a [chainview.Reader] over blocks in memory. The branch with the
// most work is active; of two with equal work the first one stays. Only one
// goroutine may change it, any may read it.
type Chain struct {
	*chainview.Tree

	params *chaincfg.Params
	net    *dialect.Network // nil: one of Bitcoin's
	mu     sync.RWMutex
	blocks map[chainhash.Hash]*stored
	coins  map[wire.OutPoint][]creation
}

var _ chainview.Reader = (*Chain)(nil)

// stored is a block with what reading it returns.
type stored struct {
	raw     []byte
	block   *wire.MsgBlock
	spent   [][]chainview.Coin
	err     error // of reading the block
	undoErr error // of reading what it spends
}

// creation is an output and the block it is from: transactions may be in
// several branches.
type creation struct {
	block *chainview.Block
	coin  chainview.Coin
}

// A Template is what is chosen of a block. The zero value is a block without
// transactions.
type Template struct {
	Script  []byte         // of the coinbase's output; default OP_TRUE
	Txs     []*wire.MsgTx  // without coinbase
	Witness wire.TxWitness // of the coinbase
	Version int32          // default 0x20000000
	Time    time.Time      // default ten minutes after the parent
	Solved  bool           // with proof of work, for networks where that is quick
	Merged  bool           // merge-mined, for networks whose blocks may be
}

// New returns a chain of the genesis block alone.
func New(params *chaincfg.Params) *Chain {
	c := &Chain{
		Tree:   chainview.NewTree(&params.GenesisBlock.Header, consensus.TargetWork(params.GenesisBlock.Header.Bits)),
		params: params,
		blocks: map[chainhash.Hash]*stored{},
		coins:  map[wire.OutPoint][]creation{},
	}
	c.blocks[*params.GenesisHash] = &stored{raw: serialize(params.GenesisBlock), block: params.GenesisBlock}
	return c
}

// NewOn returns a chain of a network's genesis block alone. Its blocks may be of
// the network's own form.
func NewOn(net *dialect.Network) *Chain {
	c := New(net.Params)
	c.net = net
	return c
}

// Mine puts a block on the active chain.
func (c *Chain) Mine(t Template) *chainview.Block { return c.MineOn(c.Active().Tip(), t) }

// MineN puts n blocks without transactions on the active chain and returns the
// last.
func (c *Chain) MineN(n int) *chainview.Block {
	for range n {
		c.Mine(Template{})
	}
	return c.Active().Tip()
}

// MineOn puts a block on any block.
func (c *Chain) MineOn(parent *chainview.Block, t Template) *chainview.Block {
	raw := serialize(c.build(parent, t))
	if t.Merged {
		raw = MergeMine(c.net, raw)
	}
	b, err := c.Add(raw)
	if err != nil {
		panic(err) // a test that spends what does not exist
	}
	return b
}

// AddHeader puts a header without its block on any block.
func (c *Chain) AddHeader(parent *chainview.Block) *chainview.Block {
	header := c.build(parent, Template{}).Header
	b, err := c.Tree.Add(&header, consensus.TargetWork(header.Bits), 0)
	if err != nil {
		panic(err) // the parent is of another chain
	}
	return b
}

// Add adds a serialized block.
func (c *Chain) Add(raw []byte) (*chainview.Block, error) {
	block, payload, err := c.parse(raw)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := c.AddWithPayload(&block.Header, payload, consensus.TargetWork(block.Header.Bits), chainview.HasData)
	if err != nil {
		return nil, err
	}
	spent, err := c.connect(b, block)
	if err != nil {
		return nil, err
	}
	c.SetStatus(b, b.Status()|chainview.HasData) // its header may have come before it
	c.blocks[b.Hash] = &stored{raw: raw, block: block, spent: spent}
	if b.CompareWork(c.Active().Tip()) > 0 {
		c.activate(b)
	}
	return b, nil
}

// parse reads a serialized block.
func (c *Chain) parse(raw []byte) (block *wire.MsgBlock, payload []byte, err error) {
	if c.net != nil {
		block, _, err = c.net.ReadBlock(raw)
		if err == nil {
			payload = raw[wire.MaxBlockHeaderPayload:c.net.HeaderLen(raw)]
		}
		return block, payload, err
	}
	block = new(wire.MsgBlock)
	return block, nil, block.Deserialize(bytes.NewReader(raw))
}

// Fail makes reading a block fail with an error, and what it spends too.
func (c *Chain) Fail(b *chainview.Block, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks[b.Hash].err, c.blocks[b.Hash].undoErr = err, err
}

// FailUndo makes reading what a block spends fail with an error.
func (c *Chain) FailUndo(b *chainview.Block, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks[b.Hash].undoErr = err
}

// Raw implements [chainview.Reader].
func (c *Chain) Raw(hash *chainhash.Hash) ([]byte, error) {
	s, err := c.find(hash)
	return s.raw, err
}

// Size implements [chainview.Reader].
func (c *Chain) Size(hash *chainhash.Hash) (size, txs int, err error) {
	s, err := c.find(hash)
	if err != nil {
		return 0, 0, err
	}
	return len(s.raw), len(s.block.Transactions), nil
}

// Block implements [chainview.Reader].
func (c *Chain) Block(hash *chainhash.Hash) (*wire.MsgBlock, error) {
	s, err := c.find(hash)
	return s.block, err
}

// Spent implements [chainview.Reader].
func (c *Chain) Spent(hash *chainhash.Hash) ([][]chainview.Coin, error) {
	s, err := c.find(hash)
	if s.undoErr != nil {
		return nil, s.undoErr
	}
	return s.spent, err
}

// SpentScripts implements [chainview.Reader].
func (c *Chain) SpentScripts(hash *chainhash.Hash) ([][]byte, error) {
	spent, err := c.Spent(hash)
	var scripts [][]byte
	for _, coins := range spent {
		for _, coin := range coins {
			scripts = append(scripts, coin.Script)
		}
	}
	return scripts, err
}

func (c *Chain) find(hash *chainhash.Hash) (stored, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.blocks[*hash]
	if !ok {
		return stored{}, fmt.Errorf("block %v: %w", hash, chainview.ErrNotFound)
	}
	if s.err != nil {
		return stored{err: s.err, undoErr: s.undoErr}, s.err
	}
	return *s, nil
}

// build makes a block whose coinbase says its height (BIP34).
func (c *Chain) build(parent *chainview.Block, t Template) *wire.MsgBlock {
	if t.Version == 0 {
		t.Version = 0x20000000
	}
	if t.Time.IsZero() {
		t.Time = parent.Time().Add(10 * time.Minute)
	}
	if t.Script == nil {
		t.Script = []byte{txscript.OP_TRUE}
	}
	height, err := txscript.NewScriptBuilder().AddInt64(int64(parent.Height) + 1).AddInt64(0).Script()
	if err != nil {
		panic(err) // two numbers always fit
	}
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: wire.MaxPrevOutIndex}, height, t.Witness))
	coinbase.AddTxOut(wire.NewTxOut(50*btcutil.SatoshiPerBitcoin, t.Script))

	block := wire.NewMsgBlock(&wire.BlockHeader{
		Version: t.Version, PrevBlock: parent.Hash, Timestamp: t.Time, Bits: c.params.PowLimitBits,
	})
	block.Transactions = append([]*wire.MsgTx{coinbase}, t.Txs...)
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.TxHash()
	}
	block.Header.MerkleRoot, _ = consensus.MerkleRoot(ids)
	for t.Solved && !solved(block) || c.Lookup(new(block.BlockHash())) != nil { // a twin of another block
		block.Header.Nonce++
	}
	return block
}

func solved(block *wire.MsgBlock) bool {
	hash := block.BlockHash()
	return consensus.HashNumber(&hash).Cmp(consensus.TargetOf(block.Header.Bits)) <= 0
}

// connect records what a block creates and returns what it spends.
func (c *Chain) connect(b *chainview.Block, block *wire.MsgBlock) ([][]chainview.Coin, error) {
	var spent [][]chainview.Coin
	for i, tx := range block.Transactions {
		if i > 0 {
			coins := make([]chainview.Coin, len(tx.TxIn))
			for j, in := range tx.TxIn {
				var err error
				if coins[j], err = c.coin(b, in.PreviousOutPoint); err != nil {
					return nil, err
				}
			}
			spent = append(spent, coins)
		}
		id := tx.TxHash()
		for j, out := range tx.TxOut {
			at := wire.OutPoint{Hash: id, Index: uint32(j)}
			c.coins[at] = append(c.coins[at], creation{b, chainview.Coin{
				Height: b.Height, Coinbase: i == 0, Value: btcutil.Amount(out.Value), Script: out.PkScript,
			}})
		}
	}
	return spent, nil
}

// coin returns an output made by b or a block below it.
func (c *Chain) coin(b *chainview.Block, at wire.OutPoint) (chainview.Coin, error) {
	for _, made := range c.coins[at] {
		if b.Ancestor(made.block.Height).Is(made.block) {
			return made.coin, nil
		}
	}
	return chainview.Coin{}, fmt.Errorf("block %v spends %v, which does not exist", b.Hash, at)
}

func (c *Chain) activate(tip *chainview.Block) {
	for b := tip; !c.Active().Contains(b); b = b.Parent {
		c.SetStatus(b, b.Status()|chainview.Valid)
	}
	c.SetActive(tip)
}

func serialize(block *wire.MsgBlock) []byte {
	var raw bytes.Buffer
	_ = block.Serialize(&raw) // to memory
	return raw.Bytes()
}

package chainstate

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

// connect checks a block against the unspent outputs, which are at its parent, and
// applies it to them (Core's ConnectBlock). It returns its undo data. After an error
// the outputs are as before; a [*messages.RejectError] says which rule it breaks.
func (e *Engine) connect(at *chainview.Block, b *block) (undo []byte, err error) {
	forbidden, possible := e.kind.Scripts.Repeats(at)
	if possible {
		if err := e.checkRepeated(at, b); err != nil {
			return nil, err
		}
	}
	mark := e.coins.Mark()
	c := newConnecting(e, at, b, possible)
	err = c.run()
	if err == nil {
		return c.undo, nil
	}
	e.coins.Rollback(mark)
	var rejected *messages.RejectError
	if errors.As(err, &rejected) && forbidden && !possible {
		// That is looked at first, but costs a search for each output of a block
		// that has no fault otherwise.
		if repeated := e.checkRepeated(at, b); repeated != nil {
			return nil, repeated
		}
	}
	return nil, err
}

// checkRepeated is BIP30: no transaction may have the id of one with unspent outputs.
func (e *Engine) checkRepeated(at *chainview.Block, b *block) error {
	for i, tx := range b.List {
		out := wire.OutPoint{Hash: b.IDs[i]}
		for n := range tx.TxOut {
			out.Index = uint32(n)
			coin, err := e.coin(&out, at.Parent)
			if err != nil {
				return err
			}
			if coin != nil {
				return reject("bad-txns-BIP30", "tried to overwrite transaction")
			}
		}
	}
	return nil
}

// connecting is a block that is being connected.
type connecting struct {
	*Engine

	at    *chainview.Block
	b     *block
	flags script.Flags
	csv   bool
	fresh bool // no output has the key of another

	undo  []byte
	coins []consensus.Coin // that the block spends, in order
	bytes []byte           // their scripts
	outs  []wire.TxOut
	spent []*wire.TxOut // of outs
	key   []byte
	value []byte
	fees  int64
	cost  int64 // of signature operations
}

func newConnecting(e *Engine, at *chainview.Block, b *block, checked bool) *connecting {
	c := &connecting{
		Engine: e, at: at, b: b, flags: e.kind.Scripts.Flags(at), csv: e.net.Active("csv", at.Height),
		fresh: checked || e.net.Active("bip34", 1),
		undo:  make([]byte, 0, 64*b.Inputs),
		coins: make([]consensus.Coin, 0, b.Inputs), bytes: make([]byte, 0, 32*b.Inputs),
		outs: make([]wire.TxOut, 0, b.Inputs), spent: make([]*wire.TxOut, 0, b.Inputs),
	}
	return c
}

func (c *connecting) run() error {
	c.b.legacySigOps()
	if err := c.fetch(); err != nil {
		return err
	}
	c.undo = blockfile.AppendCount(c.undo, len(c.b.List)-1)
	for i, tx := range c.b.List {
		if v := c.rules.CheckOutputs(tx, c.at.Height); v != nil {
			return reject(v.Reason, v.Debug)
		}
		from := len(c.coins)
		if i > 0 {
			if err := c.find(tx); err != nil {
				return err
			}
			if err := c.judge(tx, c.coins[from:], i); err != nil {
				return err
			}
		}
		if err := c.count(tx, c.coins[from:], i); err != nil {
			return err
		}
		if i > 0 {
			c.spend(tx)
		}
		c.create(tx, i)
	}
	limit := c.fees + int64(c.net.Subsidy(c.at.Height))
	if paid := consensus.Paid(c.b.List[0]); paid > limit {
		return reject("bad-cb-amount", fmt.Sprintf("coinbase pays too much (actual=%d vs limit=%d)", paid, limit))
	}
	return c.runScripts()
}

// minFetched is from how many coins on it pays to read them all at once.
const minFetched = 64

// fetch reads those coins that the block spends and the cache does not have, before they
// are looked for one by one.
func (c *connecting) fetch() error {
	var missing []*wire.OutPoint
	for _, tx := range c.b.List[1:] {
		for _, in := range tx.TxIn {
			c.key = appendKey(c.key[:0], &in.PreviousOutPoint)
			if !c.Engine.coins.Has(c.key) {
				missing = append(missing, &in.PreviousOutPoint)
			}
		}
	}
	if len(missing) < minFetched {
		return nil
	}
	own := make(map[chainhash.Hash]struct{}, len(c.b.IDs)) // whose outputs are not stored
	for _, id := range c.b.IDs {
		own[id] = struct{}{}
	}
	keys, bytes := make([][]byte, 0, len(missing)), make([]byte, 0, maxKey*len(missing))
	for _, out := range missing {
		if _, ok := own[out.Hash]; !ok {
			from := len(bytes)
			bytes = appendKey(bytes, out)
			keys = append(keys, bytes[from:len(bytes):len(bytes)])
		}
	}
	return c.Engine.coins.Fetch(keys)
}

// judge checks what a transaction spends.
func (c *connecting) judge(tx *wire.MsgTx, coins []consensus.Coin, i int) error {
	fee, v := c.rules.CheckSpend(tx, coins, c.at.Height)
	if v != nil {
		return reject(v.Reason, v.Debug+" in transaction "+c.b.IDs[i].String())
	}
	if c.fees += fee; c.fees > c.rules.MaxMoney {
		return reject("bad-txns-accumulated-fee-outofrange", "accumulated fee in the block out of range")
	}
	heights := func(input int) int32 { return coins[input].Height }
	if c.csv && !consensus.SequenceFinal(tx, heights, c.at.Parent) {
		return reject("bad-txns-nonfinal", "contains a non-BIP68-final transaction "+c.b.IDs[i].String())
	}
	return nil
}

// find takes over the coins that a transaction spends.
func (c *connecting) find(tx *wire.MsgTx) error {
	c.undo = blockfile.AppendCount(c.undo, len(tx.TxIn))
	for _, in := range tx.TxIn {
		c.key = appendKey(c.key[:0], &in.PreviousOutPoint)
		value, err := c.Engine.coins.Get(c.key)
		if err != nil {
			return err
		}
		if value == nil {
			if err := c.findOdd(&in.PreviousOutPoint); err != nil {
				return err
			}
			continue
		}
		u, err := blockfile.ParseUnspent(value)
		if err != nil {
			return fmt.Errorf("unspent output %v: %w", in.PreviousOutPoint, err)
		}
		from := len(c.bytes)
		if c.bytes, err = blockfile.UnpackScript(c.bytes, u.Packed); err != nil {
			return fmt.Errorf("unspent output %v: %w", in.PreviousOutPoint, err)
		}
		c.undo = blockfile.AppendStored(c.undo, value)
		c.add(consensus.Coin{
			Height: u.Height, Coinbase: u.Coinbase, Value: u.Amount, Script: c.bytes[from:len(c.bytes):len(c.bytes)],
		})
	}
	return nil
}

func (c *connecting) add(coin consensus.Coin) {
	c.coins = append(c.coins, coin)
	c.outs = append(c.outs, wire.TxOut{Value: coin.Value, PkScript: coin.Script})
	c.spent = append(c.spent, &c.outs[len(c.outs)-1])
}

// findOdd takes over an output that is not in the set although it was not spent.
func (c *connecting) findOdd(out *wire.OutPoint) error {
	coin, err := c.odd.find(out, c.at)
	if err != nil {
		return err
	}
	if coin == nil {
		return reject("bad-txns-inputs-missingorspent", "CheckTxInputs: inputs missing/spent in transaction "+
			c.spender(out))
	}
	c.undo = blockfile.AppendCoin(c.undo, blockfile.Coin{
		Height: coin.Height, Coinbase: coin.Coinbase, Amount: coin.Value, Script: coin.Script,
	})
	c.add(*coin)
	return nil
}

// spender is the id of the first transaction that has an input.
func (c *connecting) spender(out *wire.OutPoint) string {
	for i, tx := range c.b.List {
		for _, in := range tx.TxIn {
			if in.PreviousOutPoint == *out {
				return c.b.IDs[i].String()
			}
		}
	}
	return ""
}

// count adds the signature operations of a transaction.
func (c *connecting) count(tx *wire.MsgTx, coins []consensus.Coin, i int) error {
	scale := c.rules.WitnessScale
	c.cost += int64(c.b.sigOps[i]) * scale
	for k := range coins {
		in, spent := tx.TxIn[k], coins[k].Script
		if c.flags&script.P2SH != 0 {
			c.cost += int64(script.P2SHSigOps(in.SignatureScript, spent)) * scale
		}
		if c.flags&script.Witness != 0 {
			c.cost += int64(script.WitnessSigOps(in.SignatureScript, spent, in.Witness))
		}
	}
	if c.cost > c.rules.MaxSigOps {
		return reject("bad-blk-sigops", "too many sigops")
	}
	return nil
}

func (c *connecting) spend(tx *wire.MsgTx) {
	for _, in := range tx.TxIn {
		c.key = appendKey(c.key[:0], &in.PreviousOutPoint)
		c.Engine.coins.Spend(c.key)
	}
}

// create adds the outputs that can be spent.
func (c *connecting) create(tx *wire.MsgTx, i int) {
	coin := blockfile.Coin{Height: c.at.Height, Coinbase: i == 0}
	out := wire.OutPoint{Hash: c.b.IDs[i]}
	for n, o := range tx.TxOut {
		out.Index = uint32(n)
		switch {
		case consensus.Unspendable(o.PkScript):
		case c.odd.is(o.PkScript):
			c.odd.add(out, oddOutput{of: c.at, coinbase: i == 0, value: o.Value, script: o.PkScript})
		default:
			coin.Amount, coin.Script = o.Value, o.PkScript
			c.value = blockfile.AppendUnspent(c.value[:0], coin)
			c.key = appendKey(c.key[:0], &out)
			c.Engine.coins.Put(c.key, c.value, c.fresh || i > 0)
		}
	}
}

// maxKey is the size of the longest key.
const maxKey = chainhash.HashSize + 5

// appendKey appends the key of an output in the set.
func appendKey(dst []byte, out *wire.OutPoint) []byte {
	return blockfile.AppendOutputIndex(append(dst, out.Hash[:]...), out.Index)
}

// coin returns an unspent output as of the block that the outputs are at, nil where
// there is none.
func (e *Engine) coin(out *wire.OutPoint, at *chainview.Block) (*consensus.Coin, error) {
	value, err := e.coins.Get(appendKey(nil, out))
	if err != nil {
		return nil, err
	}
	if value == nil {
		return e.odd.find(out, at)
	}
	u, err := blockfile.ParseUnspent(value)
	if err != nil {
		return nil, err
	}
	unpacked, err := blockfile.UnpackScript(nil, u.Packed)
	if err != nil {
		return nil, err
	}
	return &consensus.Coin{Height: u.Height, Coinbase: u.Coinbase, Value: u.Amount, Script: unpacked}, nil
}

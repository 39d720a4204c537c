package chainstate

import (
	"bytes"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// checks are the rules of blocks, except for the rules about spent outputs.
type checks struct {
	net   *dialect.Network
	kind  Kind
	rules *consensus.Rules
}

// A block is a block with values that are computed once.
type block struct {
	*Header
	*consensus.Txs

	raw    []byte
	start  int   // where the transactions begin in raw
	sigOps []int // legacy ones, by transaction; nil: not counted yet

	judged  bool  // checkSolved was done
	verdict error // of it
}

var errTrailing = errors.New("bytes after the end of the block")

// readBlock reads a serialized block and nothing after it.
func (c *checks) readBlock(raw []byte) (*block, error) {
	h, start, err := c.kind.Headers.Read(raw)
	if err != nil {
		return nil, err
	}
	txs, end, err := consensus.ReadTxs(raw, start)
	if err != nil {
		return nil, err
	}
	if end != len(raw) {
		return nil, errTrailing
	}
	return &block{Header: h, Txs: txs, raw: raw, start: start}, nil
}

// serialize returns the block with its transactions as they are now.
func (b *block) serialize() []byte {
	var raw bytes.Buffer // takes everything
	raw.Write(b.raw[:b.start])
	_ = wire.WriteVarInt(&raw, 0, uint64(len(b.List)))
	for _, tx := range b.List {
		_ = tx.Serialize(&raw)
	}
	return raw.Bytes()
}

// message is the block in btcd's form.
func (b *block) message() *wire.MsgBlock {
	return &wire.MsgBlock{Header: b.BlockHeader, Transactions: b.List}
}

// weight counts a byte outside of the witnesses scale times.
func (b *block) weight(scale int64) int64 {
	return int64(b.start+b.Stripped)*(scale-1) + int64(len(b.raw))
}

func reject(reason, debug string) error {
	return &messages.RejectError{Reason: reason, Debug: debug}
}

func badBlock(err error) error { return reject("bad-block", err.Error()) }

// check checks what of a block depends on nothing else (Core's CheckBlock), but for
// its proof of work.
func (c *checks) check(b *block) error {
	root, repeated := consensus.MerkleRoot(b.IDs)
	if root != b.MerkleRoot {
		return reject("bad-txnmrklroot", "hashMerkleRoot mismatch")
	}
	if repeated {
		return reject("bad-txns-duplicate", "duplicate transaction")
	}
	limit, scale := c.rules.MaxWeight, c.rules.WitnessScale
	size := int64(b.start + b.Stripped)
	if len(b.List) == 0 || int64(len(b.List))*scale > limit || size*scale > limit {
		return reject("bad-blk-length", "size limits failed")
	}
	if !consensus.IsCoinbase(b.List[0]) {
		return reject("bad-cb-missing", "first tx is not coinbase")
	}
	if slices.ContainsFunc(b.List[1:], consensus.IsCoinbase) {
		return reject("bad-cb-multiple", "more than one coinbase")
	}
	for i, tx := range b.List {
		if v := c.rules.CheckTx(tx); v != nil {
			return reject(v.Reason, "Transaction check failed (tx hash "+b.IDs[i].String()+") "+v.Debug)
		}
	}
	if int64(b.legacySigOps())*scale > c.rules.MaxSigOps {
		return reject("bad-blk-sigops", "out-of-bounds SigOpCount")
	}
	return nil
}

// checkSolved is check with the proof of work, or the signature of a signet.
func (c *checks) checkSolved(b *block) error {
	if err := c.kind.Headers.CheckWork(b.Header, true); err != nil {
		return err
	}
	challenge := c.net.SignetChallenge
	if challenge != nil && b.Hash != *c.net.Params.GenesisHash && !Signed(b.message(), challenge) {
		return reject("bad-signet-blksig", "signet block signature validation failure")
	}
	return c.check(b)
}

// legacySigOps counts the signature operations in the transactions' own scripts.
func (b *block) legacySigOps() (sum int) {
	if b.sigOps == nil {
		b.sigOps = make([]int, len(b.List))
		for i, tx := range b.List {
			b.sigOps[i] = script.LegacySigOps(tx)
		}
	}
	for _, n := range b.sigOps {
		sum += n
	}
	return sum
}

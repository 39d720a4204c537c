package blockfile

import (
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

const (
	// ChecksumSize is the length in bytes of the checksum behind undo data.
	ChecksumSize = chainhash.HashSize
	// minCoinSize is the length of the shortest coin: code, amount, empty script.
	minCoinSize = 3
)

// A Coin is an output that a block spent.
type Coin struct {
	Height   int32 // of the block that created it
	Coinbase bool  // whether a coinbase created it
	Amount   int64 // satoshis
	Script   []byte
}

// UndoChecksum returns the checksum that follows undo data in a rev file:
// SHA256d of the hash of the previous block and the data.
func UndoChecksum(prev chainhash.Hash, undo []byte) chainhash.Hash {
	h := sha256.New() // of both, without a copy of the data
	h.Write(prev[:])
	h.Write(undo)
	var once [sha256.Size]byte
	return sha256.Sum256(h.Sum(once[:0]))
}

// AppendUndo appends the undo data of a block (Core's CBlockUndo): for each
// transaction but the coinbase, the coins it spent in the order of its inputs.
// Amounts are from 0 to 2^60.
func AppendUndo(dst []byte, txs [][]Coin) []byte {
	dst = appendCompactSize(dst, uint64(len(txs)))
	for _, coins := range txs {
		dst = appendCompactSize(dst, uint64(len(coins)))
		for _, coin := range coins {
			dst = AppendCoin(dst, coin)
		}
	}
	return dst
}

// AppendCoin appends one coin as undo data has it (Core's TxInUndoFormatter).
func AppendCoin(dst []byte, coin Coin) []byte {
	code := uint64(coin.Height) << 1
	if coin.Coinbase {
		code |= 1
	}
	dst = appendVarInt(dst, code)
	if coin.Height > 0 {
		dst = append(dst, 0) // once the version of the transaction
	}
	dst = appendAmount(dst, uint64(coin.Amount))
	return appendScript(dst, coin.Script)
}

// ParseUndo is the inverse of [AppendUndo]. Data that it could not have written
// is [ErrCorrupt]. The coins share no memory with undo, but share one with each other, as their scripts do: a
// block is taken apart in a few allocations, as a rule.
func ParseUndo(undo []byte) ([][]Coin, error) {
	c := &cursor{b: undo}
	txs := make([][]Coin, c.count(1))
	coins := make([]Coin, 0, len(undo)/usualCoinSize)
	scripts := make([]byte, 0, len(undo)+len(undo)/4) // short forms grow by a fifth
	for i := range txs {
		first := len(coins)
		for range c.count(minCoinSize) {
			height, coinbase := c.height()
			amount := c.amount()
			from := len(scripts)
			scripts = c.script(scripts)
			coins = append(coins, Coin{
				Height: height, Coinbase: coinbase, Amount: amount, Script: scripts[from:len(scripts):len(scripts)],
			})
		}
		txs[i] = coins[first:len(coins):len(coins)]
	}
	return txs, c.done()
}

// usualCoinSize is what hardly any block's coins have less than on average.
const usualCoinSize = 24

// SpentScripts returns only the scripts of the coins in undo data, in order.
// It allocates three times for the whole block, as a rule.
func SpentScripts(undo []byte) ([][]byte, error) {
	c := &cursor{b: undo}
	ends := make([]int, 0, len(undo)/usualCoinSize)
	joined := make([]byte, 0, len(undo)+len(undo)/4) // short forms grow by a fifth
	for range c.count(1) {
		for range c.count(minCoinSize) {
			c.height()
			c.varInt(math.MaxUint64)
			joined = c.script(joined)
			ends = append(ends, len(joined))
		}
	}
	if err := c.done(); err != nil {
		return nil, err
	}
	scripts := make([][]byte, len(ends))
	from := 0
	for i, end := range ends {
		scripts[i] = joined[from:end:end]
		from = end
	}
	return scripts, nil
}

// RawCoins cuts undo data into its coins, still encoded, in order. They are
// parts of undo.
func RawCoins(undo []byte) ([][]byte, error) {
	c := &cursor{b: undo}
	var coins [][]byte
	for range c.count(1) {
		for range c.count(minCoinSize) {
			coins = append(coins, c.rawCoin())
		}
	}
	return coins, c.done()
}

// SplitCoins cuts a run of encoded coins, without any counts, into the coins.
// They are parts of run.
func SplitCoins(run []byte) ([][]byte, error) {
	c := &cursor{b: run}
	var coins [][]byte
	for len(c.b) > 0 {
		coins = append(coins, c.rawCoin())
	}
	return coins, c.done()
}

// AppendRawUndo is [AppendUndo] of encoded coins: inputs has the number of
// inputs of each transaction but the coinbase, coins the coins of all these
// inputs.
func AppendRawUndo(dst []byte, inputs []int, coins [][]byte) ([]byte, error) {
	dst = appendCompactSize(dst, uint64(len(inputs)))
	for _, n := range inputs {
		if n > len(coins) {
			return nil, fmt.Errorf("%w: fewer coins than inputs", ErrCorrupt)
		}
		dst = appendCompactSize(dst, uint64(n))
		for _, coin := range coins[:n] {
			dst = append(dst, coin...)
		}
		coins = coins[n:]
	}
	if len(coins) > 0 {
		return nil, fmt.Errorf("%w: %d coins more than inputs", ErrCorrupt, len(coins))
	}
	return dst, nil
}

// height reads the front of a coin: height, coinbase flag and the unused number
// after them.
func (c *cursor) height() (height int32, coinbase bool) {
	code := c.varInt(math.MaxUint32)
	if code>>1 > 0 {
		c.varInt(math.MaxUint32)
	}
	return int32(code >> 1), code&1 != 0
}

// rawCoin passes over one coin and returns its bytes.
func (c *cursor) rawCoin() []byte {
	start := c.b
	c.height()
	c.varInt(math.MaxUint64)
	c.skipScript()
	return start[:len(start)-len(c.b)]
}

// done returns the first failure; bytes left over are one.
func (c *cursor) done() error {
	if len(c.b) > 0 {
		c.fail("%d bytes after the last coin", len(c.b))
	}
	return c.err
}

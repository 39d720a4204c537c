package synth

import (
	"encoding/binary"
	"io"
	"math/bits"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Aged chooses a chain that first makes a large set of coins, and whose later blocks
// spend coins of that set, of any age, none twice. The coins are of witness version 2,
// which everybody may spend, and have no value.
//
// The first 100 blocks have nothing but a coinbase. Each that follows up to Base has Txs
// transactions of one input and Outputs outputs. Each above Base has Spends transactions
// of two inputs and two outputs.
type Aged struct {
	Seed    uint64
	Base    int // height up to which coins are made, more than 100
	Txs     int
	Outputs int // of each transaction
	Spends  int // transactions of each block above Base

	coinbases map[int]chainhash.Hash // ids by height, as they are asked for
	step      uint64                 // of the order in which coins are spent
}

// Coins returns how many coins the first Base blocks make, but for those of their
// last coinbases.
func (c *Aged) Coins() int { return (c.Base - maturity) * c.Txs * c.Outputs }

// WriteBlocks writes the blocks of heights from one to another, both included, after the
// block with the given hash, in the form of a blk file. It returns the hash of the last.
func (c *Aged) WriteBlocks(w io.Writer, prev chainhash.Hash, from, to int) (chainhash.Hash, error) {
	for height := from; height <= to; height++ {
		record := c.record(prev, height)
		prev = chainhash.DoubleHashH(record[recordHead : recordHead+wire.MaxBlockHeaderPayload])
		if _, err := w.Write(record); err != nil {
			return prev, err
		}
	}
	return prev, nil
}

// recordHead is the size of what stands before a block in a file: magic and length.
const recordHead = 8

// record makes a block with what stands before it.
func (c *Aged) record(prev chainhash.Hash, height int) []byte {
	raw := make([]byte, recordHead+wire.MaxBlockHeaderPayload, 1<<20)
	txs := c.count(height)
	raw = appendCompactSize(raw, 1+txs)
	ids := make([]chainhash.Hash, 0, 1+txs)
	for n := -1; n < txs; n++ {
		began := len(raw)
		raw = c.appendTx(raw, height, n)
		ids = append(ids, chainhash.DoubleHashH(raw[began:]))
	}
	header, root, params := raw[recordHead:][:wire.MaxBlockHeaderPayload], merkle(ids), &chaincfg.RegressionNetParams
	binary.LittleEndian.PutUint32(header, 0x20000000)
	copy(header[4:], prev[:])
	copy(header[36:], root[:])
	at := params.GenesisBlock.Header.Timestamp.Add(time.Duration(height) * 10 * time.Minute)
	binary.LittleEndian.PutUint32(header[68:], uint32(at.Unix()))
	binary.LittleEndian.PutUint32(header[72:], params.PowLimitBits)
	solve(header)
	binary.LittleEndian.PutUint32(raw, uint32(params.Net))
	binary.LittleEndian.PutUint32(raw[4:], uint32(len(raw)-recordHead))
	return raw
}

// coinbase returns the id of the coinbase at a height.
func (c *Aged) coinbase(height int) chainhash.Hash {
	id, ok := c.coinbases[height]
	if !ok {
		id = chainhash.DoubleHashH(c.appendTx(nil, height, -1))
		if c.coinbases == nil {
			c.coinbases = make(map[int]chainhash.Hash)
		}
		c.coinbases[height] = id
	}
	return id
}

// count returns how many transactions the block at a height has beside its coinbase.
func (c *Aged) count(height int) int {
	switch {
	case height <= maturity:
		return 0
	case height <= c.Base:
		return c.Txs
	default:
		return c.Spends
	}
}

// appendTx appends transaction n of a block, -1 for the coinbase.
func (c *Aged) appendTx(dst []byte, height, n int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, 2) // version
	outputs := 2
	switch {
	case n < 0:
		dst = append(dst, 1)
		dst = appendInput(dst, chainhash.Hash{}, wire.MaxPrevOutIndex, heightScript(height))
		if outputs = 1; height <= c.Base-maturity {
			outputs = c.Txs
		}
	case height <= c.Base:
		dst = append(dst, 1)
		dst = appendInput(dst, c.coinbase(height-maturity), uint32(n), nil)
		outputs = c.Outputs
	default:
		dst = append(dst, 2)
		for k := 2 * n; k < 2*n+2; k++ {
			id, index := c.spent((height-c.Base-1)*2*c.Spends + k)
			dst = appendInput(dst, id, index, nil)
		}
	}
	dst = appendCompactSize(dst, outputs)
	for k := range outputs {
		dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, 22, 0x52, 20) // no amount, witness version 2
		dst = binary.LittleEndian.AppendUint64(dst, mix(c.Seed^uint64(height)<<32^uint64(n)))
		dst = binary.LittleEndian.AppendUint64(dst, mix(uint64(k)))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(k))
	}
	return append(dst, 0, 0, 0, 0) // lock time
}

func appendInput(dst []byte, id chainhash.Hash, index uint32, script []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(append(dst, id[:]...), index)
	dst = append(append(dst, byte(len(script))), script...)
	return append(dst, 0xff, 0xff, 0xff, 0xff)
}

// heightScript returns the shortest form of a height as a number (BIP34), of two bytes
// at least.
func heightScript(height int) []byte {
	switch {
	case height <= 16:
		return []byte{byte(0x50 + height), 0}
	case height < 0x80:
		return []byte{1, byte(height)}
	case height < 0x8000:
		return []byte{2, byte(height), byte(height >> 8)}
	default:
		return []byte{3, byte(height), byte(height >> 8), byte(height >> 16)}
	}
}

// spent returns the k-th coin that is spent. The order is a permutation of all coins:
// a linear one, whose step has no factor in common with their number.
func (c *Aged) spent(k int) (id chainhash.Hash, index uint32) {
	coins := uint64(c.Coins())
	for c.step = max(c.step, coins/2+mix(c.Seed)%(coins/4)); gcd(c.step, coins) != 1; {
		c.step++
	}
	high, low := bits.Mul64(uint64(k)%coins, c.step)
	_, n := bits.Div64(high%coins, low, coins)
	tx := int(n) / c.Outputs
	raw := c.appendTx(make([]byte, 0, 1024), maturity+1+tx/c.Txs, tx%c.Txs)
	return chainhash.DoubleHashH(raw), uint32(int(n) % c.Outputs)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

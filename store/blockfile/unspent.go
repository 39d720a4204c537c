package blockfile

import "math"

// An Unspent is an output of the set of unspent outputs as Core and btcd store
// it.
type Unspent struct {
	Height   int32 // of the block that created it
	Coinbase bool
	Amount   int64  // satoshis
	Packed   []byte // the script in its short form, a part of the parsed bytes
}

// ParseUnspent reads an entry of the set of unspent outputs (Core's Coin): height
// and coinbase flag, amount, script. An entry that cannot be one is
// [ErrCorrupt].
func ParseUnspent(entry []byte) (Unspent, error) {
	c := &cursor{b: entry}
	code := c.varInt(math.MaxUint32)
	u := Unspent{Height: int32(code >> 1), Coinbase: code&1 != 0, Amount: c.amount(), Packed: c.b}
	if c.err == nil {
		c.skipScript()
	}
	return u, c.done()
}

// AppendUnspent appends an entry of the set of unspent outputs.
func AppendUnspent(dst []byte, coin Coin) []byte {
	code := uint64(coin.Height) << 1
	if coin.Coinbase {
		code |= 1
	}
	dst = appendAmount(appendVarInt(dst, code), uint64(coin.Amount))
	return appendScript(dst, coin.Script)
}

// AppendOutputIndex appends the number of an output as keys of the set end in it.
func AppendOutputIndex(dst []byte, n uint32) []byte { return appendVarInt(dst, uint64(n)) }

// ParseOutputIndex reads the number of an output as keys of the set end in it.
func ParseOutputIndex(b []byte) (uint32, error) {
	c := &cursor{b: b}
	n := c.varInt(math.MaxUint32)
	return uint32(n), c.done()
}

// PackScript returns the forms in which a set of unspent outputs may store a
// script. A node may store a script in full where another finds it short: btcd
// shortens payments to public keys only when the key is on the curve.
func PackScript(script []byte) [][]byte {
	full := append(appendVarInt(nil, uint64(len(script))+specialScripts), script...)
	short := appendScript(nil, script)
	if len(short) == len(full) {
		return [][]byte{full}
	}
	return [][]byte{short, full}
}

// UnpackScript appends the script whose short form is packed.
func UnpackScript(dst, packed []byte) ([]byte, error) {
	c := &cursor{b: packed}
	dst = c.script(dst)
	return dst, c.done()
}

// AppendCount appends a count as undo data has it.
func AppendCount(dst []byte, n int) []byte { return appendCompactSize(dst, uint64(n)) }

// AppendStored appends a coin to undo data, from its entry of the set of unspent
// outputs.
func AppendStored(dst, entry []byte) []byte {
	end := 0 // of the height and the coinbase flag
	for end < len(entry)-1 && entry[end]&0x80 != 0 {
		end++
	}
	end = min(end+1, len(entry))
	dst = append(dst, entry[:end]...)
	if end > 1 || end == 1 && entry[0] > 1 { // the height is not 0
		dst = append(dst, 0)
	}
	return append(dst, entry[end:]...)
}

package txjson

import (
	"strconv"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// A block has thousands of inputs and outputs: to look through their members by reflection
// takes longer than to write them.

var (
	_ jsontree.Appender = Input{}
	_ jsontree.Appender = Output{}
)

// AppendJSON implements [jsontree.Appender].
func (o Output) AppendJSON(dst []byte) []byte {
	dst = o.Value.AppendJSON(append(dst, `{"value":`...))
	dst = strconv.AppendInt(append(dst, `,"n":`...), int64(o.Index), 10)
	dst = o.Script.append(append(dst, `,"scriptPubKey":`...))
	if o.Change {
		dst = append(dst, `,"ischange":true`...)
	}
	return append(dst, '}')
}

// AppendJSON implements [jsontree.Appender].
func (in Input) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if in.Coinbase != nil {
		dst = append(in.Coinbase.AppendJSON(append(dst, `"coinbase":`...)), ',')
	}
	if in.Spend != nil {
		dst = append(in.appendMembers(dst), ',')
	}
	if len(in.Witness) > 0 {
		dst = append(dst, `"txinwitness":[`...)
		for i, item := range in.Witness {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendJSON(dst)
		}
		dst = append(dst, "],"...)
	}
	if in.Prevout != nil {
		dst = append(in.Prevout.append(append(dst, `"prevout":`...)), ',')
	}
	dst = strconv.AppendUint(append(dst, `"sequence":`...), uint64(in.Sequence), 10)
	return append(dst, '}')
}

// appendMembers writes them without braces.
func (s *Spend) appendMembers(dst []byte) []byte {
	dst = AppendHash(append(dst, `"txid":"`...), &s.TxID)
	dst = strconv.AppendUint(append(dst, `","vout":`...), uint64(s.Index), 10)
	dst = jsontree.AppendString(append(dst, `,"scriptSig":{"asm":`...), s.Script.Asm)
	dst = s.Script.Hex.AppendJSON(append(dst, `,"hex":`...))
	return append(dst, '}')
}

func (p *Prevout) append(dst []byte) []byte {
	dst = strconv.AppendBool(append(dst, `{"generated":`...), p.Generated)
	dst = strconv.AppendInt(append(dst, `,"height":`...), int64(p.Height), 10)
	return append(appendOutput(append(dst, ','), p.Value, &p.Script), '}')
}

// AppendSpent prints what a spent output was worth, and its script.
func (p *Printer) AppendSpent(dst []byte, coin *chainview.Coin) []byte {
	script := p.ScriptPubKey(coin.Script)
	return append(appendOutput(append(dst, '{'), jsontree.Amount(coin.Value), &script), '}')
}

// appendOutput appends the members that are an output's own.
func appendOutput(dst []byte, value jsontree.Amount, script *ScriptPubKey) []byte {
	dst = value.AppendJSON(append(dst, `"value":`...))
	return script.append(append(dst, `,"scriptPubKey":`...))
}

func (s *ScriptPubKey) append(dst []byte) []byte {
	dst = jsontree.AppendString(append(dst, `{"asm":`...), s.Asm)
	if s.Desc != "" {
		dst = jsontree.AppendString(append(dst, `,"desc":`...), s.Desc)
	}
	if s.Hex != nil {
		dst = s.Hex.AppendJSON(append(dst, `,"hex":`...))
	}
	if s.Address != "" {
		dst = jsontree.AppendString(append(dst, `,"address":`...), s.Address)
	}
	dst = jsontree.AppendString(append(dst, `,"type":`...), s.Type)
	return append(dst, '}')
}

// AppendHash appends the digits of a hash, which are those of its bytes from the last on.
func AppendHash(dst []byte, hash *chainhash.Hash) []byte {
	const digits = "0123456789abcdef"
	for i := range hash {
		b := hash[len(hash)-1-i]
		dst = append(dst, digits[b>>4], digits[b&15])
	}
	return dst
}

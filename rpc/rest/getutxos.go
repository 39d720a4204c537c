package rest

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxOutputs is how many outputs one request may ask for.
const maxOutputs = 15

// poolHeight stands for the height of outputs of the memory pool.
const poolHeight = 0x7fffffff

var (
	errEmpty = refuse(statusBadRequest, "Error: empty request")
	errParse = refuse(statusBadRequest, "Parse error")
	errBoth  = refuse(statusBadRequest, "Combination of URI scheme inputs and raw post data is not allowed")
)

// An outpoint names an output.
type outpoint struct {
	txid  string
	index int64
}

// wanted is what a request for unspent outputs asks for.
type wanted struct {
	pool    bool // what the memory pool makes and spends counts
	outputs []outpoint
}

// A coin is an output that is not spent.
type coin struct {
	height int64
	output []byte // serialized, or the object with value and scriptPubKey
}

// unspent is the answer to a query: the outputs that are there, as of a tip.
type unspent struct {
	height int64
	tip    string
	hits   []bool
	coins  []coin
}

func unspentOutputs(ctx context.Context, r *request) (Reply, error) {
	ask, err := parseWanted(r)
	if err != nil {
		return Reply{}, err
	}
	if n := len(ask.outputs); n > maxOutputs {
		return Reply{}, refuse(statusBadRequest, fmt.Sprintf(
			"Error: max outpoints exceeded (max: %d, tried: %d)", maxOutputs, n))
	}
	found, err := r.unspent(ctx, ask)
	if err != nil {
		return Reply{}, noPool(err)
	}
	if r.format == jsonText {
		return document(found.text()), nil
	}
	data, err := found.serialize()
	if err != nil {
		return Reply{}, err
	}
	return inFormat(r.format, data)
}

// parseWanted reads a request: outputs in its path, or in its body.
func parseWanted(r *request) (wanted, error) {
	var ask wanted
	var parts []string
	if len(r.part) > 1 {
		parts = strings.Split(r.part[1:], "/")
	}
	if len(r.body) == 0 && len(parts) == 0 {
		return ask, errEmpty
	}
	if len(parts) > 0 {
		if ask.pool = parts[0] == "checkmempool"; ask.pool {
			parts = parts[1:]
		}
		for _, part := range parts {
			txid, text, ok := strings.Cut(part, "-")
			index, isNumber := number(text, 0, math.MaxUint32)
			if !ok || !isHash(txid) || !isNumber {
				return ask, errParse
			}
			ask.outputs = append(ask.outputs, outpoint{txid, index})
		}
		if len(ask.outputs) == 0 {
			return ask, errEmpty
		}
	}
	body := r.body
	switch r.format {
	case jsonText:
		if len(ask.outputs) == 0 {
			return ask, errEmpty
		}
		return ask, nil
	case hexText:
		body = parseHex(body)
	case bin:
	default:
		return ask, errFormat
	}
	if len(body) == 0 {
		return ask, nil
	}
	if len(ask.outputs) > 0 {
		return ask, errBoth
	}
	return parseBody(body)
}

// parseHex reads pairs of hexadecimal digits with white space between them; nothing where there
// is anything else.
func parseHex(text []byte) []byte {
	var pairs []byte
	for _, field := range strings.FieldsFunc(string(text), func(c rune) bool {
		return strings.ContainsRune(" \f\n\r\t\v", c)
	}) {
		if len(field)%2 != 0 {
			return nil
		}
		var err error
		if pairs, err = hex.AppendDecode(pairs, []byte(field)); err != nil {
			return nil
		}
	}
	return pairs
}

// parseBody reads a count and outpoints of 36 bytes. Bytes after the outpoints do not matter. BIP 64 has a flag
// before the count, for the memory pool. Core puts the body's length before the body, and takes the length's
// first byte for that flag. So the memory pool always counts, and bodies of 253 bytes and more begin with the
// rest of their length.
func parseBody(body []byte) (wanted, error) {
	ask := wanted{pool: true}
	count, rest, ok := cutCount(append(command.AppendCount(nil, len(body))[1:], body...))
	if !ok || count > uint64(len(rest)/36) {
		return ask, errParse
	}
	for ; count > 0; count-- {
		hash := slices.Clone(rest[:32])
		slices.Reverse(hash)
		ask.outputs = append(ask.outputs, outpoint{
			hex.EncodeToString(hash), int64(binary.LittleEndian.Uint32(rest[32:36])),
		})
		rest = rest[36:]
	}
	return ask, nil
}

// cutCount reads the number of elements that follow. ok is false where there is no number, or a number in a
// longer form than needed.
func cutCount(data []byte) (count uint64, rest []byte, ok bool) {
	if len(data) == 0 {
		return 0, nil, false
	}
	if data[0] < 0xfd {
		return uint64(data[0]), data[1:], true
	}
	size := 1 << (data[0] - 0xfc) // 2, 4 or 8
	if len(data) <= size {
		return 0, nil, false
	}
	var digits [8]byte
	copy(digits[:], data[1:1+size])
	count = binary.LittleEndian.Uint64(digits[:])
	least := map[int]uint64{2: 0xfd, 4: 1 << 16, 8: 1 << 32}[size]
	return count, data[1+size:], count >= least
}

// unspent looks all outputs up at one tip.
func (r *request) unspent(ctx context.Context, ask wanted) (found unspent, err error) {
	if reader := r.node.Reader(); reader != nil {
		return r.read(ctx, reader, ask)
	}
	if ask.pool {
		if _, err := r.raw(ctx, "getmempoolinfo"); err != nil {
			return found, err
		}
	}
	err = r.steady(ctx, func(tip string) (err error) {
		found, err = r.lookUp(ctx, tip, ask)
		return err
	})
	return found, err
}

// read is unspent without a call for each output.
func (r *request) read(ctx context.Context, reader command.Reader, ask wanted) (unspent, error) {
	query := command.OutputQuery{Pool: ask.pool, Text: r.format == jsonText}
	for _, output := range ask.outputs {
		hash, err := chainhash.NewHashFromStr(output.txid)
		if err != nil {
			return unspent{}, err
		}
		query.Outputs = append(query.Outputs, wire.OutPoint{Hash: *hash, Index: uint32(output.index)})
	}
	got, err := reader.Unspent(ctx, query)
	if err != nil {
		return unspent{}, err
	}
	found := unspent{tip: got.Tip.String(), height: int64(got.Height)}
	for _, c := range got.Coins {
		found.hits = append(found.hits, c.Output != nil)
		if c.Output != nil {
			found.coins = append(found.coins, coin{int64(c.Height), c.Output})
		}
	}
	return found, nil
}

// lookUp asks for each output at a tip.
func (r *request) lookUp(ctx context.Context, tip string, ask wanted) (unspent, error) {
	found := unspent{tip: tip}
	header, err := r.call(ctx, "getblockheader", jsontree.NewString(tip))
	if err != nil {
		return found, err
	}
	if found.height, err = header.Get("height").AsInt64(); err != nil {
		return found, err
	}
	for _, output := range ask.outputs {
		v, err := r.call(ctx, "gettxout", jsontree.NewString(output.txid),
			jsontree.NewInt(output.index), jsontree.NewBool(ask.pool))
		if err != nil {
			return found, err
		}
		found.hits = append(found.hits, !v.IsNull())
		if v.IsNull() {
			continue
		}
		deep, err := v.Get("confirmations").AsInt64()
		if err != nil {
			return found, err
		}
		height := found.height - deep + 1
		if deep == 0 {
			height = poolHeight
		}
		if v.Get("bestblock").Text() != tip {
			return found, errMoved // and is looked up again
		}
		output, err := r.output(v)
		if err != nil {
			return found, err
		}
		found.coins = append(found.coins, coin{height, output})
	}
	return found, nil
}

// output is what an answer shows of an output that gettxout shows.
func (r *request) output(v *jsontree.Value) ([]byte, error) {
	if r.format != jsonText {
		return appendOutput(nil, v)
	}
	shown := jsontree.NewObject()
	shown.Add("value", v.Get("value"))
	shown.Add("scriptPubKey", v.Get("scriptPubKey"))
	return shown.AppendJSON(nil), nil
}

// text is the answer as JSON.
func (u *unspent) text() []byte {
	text := strconv.AppendInt([]byte(`{"chainHeight":`), u.height, 10)
	text = append(append(text, `,"chaintipHash":"`...), u.tip...)
	text = append(text, `","bitmap":"`...)
	for _, hit := range u.hits {
		if hit {
			text = append(text, '1')
		} else {
			text = append(text, '0')
		}
	}
	text = append(text, `","utxos":[`...)
	for i, c := range u.coins {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(append(text, `{"height":`...), c.height, 10)
		text = append(append(text, ','), c.output[1:]...) // the members of an object
	}
	return append(text, "]}"...)
}

// serialize is the answer as bytes (BIP 64).
func (u *unspent) serialize() ([]byte, error) {
	data, err := appendHash(binary.LittleEndian.AppendUint32(nil, uint32(u.height)), u.tip)
	if err != nil {
		return nil, err
	}
	bits := make([]byte, (len(u.hits)+7)/8)
	for i, hit := range u.hits {
		if hit {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	data = append(command.AppendCount(data, len(bits)), bits...)
	data = command.AppendCount(data, len(u.coins))
	for _, c := range u.coins {
		data = binary.LittleEndian.AppendUint32(data, 0) // a version nobody reads
		data = binary.LittleEndian.AppendUint32(data, uint32(c.height))
		data = append(data, c.output...)
	}
	return data, nil
}

package follower

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/store/blockfile"
)

// spentScripts returns the scripts of what a block spends.
func (s *source) spentScripts(hash *chainhash.Hash) ([][]byte, error) {
	of, err := s.shape(hash)
	if err != nil {
		return nil, err
	}
	if undo := s.undoFromFiles(hash, of); undo != nil {
		if scripts, err := blockfile.SpentScripts(undo); err == nil && len(scripts) == of.spends() {
			s.counts.undo.files.Add(1)
			return scripts, nil
		}
	}
	if !s.spentREST.Load() {
		return s.scriptsByRPC(hash)
	}
	raw, err := s.core.SpentOutputs(s.ctx, hash)
	switch {
	case errors.Is(err, corenode.ErrNoREST): // or a Core of before version 30
		s.spentREST.Store(false)
		return s.scriptsByRPC(hash)
	case err != nil:
		return nil, s.readError(hash, err)
	}
	scripts, ok := parseSpent(raw, of)
	if !ok {
		return nil, s.readError(hash, errSpent)
	}
	s.counts.undo.rest.Add(1)
	return scripts, nil
}

var errSpent = fmt.Errorf("%w: spent outputs that do not fit the block", corenode.ErrReply)

// shape returns the shape of a block, which is read where it was not lately.
func (s *source) shape(hash *chainhash.Hash) (shape, error) {
	if of, ok := s.shapes.get(hash); ok {
		return of, nil
	}
	_, of, err := s.block(nil, hash)
	return of, err
}

// spends returns how many outputs the block spends.
func (of shape) spends() (n int) {
	for _, inputs := range of[1:] {
		n += int(inputs)
	}
	return n
}

// undoFromFiles reads undo data from Core's files, nil where it is not there. Only that of
// blocks of the active chain is sure to be: others may have been taken back before it was
// written, or after.
func (s *source) undoFromFiles(hash *chainhash.Hash, of shape) []byte {
	files := s.files.Load()
	if files == nil || s.ctx.Err() != nil || !s.isActive(hash) {
		return nil
	}
	undo, err := files.Undo(new([]byte), hash)
	if err != nil || len(of) == 0 {
		return nil
	}
	return undo
}

// coinsFromFiles returns what a block spends from Core's files, nil where it is not there.
func (s *source) coinsFromFiles(hash *chainhash.Hash, of shape) [][]chainview.Coin {
	undo := s.undoFromFiles(hash, of)
	if undo == nil {
		return nil
	}
	parsed, err := blockfile.ParseUndo(undo)
	if err != nil || len(parsed) != len(of)-1 {
		return nil
	}
	spent := make([][]chainview.Coin, len(parsed))
	for i, coins := range parsed {
		if len(coins) != int(of[i+1]) {
			return nil
		}
		spent[i] = make([]chainview.Coin, len(coins))
		for j, c := range coins {
			spent[i][j] = chainview.Coin{
				Height: c.Height, Coinbase: c.Coinbase, Value: btcutil.Amount(c.Amount), Script: c.Script,
			}
		}
	}
	s.counts.undo.files.Add(1)
	return spent
}

func (s *source) scriptsByRPC(hash *chainhash.Hash) ([][]byte, error) {
	spent, err := s.spentCoins(hash)
	if err != nil {
		return nil, err
	}
	var scripts [][]byte
	for _, coins := range spent {
		for i := range coins {
			scripts = append(scripts, coins[i].Script)
		}
	}
	return scripts, nil
}

// parseSpent reads what REST has of the outputs that a block spends: for each
// transaction a list of outputs, that of the coinbase being empty. It reports whether
// there is one for each input.
func parseSpent(raw []byte, of shape) (scripts [][]byte, ok bool) {
	p := spentParser{raw}
	if n, ok := p.size(); !ok || n != uint64(len(of)) {
		return nil, false
	}
	for i, inputs := range of {
		n, ok := p.size()
		if i == 0 {
			inputs = 0
		}
		if !ok || n != uint64(inputs) {
			return nil, false
		}
		for range inputs {
			script, ok := p.script()
			if !ok {
				return nil, false
			}
			scripts = append(scripts, script)
		}
	}
	return scripts, len(p.raw) == 0
}

type spentParser struct{ raw []byte }

// size reads a CompactSize.
func (p *spentParser) size() (n uint64, ok bool) {
	if len(p.raw) == 0 {
		return 0, false
	}
	var length int
	switch p.raw[0] {
	case 0xfd:
		length = 3
	case 0xfe:
		length = 5
	case 0xff:
		length = 9
	default:
		n, p.raw = uint64(p.raw[0]), p.raw[1:]
		return n, true
	}
	if len(p.raw) < length {
		return 0, false
	}
	var b [8]byte
	copy(b[:], p.raw[1:length])
	p.raw = p.raw[length:]
	return binary.LittleEndian.Uint64(b[:]), true
}

// script reads an output and returns its script.
func (p *spentParser) script() ([]byte, bool) {
	const value = 8
	if len(p.raw) < value {
		return nil, false
	}
	p.raw = p.raw[value:]
	n, ok := p.size()
	if !ok || n > uint64(len(p.raw)) {
		return nil, false
	}
	script := p.raw[:n:n]
	p.raw = p.raw[n:]
	return script, true
}

// A verboseBlock is a part of getblock's answer at verbosity 3, for a block of a shape. An
// answer with more transactions or inputs is not read to its end: it is not Core's.
type verboseBlock struct {
	of  shape
	txs [][]verboseInput
}

type verboseInput struct {
	Prevout *struct {
		Generated bool        `json:"generated"`
		Height    int32       `json:"height"`
		Value     json.Number `json:"value"`
		Script    struct {
			Hex string `json:"hex"`
		} `json:"scriptPubKey"`
	} `json:"prevout"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *verboseBlock) UnmarshalJSON(text []byte) error {
	var block struct {
		Tx json.RawMessage `json:"tx"`
	}
	if err := json.Unmarshal(text, &block); err != nil {
		return err
	}
	b.txs = make([][]verboseInput, 0, len(b.of))
	return elements(block.Tx, len(b.of), func(d *json.Decoder) error {
		var tx struct {
			Vin json.RawMessage `json:"vin"`
		}
		if err := d.Decode(&tx); err != nil {
			return err
		}
		var inputs []verboseInput
		err := elements(tx.Vin, int(b.of[len(b.txs)]), func(d *json.Decoder) error {
			inputs = append(inputs, verboseInput{})
			return d.Decode(&inputs[len(inputs)-1])
		})
		b.txs = append(b.txs, inputs)
		return err
	})
}

// elements has each element of an array decoded, of which there may be so many.
func elements(array json.RawMessage, most int, decode func(*json.Decoder) error) error {
	d := json.NewDecoder(bytes.NewReader(array))
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return errSpent
	}
	for n := 0; d.More(); n++ {
		if n == most {
			return errSpent
		}
		if err := decode(d); err != nil {
			return err
		}
	}
	return nil
}

// spentCoins returns the outputs that a block spends, from Core's files or else from
// getblock, whose answer is much text.
func (s *source) spentCoins(hash *chainhash.Hash) ([][]chainview.Coin, error) {
	of, err := s.shape(hash)
	if err != nil {
		return nil, err
	}
	if spent := s.coinsFromFiles(hash, of); spent != nil {
		return spent, nil
	}
	block := verboseBlock{of: of}
	if err := s.core.Call(s.ctx, &block, "getblock", hash.String(), 3); err != nil {
		return nil, s.readError(hash, err)
	}
	coins, err := block.coins()
	if err != nil {
		if errors.Is(err, chainview.ErrPruned) {
			return nil, fmt.Errorf("block %v: %w", hash, err)
		}
		return nil, s.readError(hash, err)
	}
	s.counts.undo.rpc.Add(1)
	return coins, nil
}

// coins returns the outputs that the block spends, if they are those of its shape.
func (b *verboseBlock) coins() ([][]chainview.Coin, error) {
	if len(b.txs) != len(b.of) {
		return nil, errSpent
	}
	spent := make([][]chainview.Coin, 0, len(b.of))
	for i, in := range b.txs {
		if len(in) != int(b.of[i]) {
			return nil, errSpent
		}
		if i == 0 {
			continue
		}
		coins := make([]chainview.Coin, len(in))
		for j := range in {
			out := in[j].Prevout
			if out == nil { // Core has the block, but not what it spends
				return nil, fmt.Errorf("what it spends: %w", chainview.ErrPruned)
			}
			script, err := hex.DecodeString(out.Script.Hex)
			value, ok := parseAmount(string(out.Value))
			if err != nil || !ok {
				return nil, errSpent
			}
			coins[j] = chainview.Coin{Height: out.Height, Coinbase: out.Generated, Value: value, Script: script}
		}
		spent = append(spent, coins)
	}
	return spent, nil
}

// parseAmount reads an amount as Core prints it: coins with eight decimals.
func parseAmount(text string) (btcutil.Amount, bool) {
	whole, decimals, _ := strings.Cut(text, ".")
	if whole == "" || len(decimals) > 8 || strings.ContainsAny(text, "eE+-") {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+decimals+strings.Repeat("0", 8-len(decimals)), 10, 64)
	return btcutil.Amount(n), err == nil
}

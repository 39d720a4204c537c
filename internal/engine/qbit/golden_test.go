package qbit

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
	"github.com/seed61375155/trawl/messages"
)

// fundingHeight is where the recorded chain pays the outputs that the recorded
// spends spend.
const fundingHeight = 1005

// TestRecordedChain accepts the recorded chain and, where the recording did,
// refuses the recorded blocks for the recorded reasons.
func TestRecordedChain(t *testing.T) {
	t.Parallel()
	var want struct {
		Tip, ChainWork string
		TxOutSet       struct {
			TxOuts      int
			TotalAmount json64 `json:"total_amount"`
			Hash        string `json:"hash_serialized_3"`
		}
	}
	golden(t, "chain.json.gz", &want)
	e, blocks := fresh(t, dialect.Choices{}), chainBlocks(t)
	feed(t, e, blocks[1:fundingHeight+1])
	tried := refuse(t, e, true)
	feed(t, e, blocks[fundingHeight+1:])
	tip := e.Reader().Active().Tip()
	if tip.Hash.String() != want.Tip || fmt.Sprintf("%064x", tip.Work()) != want.ChainWork {
		t.Errorf("tip %v, work %064x", tip.Hash, tip.Work())
	}
	count, total, hash := unspent(t, e)
	if hash.String() != want.TxOutSet.Hash || count != want.TxOutSet.TxOuts ||
		btcutil.Amount(total) != btcutil.Amount(want.TxOutSet.TotalAmount) {
		t.Errorf("%d unspent outputs of %d, %v", count, total, hash)
	}
	if tried += refuse(t, e, false); tried != 126 {
		t.Errorf("%d blocks were tried", tried)
	}
	if now := e.Reader().Active().Tip(); now != tip {
		t.Errorf("a refused block moved the tip to %v", now.Hash)
	}
}

// json64 is an amount in coins, as it is printed.
type json64 btcutil.Amount

// UnmarshalJSON implements json.Unmarshaler.
func (a *json64) UnmarshalJSON(text []byte) error {
	coins, ok := new(big.Rat).SetString(strings.Trim(string(text), `"`))
	if !ok {
		return fmt.Errorf("no amount: %s", text)
	}
	coins.Mul(coins, big.NewRat(btcutil.SatoshiPerBitcoin, 1))
	*a = json64(coins.Num().Int64())
	return nil
}

// refuse offers the invalid blocks, those with scripts or the others, and returns
// how many.
func refuse(t *testing.T, e *rig, scripts bool) (tried int) {
	t.Helper()
	var set struct {
		MockTime int64 `json:"mock_time"`
		Blocks   []struct {
			Name, Reject string
			Block        *string
		}
	}
	golden(t, "invalid-blocks.json.gz", &set)
	e.SetMockTime(time.Unix(set.MockTime, 0))
	defer e.SetMockTime(time.Time{})
	for _, b := range set.Blocks {
		if strings.HasPrefix(b.Name, "script:") != scripts || b.Block == nil {
			continue
		}
		tried++
		raw, err := hex.DecodeString(*b.Block)
		if err != nil {
			t.Fatal(err)
		}
		want := b.Reject
		if want == "error -22: Block decode failed" {
			want = "bad-block"
		}
		if got := reason(t, e.Submit(raw)); got != want {
			t.Errorf("%s: %q, want %q", b.Name, got, want)
		}
	}
	return tried
}

// unspent counts, sums and hashes the unspent outputs.
func unspent(tb testing.TB, e *rig) (count int, total int64, hash chainhash.Hash) {
	tb.Helper()
	set, err := e.Coins()
	if err != nil {
		tb.Fatal(err)
	}
	defer set.Release()
	if at := set.Tip(); at.Hash != e.tree.Active().Tip().Hash {
		tb.Errorf("outputs as of %v", at)
	}
	var all bytes.Buffer
	err = set.Visit(tb.Context(), 0, 0xffff, func(c *messages.SetCoin) error {
		script, err := set.Unpack(nil, c.Packed)
		count++
		total += c.Amount
		code := uint32(c.Height) << 1
		if c.Coinbase {
			code |= 1
		}
		all.Write(c.Out.Hash[:])
		for _, n := range []uint32{c.Out.Index, code} {
			all.Write(binary.LittleEndian.AppendUint32(nil, n))
		}
		return errors.Join(err, wire.WriteTxOut(&all, 0, 0, wire.NewTxOut(c.Amount, script)))
	})
	if err != nil {
		tb.Fatal(err)
	}
	return count, total, chainhash.DoubleHashH(all.Bytes())
}

// The first blocks of the networks that are mined.
func TestFirstTargets(t *testing.T) {
	for chain, want := range map[string][pow.Lanes]uint32{
		"main": {0x18109c29, 0x1801ca70}, "testnet4": {0x1a7f1ab5, 0x1a7f1ab5}, "signet": {0x1e00f99b, 0x1b0d1b64},
	} {
		net, err := dialect.Named(dialect.NameQbit, chain, dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		e := openIn(t, t.TempDir(), net)
		tip := e.tree.Active().Tip()
		place := pow.Place{}.After(tip, pow.Permissionless)
		for of, bits := range want {
			if got := net.P2MR.Bits(tip, &place, pow.Lane(of), tip.Time().Unix()+1); got != bits {
				t.Errorf("%s: %08x, want %08x", chain, got, bits)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A block that came in pieces is the same to its readers.
func TestReadersSeePayloads(t *testing.T) {
	e, blocks := fresh(t, dialect.Choices{}), chainBlocks(t)
	feed(t, e, blocks[1:31])
	r := e.Reader()
	for height, raw := range blocks[:31] {
		b := r.Active().At(int32(height))
		got, err := r.Raw(&b.Hash)
		if err != nil || string(got) != string(raw) {
			t.Fatalf("block %d: %v", height, err)
		}
		size, txs, err := r.Size(&b.Hash)
		if err != nil || size != len(raw) || txs != 1 {
			t.Errorf("block %d: %d bytes, %d transactions, %v", height, size, txs, err)
		}
		if start := e.net.HeaderLen(raw) - wire.MaxBlockHeaderPayload; len(b.Payload()) != start {
			t.Errorf("block %d: payload of %d bytes, want %d", height, len(b.Payload()), start)
		}
		if _, err := r.Spent(&b.Hash); err != nil {
			t.Error(err)
		}
		outline, err := chainview.OutlineOf(r, b)
		want, wantErr := chainview.OutlineOf(struct{ chainview.Reader }{r}, b) // parsed
		if outline.Coinbase == nil || outline.Coinbase.WitnessHash() != want.Coinbase.WitnessHash() {
			t.Errorf("block %d: another coinbase", height)
		}
		outline.Coinbase, want.Coinbase = nil, nil
		if err != nil || wantErr != nil || !reflect.DeepEqual(outline, want) || want.Size != len(raw) {
			t.Errorf("block %d: %+v, %v, want %+v, %v", height, outline, err, want, wantErr)
		}
	}
	if _, err := r.Raw(&chainhash.Hash{1}); err == nil {
		t.Error("a block out of nothing")
	}
}

package bench

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

const (
	// gapWallets are paid by the last blocks of the chain of BenchmarkGaps. A node remembers the scripts that it has
	// derived: each call is of another wallet.
	gapWallets = 240

	gapOfScan   = 1_000
	gapStep     = 300 // from one used index to the next
	gapHighest  = 3_900
	gapLast     = gapHighest + gapOfScan
	gapPayments = gapHighest/gapStep + 1
)

// gapWallet is a wallet of BenchmarkGaps.
type gapWallet struct {
	text    string
	scripts [][]byte // of the used indices
}

func gapWalletsOf(b *testing.B) []gapWallet {
	b.Helper()
	all := make([]gapWallet, gapWallets)
	for i := range all {
		all[i].text = fmt.Sprintf("wpkh(%s/%d/*)", masterKey, 1000+i)
		parsed, err := descriptor.Parse(
			all[i].text, descriptor.NetworkOf(&chaincfg.RegressionNetParams), descriptor.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for index := uint32(0); index <= gapHighest; index += gapStep {
			scripts, err := parsed[0].Expand(index)
			if err != nil {
				b.Fatal(err)
			}
			all[i].scripts = append(all[i].scripts, scripts[0])
		}
	}
	return all
}

// gapBlocks are the blocks behind the chain that pay to the wallets: each to one index of all, the higher indices
// earlier.
func gapBlocks(b *testing.B, prev chainhash.Hash, began time.Time, all []gapWallet) (raw []string) {
	b.Helper()
	params := &chaincfg.RegressionNetParams
	for n := range gapPayments {
		height := *flagBlocks + 1 + n
		sigScript, err := txscript.NewScriptBuilder().AddInt64(int64(height)).AddInt64(7).Script()
		if err != nil {
			b.Fatal(err)
		}
		coinbase := wire.NewMsgTx(2)
		coinbase.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: wire.MaxPrevOutIndex}, sigScript, nil))
		for i := range all {
			coinbase.AddTxOut(wire.NewTxOut(0, all[i].scripts[gapPayments-1-n]))
		}
		id := coinbase.TxHash()
		block := wire.NewMsgBlock(wire.NewBlockHeader(0x20000000, &prev, &id, params.PowLimitBits, 0))
		block.Header.Timestamp = began.Add(time.Duration(n+1) * 10 * time.Minute)
		block.Transactions = []*wire.MsgTx{coinbase}
		hash := block.BlockHash()
		for consensus.HashNumber(&hash).Cmp(consensus.TargetOf(params.PowLimitBits)) > 0 {
			block.Header.Nonce++
			hash = block.BlockHash()
		}
		var text bytes.Buffer
		if err := block.Serialize(&text); err != nil {
			b.Fatal(err)
		}
		raw, prev = append(raw, hex.EncodeToString(text.Bytes())), hash
	}
	return raw
}

// withGaps starts a node on the chain with payments to the wallets.
func withGaps(b *testing.B, all []gapWallet) *peer {
	b.Helper()
	p := open(b, node(filepath.Join(folder(b), "trawl-gaps"), 0))
	s := &searcher{b, p}
	if p.height(b) == *flagBlocks {
		progress("pay %d wallets", len(all))
		var best string
		var header struct{ Time int64 }
		s.call(&best, "getbestblockhash")
		s.call(&header, "getblockheader", best)
		hash, err := chainhash.NewHashFromStr(best)
		if err != nil {
			b.Fatal(err)
		}
		for _, raw := range gapBlocks(b, *hash, time.Unix(header.Time, 0), all) {
			var refused *string
			if s.call(&refused, "submitblock", raw); refused != nil {
				b.Fatal(*refused)
			}
		}
	}
	if height := p.height(b); height != *flagBlocks+gapPayments {
		b.Fatalf("the chain has %d blocks, want %d", height, *flagBlocks+gapPayments)
	}
	for p.indexed(b) < *flagBlocks+gapPayments {
		time.Sleep(10 * time.Millisecond)
	}
	return p
}

// BenchmarkGaps measures scans for wallets whose range is known, beside such scans with a receipt and the verification
// of the receipt, and beside scans that find the range by a gap. Each call is of another wallet, whose scripts are
// derived; known is the same wallet again, with scripts that the node remembers. All go over HTTP, in turn.
func BenchmarkGaps(b *testing.B) {
	all := gapWalletsOf(b)
	g := &gapCalls{b: b, p: withGaps(b, all), all: all}
	scan, receipt, verify := g.contender(g.scan), g.contender(g.receipt), g.contender(g.verify)
	gap, known := g.contender(g.gap), g.contender(g.known)
	verify.before = g.prepare
	restore := asDaemon()
	compared := []*contender{scan, receipt, verify, gap, known}
	for _, c := range compared {
		c.cold = true
	}
	measureRounds(b, compared)
	restore()
	for name, c := range map[string]*contender{
		"call=scan": scan, "call=receipt": receipt, "call=verifyreceipt": verify, "call=gap": gap, "call=known": known,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				continue // was measured with the others
			}
			c.reportRound(b)
			b.ReportMetric(milliseconds(c.median()), "ms")
			b.ReportMetric(milliseconds(c.best()), "best-ms")
			b.ReportMetric(ratio(c.median(), scan.median()), "x-scan")
			b.ReportMetric(ratio(c.best(), scan.best()), "x-scan-best")
			b.ReportMetric(milliseconds(c.cpu)/float64(len(c.wall)), "cpu-ms")
			b.ReportMetric(ratio(c.cpu, scan.cpu), "x-scan-cpu")
		})
	}
}

// gapCalls makes the calls.
type gapCalls struct {
	b    *testing.B
	p    *peer
	all  []gapWallet
	next int
	made json.RawMessage // the receipt to verify
}

func (g *gapCalls) contender(run func(w *gapWallet) error) *contender {
	return &contender{run: func() error {
		w := &g.all[g.next%len(g.all)]
		g.next++
		return run(w)
	}}
}

type gapAnswer struct {
	Blocks      []string `json:"relevant_blocks"`
	Completed   bool
	Receipt     json.RawMessage
	Descriptors []struct {
		Range     [2]int
		Exhausted bool
	}
}

// call scans for a wallet.
func (g *gapCalls) call(object map[string]any, options map[string]bool) (a gapAnswer, err error) {
	body, err := jsonrpc.Encode("scanblocks", "start", []any{object}, 0, nil, "basic", options)
	if err != nil {
		return a, err
	}
	if err = g.p.CallEncoded(g.b.Context(), &a, body); err == nil && (!a.Completed || len(a.Blocks) != gapPayments) {
		err = fmt.Errorf("%w: %d blocks, want %d", errWrongAnswer, len(a.Blocks), gapPayments)
	}
	return a, err
}

var checked = map[string]bool{"filter_false_positives": true}

func (g *gapCalls) scan(w *gapWallet) error {
	_, err := g.call(map[string]any{"desc": w.text, "range": gapLast}, checked)
	return err
}

func (g *gapCalls) known(*gapWallet) error { return g.scan(&g.all[0]) }

func (g *gapCalls) gap(w *gapWallet) error {
	a, err := g.call(map[string]any{"desc": w.text, "range": 0, "gap": gapOfScan}, nil)
	if err == nil && (len(a.Descriptors) != 1 || a.Descriptors[0].Exhausted ||
		!slices.Equal(a.Descriptors[0].Range[:], []int{0, gapLast})) {
		err = fmt.Errorf("%w: %+v", errWrongAnswer, a.Descriptors)
	}
	return err
}

func (g *gapCalls) receipt(w *gapWallet) error {
	a, err := g.call(map[string]any{"desc": w.text, "range": gapLast}, map[string]bool{"receipt": true})
	g.made = a.Receipt
	return err
}

// prepare makes the receipt that is verified next.
func (g *gapCalls) prepare() error { return g.receipt(&g.all[g.next%len(g.all)]) }

// verify verifies the receipt by a descriptor of the same scripts with another text: the node derives them.
func (g *gapCalls) verify(w *gapWallet) error {
	var verdict struct {
		Valid  bool
		Reason string
	}
	text := strings.Replace(w.text, "(", "([00000001]", 1)
	object := map[string]any{"desc": text, "range": gapLast}
	err := g.p.Call(g.b.Context(), &verdict, "verifyreceipt", g.made, []any{object})
	if err == nil && !verdict.Valid {
		err = fmt.Errorf("%w: %s", errWrongAnswer, verdict.Reason)
	}
	return err
}

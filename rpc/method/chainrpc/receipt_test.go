package chainrpc_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
)

// scanReceipt returns the receipt of a scan.
func (r *rig) scanReceipt(params string) string {
	r.t.Helper()
	var answer struct{ Receipt json.RawMessage }
	got := r.call("scanblocks", params)
	if err := json.Unmarshal([]byte(got), &answer); err != nil || answer.Receipt == nil {
		r.t.Fatal(got, err)
	}
	return string(answer.Receipt)
}

// withReceipts returns a rig whose chain has paid to raw(52) in two blocks, and spent it in one of these.
func withReceipts(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, "regtest")
	r.simulate()
	r.chain.MineN(5)
	paid := r.chain.Mine(chaintest.Template{Script: []byte{0x52}})
	r.chain.MineN(3)
	tx := r.spend(paid, 1000)
	tx.TxOut[0].Value, tx.TxOut[0].PkScript = 4_000_000_000, []byte{0x52}
	r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{tx}})
	r.chain.MineN(2)
	return r
}

// A receipt tells the descriptors and the blocks found, and another node confirms it.
func TestReceipt(t *testing.T) {
	r := withReceipts(t)
	active := r.chain.Active()
	const key = `tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEm` +
		`NUWwx8UbK`
	for options, want := range map[string]string{
		`{"receipt":true}`: `"descriptors":[{"desc":"raw(52)"},`,
		`{"receipt":true,"receipt_descriptors":false}`: `"scripts":5,`,
		`{"receipt":true,"activity":true}`: `"activity":{"entries":3,"received":"9000000000",` +
			`"spent":"5000000000"}`,
	} {
		objects := `["raw(52)",{"desc":"wpkh(` + key + `/84h/1h/*)","range":[2,4]},{"desc":"wpkh(` + key + `/3h)"},` +
			`"raw(52)"]`
		text := r.scanReceipt(`["start",` + objects + `,3,11,"basic",` + options + `]`)
		if !strings.Contains(text, want) || strings.Contains(text, "tprv") {
			t.Errorf("%s: %s", options, text)
		}
		if hidden := !strings.Contains(text, `"descriptors"`); hidden != strings.Contains(options, "false") {
			t.Errorf("%s: %s", options, text)
		}
		v, _ := jsontree.Parse([]byte(text))
		stated, digest, err := receipt.Parse(v)
		if err != nil || stated.Digest() != digest {
			t.Fatalf("%s: %v", text, err)
		}
		if stated.From != 3 || stated.To != 11 || stated.Block != active.At(11).Hash ||
			stated.Genesis != active.At(0).Hash || stated.Found != 2 || stated.Scripts != 5 {
			t.Errorf("%+v", stated)
		}
		made, _ := r.filters.make(active.At(11))
		if stated.FilterHeader == nil || *stated.FilterHeader != made.header {
			t.Errorf("filter header %v, want %v", stated.FilterHeader, made.header)
		}
		if got := r.call("verifyreceipt", "["+text+","+objects+"]"); got != `{"valid":true}` {
			t.Error(got)
		}
		alone := `{"valid":true}`
		if stated.Descriptors == nil {
			alone = "-8 The receipt tells no descriptors: scanobjects are needed"
		}
		if got := r.call("verifyreceipt", "["+text+"]"); got != alone {
			t.Errorf("%s, want %s", got, alone)
		}
	}
	// From keys with a hardened wildcard nobody else can derive.
	text := r.scanReceipt(`["start",["raw(52)",{"desc":"wpkh(` + key + `/*h)","range":1}],0,5,"basic",{"receipt":true}]`)
	if strings.Contains(text, "desc") || !strings.Contains(text, `"scripts":3,`) {
		t.Error(text)
	}
}

// Each wrong statement of a receipt is told, with the height where there is one.
func TestWrongReceipts(t *testing.T) {
	r := withReceipts(t)
	active := r.chain.Active()
	text := r.scanReceipt(`["start",["raw(52)"],3,11,"basic",{"receipt":true,"activity":true}]`)
	sealed := func(edit func(*receipt.Receipt)) string {
		v, _ := jsontree.Parse([]byte(text))
		stated, _, err := receipt.Parse(v)
		if err != nil {
			t.Fatal(err)
		}
		edit(stated)
		return string(stated.AppendJSON(nil))
	}
	invalid := func(reason string, height int) string {
		if height < 0 {
			return fmt.Sprintf(`{"valid":false,"reason":%q}`, reason)
		}
		return fmt.Sprintf(`{"valid":false,"reason":%q,"height":%d}`, reason, height)
	}
	for _, c := range []struct {
		edit func(s *receipt.Receipt)
		want string
	}{
		{func(s *receipt.Receipt) { s.Genesis[0]++ }, invalid(receipt.WrongChain, -1)},
		{func(s *receipt.Receipt) { s.Block[0]++ }, invalid("the last block is not known", 11)},
		{func(s *receipt.Receipt) { s.To++ }, invalid("the last block is at another height", 11)},
		{func(s *receipt.Receipt) { s.FilterHeader[0]++ }, invalid("the filter header is another", 11)},
		{
			func(s *receipt.Receipt) { s.Descriptors[0].Text = "raw(53)" },
			invalid("the descriptors have other scripts", -1),
		},
		{func(s *receipt.Receipt) { s.SetFound(s.Blocks[:1]) }, invalid("a block is missing", 10)},
		{
			func(s *receipt.Receipt) { s.SetFound(append(s.Blocks, active.At(11).Hash)) },
			invalid("a block has nothing of the scripts", 11),
		},
		{func(s *receipt.Receipt) { s.Activity.Spent-- }, invalid("other amounts were received or spent", -1)},
		{func(s *receipt.Receipt) { s.Activity = nil }, `{"valid":true}`},
		{
			func(s *receipt.Receipt) { s.Descriptors[0].Text = "nothing" },
			"-5 'nothing' is not a valid descriptor function",
		},
	} {
		if got := r.call("verifyreceipt", "["+sealed(c.edit)+"]"); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	changed := strings.Replace(text, `"entries":3`, `"entries":2`, 1)
	r.check("verifyreceipt", [][2]string{
		{"[" + changed + "]", invalid("the digest is not the receipt's", -1)},
		{`[{"version":1}]`, "-8 not a receipt: genesis is no hash in lower case"},
		{"[" + text + `,["raw(53)"]]`, invalid("the descriptors have other scripts", -1)},
	})

	// The chain moves to a branch from height 8 on.
	for b := active.At(8); b.Height < 14; {
		b = r.chain.MineOn(b, chaintest.Template{})
	}
	r.check("verifyreceipt", [][2]string{
		{"[" + text + "]", invalid("the last block is not in the active chain", 9)},
	})
	r.deps.Index = nil
	r.build()
	if got := r.call("verifyreceipt", "["+text+"]"); got != "-1 Index is not enabled for filtertype basic" {
		t.Error(got)
	}
}

// A verification is the node's one scan: it waits for none, and an abort ends it.
func TestVerifyingIsAScan(t *testing.T) {
	r := withReceipts(t)
	text := r.scanReceipt(`["start",["raw(52)"],3,11,"basic",{"receipt":true}]`)
	r.deps.Index.Scanner = r.scanner.Ref
	r.build()
	done := r.start("verifyreceipt", "["+text+"]")
	expectScan[*reserveScan](r).Answer(messages.ScanSlot{}, messages.ErrScanBusy)
	if got := <-done; !strings.HasPrefix(got, "-8 Scan already in progress") {
		t.Error(got)
	}
	done = r.start("verifyreceipt", "["+text+"]")
	r.reserve(nil)
	r.expectRun().Answer(messages.ScanResult{From: 3, To: 3}, nil)
	r.expectRelease()
	if got := <-done; got != "-1 The scan was aborted" {
		t.Error(got)
	}
}

// Verifying a receipt sums up what was received and spent, of which there may be more than memory holds.
func TestVerifyingKeepsNoEntries(t *testing.T) {
	const outputs = 5_000
	r := newRig(t, "regtest")
	r.simulate()
	tx := r.spend(r.chain.MineN(1), 0)
	tx.TxOut = nil
	for range outputs {
		tx.AddTxOut(wire.NewTxOut(7, []byte{0x52}))
	}
	r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{tx}})
	text := r.scanReceipt(`["start",["raw(52)"],0,2,"basic",{"receipt":true,"activity":true}]`)
	if !strings.Contains(text, `"activity":{"entries":5000,"received":"35000","spent":"0"}`) {
		t.Error(text)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := r.call("verifyreceipt", "["+text+"]"); got != `{"valid":true}` {
		t.Error(got)
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / outputs; n > 300 {
		t.Errorf("%d bytes for each output", n)
	}
}

// The ranges of a receipt may be larger than those of scan objects, up to the limit of scripts.
func TestLargeRangesOfReceipts(t *testing.T) {
	d := chainrpc.Deps{ScriptLimit: 3_000_000}
	r := &receipt.Receipt{Descriptors: []receipt.Descriptor{
		{Text: "raw(51)"}, {Text: "wpkh(x/*)", Ranged: true, First: 5, Last: 2_500_000},
	}}
	objects, err := d.ScanObjectsOf(r)
	const want = `[{"desc":"raw(51)"},{"desc":"wpkh(x/*)","range":[5,1000004]},{"desc":"wpkh(x/*)",` +
		`"range":[1000005,2000004]},{"desc":"wpkh(x/*)","range":[2000005,2500000]}]`
	if err != nil || objects.String() != want {
		t.Errorf("%v, %v", objects, err)
	}
	r.Descriptors[1].Last = 1<<31 - 1
	if _, err := d.ScanObjectsOf(r); err == nil || !strings.Contains(err.Error(), "Limit of -searchscripts is reached") {
		t.Error(err)
	}
}

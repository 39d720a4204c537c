package chainrpc_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
)

// The reader gives as bytes the same as the methods, of the active chain alone and not beyond its
// tip.
func TestReader(t *testing.T) {
	r := newRig(t, "regtest")
	first := r.chain.MineN(1)
	r.chain.MineN(5)
	stale := r.chain.MineOn(first, chaintest.Template{})
	read := r.table.Read(command.Readers{ChainReader: chainrpc.Reader(r.deps)}).Reader()
	for _, test := range []struct {
		from  chainhash.Hash
		count int
		want  []int32 // heights
	}{
		{first.Hash, 1, []int32{1}},
		{first.Hash, 3, []int32{1, 2, 3}},
		{first.Hash, 6, []int32{1, 2, 3, 4, 5, 6}},
		{first.Hash, 2000, []int32{1, 2, 3, 4, 5, 6}},
		{r.chain.Active().Tip().Hash, 5, []int32{6}},
		{r.chain.Active().At(0).Hash, 2, []int32{0, 1}},
		{stale.Hash, 5, nil},
		{chainhash.Hash{1}, 5, nil},
	} {
		var want strings.Builder
		var shown []string
		for _, height := range test.want {
			shown = append(shown, r.call("getblockheader", `[`+quoted(r.chain.Active().At(height))+`]`))
			text := r.call("getblockheader", `[`+quoted(r.chain.Active().At(height))+`,false]`)
			want.WriteString(strings.Trim(text, `"`))
		}
		got, err := read.Headers(&test.from, test.count)
		if err != nil || hex.EncodeToString(got) != want.String() {
			t.Errorf("%d from %v: %x, %v, want %s", test.count, test.from, got, err, want.String())
		}
		wantText := "[" + strings.Join(shown, ",") + "]"
		if text, err := read.HeadersText(&test.from, test.count); err != nil || string(text) != wantText {
			t.Errorf("%d from %v: %s, %v, want %s", test.count, test.from, text, err, wantText)
		}
		var headers []chainhash.Hash
		for _, height := range test.want {
			_, header, err := r.filters.Filter(t.Context(), &r.chain.Active().At(height).Hash)
			if err != nil {
				t.Fatal(err)
			}
			headers = append(headers, header)
		}
		filters, err := read.FilterHeaders(t.Context(), &test.from, test.count)
		if err != nil || !slices.Equal(filters, headers) {
			t.Errorf("%d from %v: %v, %v, want %v", test.count, test.from, filters, err, headers)
		}
	}
	genesis := r.chain.Active().At(0).Hash
	if filter, err := read.Filter(t.Context(), &genesis); err != nil || hex.EncodeToString(filter) != "014756c0" {
		t.Errorf("%x, %v", filter, err)
	}
}

// The reader gives the outputs that a block spends as getblock shows them at each input, in the
// same order.
func TestReaderOfSpent(t *testing.T) {
	r := newRig(t, "regtest")
	first, second := r.chain.MineN(1), r.chain.MineN(1)
	b := r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{r.spend(first, 700), r.spend(second, 3001)}})
	read := r.table.Read(command.Readers{ChainReader: chainrpc.Reader(r.deps)}).Reader()
	var texts []string
	serialized := []string{"03", "00"}
	for i, tx := range parse(t, r.call("getblock", `[`+quoted(b)+`, 3]`)).Get("tx").Elements() {
		if i == 0 {
			continue
		}
		prevout := tx.Get("vin").At(0).Get("prevout")
		script := prevout.Get("scriptPubKey")
		texts = append(texts, `,[{"value":`+prevout.Get("value").Text()+`,"scriptPubKey":`+script.String()+`}]`)
		serialized = append(serialized, "01", "00f2052a01000000", "01", script.Get("hex").Text())
	}
	text, err := read.SpentText(&b.Hash)
	if want := "[[]" + strings.Join(texts, "") + "]"; err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	data, err := read.Spent(&b.Hash)
	if want := strings.Join(serialized, ""); err != nil || hex.EncodeToString(data) != want {
		t.Errorf("%x, %v, want %s", data, err, want)
	}
	genesis := r.chain.Active().At(0).Hash
	if text, err := read.SpentText(&genesis); err != nil || string(text) != "[[]]" {
		t.Errorf("%s, %v", text, err)
	}
	if data, err := read.Spent(&genesis); err != nil || string(data) != "\x01\x00" {
		t.Errorf("%x, %v", data, err)
	}
	for _, test := range []struct {
		fault error
		want  string
	}{
		{chainview.ErrNotFound, "Undo data not available"},
		{chainview.ErrPruned, "Undo data not available (pruned data)"},
		{chainview.ErrUnreadable, "Can't read undo data from disk"},
	} {
		r.chain.FailUndo(b, test.fault)
		_, err := read.Spent(&b.Hash)
		_, textErr := read.SpentText(&b.Hash)
		for _, err := range []error{err, textErr} {
			told, _ := errors.AsType[command.Error](err)
			if told.Code != command.MiscError || told.Message != test.want {
				t.Errorf("%v: %v", test.fault, err)
			}
		}
	}
}

// A filter header that is not there yet is waited for as the filter is.
func TestReaderOfFilterHeaders(t *testing.T) {
	r := newRig(t, "regtest")
	first := r.chain.MineN(1)
	r.simulate()
	read := r.table.Read(command.Readers{ChainReader: chainrpc.Reader(r.deps)}).Reader()
	r.filters.err = index.ErrNoFilter
	_, err := read.FilterHeaders(t.Context(), &first.Hash, 1)
	told, _ := errors.AsType[command.Error](err)
	if told.Code != command.InternalError || told.Message !=
		"Filter not found. This error is unexpected and indicates index corruption." {
		t.Errorf("%v", err)
	}
}

// Errors are those of the methods, in words.
func TestReaderRefuses(t *testing.T) {
	r := newRig(t, "regtest")
	read := r.table.Read(command.Readers{ChainReader: chainrpc.Reader(r.deps)}).Reader()
	told := func(err error, code command.Code, text string) {
		t.Helper()
		if e, ok := errors.AsType[command.Error](err); !ok || e.Code != code || e.Message != text {
			t.Errorf("%v", err)
		}
	}
	_, err := read.Filter(t.Context(), &chainhash.Hash{1})
	told(err, command.InvalidAddressOrKey, "Block not found")
	_, err = read.Spent(&chainhash.Hash{1})
	told(err, command.InvalidAddressOrKey, "Block not found")
	_, err = read.SpentText(&chainhash.Hash{1})
	told(err, command.InvalidAddressOrKey, "Block not found")
	r.deps.Chain.Set(nil)
	genesis := r.chain.Active().At(0).Hash
	_, err = read.Headers(&genesis, 1)
	told(err, command.InWarmup, "Loading block index…")
	_, err = read.HeadersText(&genesis, 1)
	told(err, command.InWarmup, "Loading block index…")
	r.deps.Index = nil
	_, err = chainrpc.Reader(r.deps).Filter(t.Context(), &genesis)
	told(err, command.MiscError, "Index is not enabled for filtertype basic")
	_, err = chainrpc.Reader(r.deps).FilterHeaders(t.Context(), &genesis, 1)
	told(err, command.MiscError, "Index is not enabled for filtertype basic")
	_, err = read.Spent(&genesis)
	told(err, command.InWarmup, "Loading block index…")
	r.build()
	if r.table.Reader() != nil {
		t.Error("a table that was given no reader has one")
	}
}

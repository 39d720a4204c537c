package wallet_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

const (
	ownKey     = "tprv8ZgxMBicQKsPeEsFp13ComgBi5ciWYmEa21i1DydTSvtaLWPStfbF6SVz3Wuw8ApDTGpM5TF7jycqG8qNUozDT9AwNv1EyrnEeFC4D6veSs"
	foreignKey = "tpubD6NzVbkrYhZ4XZLzmeTuf1y1sr6fZSwqdTvgq4Ne9qXnVaYezqZNi7rWCsAjNgJYZyFiicRcL95qDFiGjsuuv5DwsoDirjNBQCwyiY9c5TR"
)

// blankWith makes a wallet of some descriptors.
func blankWith(t *testing.T, p wallet.Params, texts ...string) *wallet.Wallet {
	t.Helper()
	w, err := wallet.Create(t.Context(), wallet.CreateParams{Params: p, Now: 1_700_000_000, Blank: true})
	if err != nil {
		t.Fatal(err)
	}
	w.Txs().SetTip(recordedChain().tip())
	importInto(t, w, texts...)
	return w
}

func importInto(t *testing.T, w *wallet.Wallet, texts ...string) {
	t.Helper()
	var items []messages.ImportItem
	for _, text := range texts {
		item := messages.ImportItem{Desc: descriptor.AddChecksum(text), Timestamp: 1_700_000_000}
		if strings.Contains(text, "*") {
			item.Active, item.Range = true, &[2]int64{0, 999}
		}
		items = append(items, item)
	}
	done, err := w.Importer().Import(items, keys.ImportTimes{Tip: 1_700_000_000, Median: 1_700_000_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range done.Results {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
}

// TestOtherSpelling opens a file in which a miniscript is filed under the id of the text with the other sign of
// hardened steps. Later versions of Core write such files. The descriptor has its keys, and stays under that
// id.
func TestOtherSpelling(t *testing.T) {
	text := "wsh(and_v(v:pk(" + ownKey + "/48h/1h/*),older(5)))"
	p := regtest(t, "spelling")
	w := blankWith(t, p, text)
	want, err := w.Keys().ListDescriptors(true)
	if err != nil {
		t.Fatal(err)
	}
	public, err := descriptor.Parse(text, p.Network, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	usual := walletfile.DescriptorID(public[0])
	body, _, _ := strings.Cut(public[0].String(), "#")
	other := sha256.Sum256([]byte(descriptor.AddChecksum(strings.ReplaceAll(body, "h/", "'/"))))
	if bytes.Equal(usual[:], other[:]) {
		t.Fatal("there is one spelling alone")
	}
	var records []walletfile.Record
	renamed := 0
	for key, value := range fileRecords(w) {
		renamed += bytes.Count([]byte(key), usual[:]) + bytes.Count(value, usual[:])
		records = append(records, walletfile.Record{
			Key:   bytes.ReplaceAll([]byte(key), usual[:], other[:]),
			Value: bytes.ReplaceAll(value, usual[:], other[:]),
		})
	}
	if renamed < 4 { // the descriptor, its key, its cache, that it is active
		t.Fatalf("the id is in %d places", renamed)
	}
	loaded := testOpen(t, records, p, recordedChain())
	attach(loaded, recordedChain(), false)
	got, err := loaded.Keys().ListDescriptors(true)
	if err != nil || len(got) != 1 || !bytes.Equal(got[0].Desc, want[0].Desc) || !got[0].Active {
		t.Fatalf("got %v, %v", got, err)
	}
	// New records go where the keys are, and the descriptor is known again.
	importInto(t, loaded, text)
	if _, err := loaded.Pool().NewAddress(messages.NewAddress{Type: "bech32", HasType: true}); err != nil {
		t.Error(err)
	}
	if n := loaded.Keys().Len(); n != 1 {
		t.Errorf("%d descriptors", n)
	}
	after := apply(records, loaded.TakeChanges())
	if slices.ContainsFunc(after, func(r walletfile.Record) bool { return bytes.Contains(r.Key, usual[:]) }) {
		t.Error("a record is filed under the usual id")
	}
	_, severity, err := walletfile.Load(context.Background(), slices.Values(after), p.LoadOptions())
	if err != nil || severity != walletfile.OK {
		t.Errorf("loaded again: %v, %v", severity, err)
	}
}

// TestPartlyPrivate lists the private keys of descriptors that have keys of others, too.
func TestPartlyPrivate(t *testing.T) {
	own, other := ownKey+"/84h/0h/*", foreignKey+"/0/*"
	texts := []string{
		"sh(multi(1,0236589eac4f489c78df0baaf1247341b34d3fb1f03b3b577d4cbc803a8b567897,cTTkJ9FwGmeEypJADDZbXB2h9FyWGX3NC6qqDkhXha3rCwTRZgsF))",
		"tr(" + foreignKey + "/1/*,pk(" + ownKey + "/5/*))",
		"tr(musig(" + ownKey + "/0," + foreignKey + "/0)/*)",
		"wpkh(" + ownKey + "/0/*)",
		"wsh(andor(pk(" + ownKey + "/7/*),older(5),pk(" + other + ")))",
		"wsh(multi(2," + own + "," + other + "))",
	}
	w := blankWith(t, regtest(t, "partly"), texts...)
	list, err := w.Keys().ListDescriptors(true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range list {
		got = append(got, string(d.Desc))
	}
	for i := range texts {
		texts[i] = descriptor.AddChecksum(texts[i])
	}
	slices.Sort(texts)
	if !slices.Equal(got, texts) {
		t.Errorf("got  %q\nwant %q", got, texts)
	}
	all, err := w.Keys().HDKeys(false, true)
	if err != nil || len(all) != 2 {
		t.Fatalf("got %v, %v", all, err)
	}
	for _, key := range all {
		want := ""
		if key.HasPrivate {
			want = ownKey
		} else if key.XPub != foreignKey {
			t.Errorf("the private key of %s is missing", key.XPub)
		}
		if string(key.XPrv) != want {
			t.Errorf("%s: got %d bytes of a private key", key.XPub, len(key.XPrv))
		}
	}
	watching, err := wallet.Create(t.Context(), wallet.CreateParams{
		Params: regtest(t, "watching"), DisablePrivateKeys: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	importInto(t, watching, "pkh("+foreignKey+"/0)")
	const refusal = "Can't get descriptor string."
	if _, err := watching.Keys().ListDescriptors(true); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("got %v", err)
	}
}

package wallet_test

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// pack puts records into one text, each with its length in two bytes.
func pack(records []walletfile.Record) (packed []byte) {
	for _, r := range records {
		for _, part := range [][]byte{r.Key, r.Value} {
			packed = binary.BigEndian.AppendUint16(packed, uint16(len(part)))
			packed = append(packed, part...)
		}
	}
	return packed
}

func unpack(packed []byte) (records []walletfile.Record) {
	next := func() []byte {
		if len(packed) < 2 {
			packed = nil
			return nil
		}
		size := min(int(binary.BigEndian.Uint16(packed)), len(packed)-2)
		part := packed[2 : 2+size]
		packed = packed[2+size:]
		return part
	}
	for len(packed) > 0 {
		records = append(records, walletfile.Record{Key: next(), Value: next()})
	}
	return records
}

// maxFuzzRange bounds what is derived for one input.
const maxFuzzRange = 50

// FuzzOpen opens wallets of any content, lets them follow a few blocks, and asks
// everything. Nothing panics, and the sums stay right.
func FuzzOpen(f *testing.F) {
	r := readRecording(f)
	for _, name := range []string{"blank", "watch-misc", "one-key", "gap-far", "encrypted-blank", "base"} {
		f.Add(pack(r.records(name)))
	}
	p := oracleParams()
	f.Fuzz(func(t *testing.T, packed []byte) {
		content, _, err := walletfile.Load(context.Background(), slices.Values(unpack(packed)), p.LoadOptions())
		if err != nil {
			return
		}
		for _, d := range content.Descriptors {
			if d.RangeEnd > maxFuzzRange || d.NextIndex > maxFuzzRange {
				return
			}
		}
		w, err := wallet.Open(content, true, p, recordedChain())
		if err != nil {
			return
		}
		for _, b := range recordedChain().blocks[:5] {
			w.Txs().ConnectBlock(b, 1)
		}
		askAll(w)
		if err := w.Verify(); err != nil {
			t.Error(err)
		}
	})
}

// askAll asks a wallet everything that can be asked.
func askAll(w *wallet.Wallet) {
	_, _ = w.Keys().ListDescriptors(false)
	_, _ = w.Keys().ListDescriptors(true)
	_, _ = w.Keys().HDKeys(false, true)
	w.Info()
	w.Book().Labels("")
	_, _ = w.Book().AddressesByLabel("")
	for _, pkScript := range w.Keys().Scripts() {
		w.Keys().AddressInfo(pkScript)
		_, _, _ = w.Keys().SigningDescriptor(pkScript)
	}
	w.Reports().Balances(messages.GetBalances{AvoidReuse: true})
	for _, byLabel := range []bool{false, true} {
		w.Reports().ListReceived(messages.ListReceived{
			MinConf: -1, IncludeEmpty: true, IncludeImmature: true, ByLabel: byLabel,
		})
	}
	for _, e := range w.Reports().ListTransactions(messages.ListTransactions{Count: 100}) {
		_, _ = w.Reports().Transaction(&e.Tx.TxID)
	}
	w.Reports().ListUnspent(messages.ListUnspent{MaxConf: 1000, IncludeUnsafe: true, IncludeImmature: true})
	w.Reports().SinceBlock(messages.ListSinceBlock{IncludeChange: true}, txs.Since{LastBlock: chainhash.Hash{}})
	for _, kind := range []string{"", "legacy", "p2sh-segwit", "bech32", "bech32m", "x"} {
		_, _ = w.Pool().NewAddress(messages.NewAddress{Type: kind, HasType: kind != ""})
		_, _ = w.Pool().NewAddress(messages.NewAddress{Type: kind, HasType: true, Change: true})
		_, _ = w.Importer().CreateDescriptor(messages.CreateWalletDescriptor{Type: kind}, 1)
	}
	_ = w.Pool().Refill(5)
	w.Txs().Unconfirmed()
	w.Txs().Locks().List()
	w.TakeChanges()
}

// FuzzImport imports anything into a wallet with private keys and into one
// without. Nothing panics, and what is imported can be listed.
func FuzzImport(f *testing.F) {
	for _, text := range oracleTexts {
		f.Add(descriptor.AddChecksum(text), true, int64(0), int64(3), int64(1), "", true)
	}
	f.Add(descriptor.AddChecksum("addr(bcrt1pfeesnyr2tx)"), false, int64(0), int64(-1), int64(-1), "a", false)
	f.Add(descriptor.AddChecksum("wpkh("+oracleKey+"/<0;1>/*)"), true, int64(2), int64(5), int64(3), "", false)
	f.Fuzz(func(t *testing.T, text string, active bool, begin, end, next int64, label string, internal bool) {
		if end > maxFuzzRange {
			return
		}
		item := messages.ImportItem{Desc: text, Active: active, Timestamp: messages.NowTimestamp}
		if end >= 0 {
			item.Range = &[2]int64{begin, end}
		}
		if next >= 0 {
			item.NextIndex = &next
		}
		if label != "" {
			item.Label = &label
		}
		if internal {
			item.Internal = &internal
		}
		for _, watch := range []bool{false, true} {
			p := wallet.CreateParams{Params: oracleParams(), Blank: true, DisablePrivateKeys: watch}
			w, err := wallet.Create(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			done, err := w.Importer().Import([]messages.ImportItem{item, item}, keys.ImportTimes{Tip: 10, Median: 9})
			if err != nil {
				t.Fatal(err)
			}
			list, err := w.Keys().ListDescriptors(false)
			if err != nil || done.Rescan && len(list) == 0 {
				t.Errorf("%v after import of %q: %v", list, text, err)
			}
			askAll(w)
			if err := w.Verify(); err != nil {
				t.Error(err)
			}
		}
	})
}

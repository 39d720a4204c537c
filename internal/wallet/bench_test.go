package wallet_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// watcher is a wallet that watches the scripts of n addresses, all with a label,
// of which the first were paid to once.
func watcher(b *testing.B, n, paid int) *wallet.Wallet {
	b.Helper()
	p := oracleParams()
	w, err := wallet.Create(context.Background(), wallet.CreateParams{Params: p, Blank: true, DisablePrivateKeys: true})
	if err != nil {
		b.Fatal(err)
	}
	label := "x"
	items := make([]messages.ImportItem, n)
	block := &txs.Block{BlockRef: txs.BlockRef{Time: 10, MaxTime: 10}}
	for i := range items {
		pkScript := binary.BigEndian.AppendUint32(append([]byte{0, 20}, make([]byte, 16)...), uint32(i))
		address, _ := descriptor.AddressOf(pkScript, p.Network)
		items[i] = messages.ImportItem{Desc: descriptor.AddChecksum("addr(" + address + ")"), Label: &label}
		if i < paid {
			block.Txs = append(block.Txs, payment(uint32(i), pkScript))
		}
	}
	if _, err := w.Importer().Import(items, keys.ImportTimes{}); err != nil {
		b.Fatal(err)
	}
	w.Txs().ConnectBlock(block, 10)
	return w
}

func payment(number uint32, pkScript []byte) *wire.MsgTx {
	t := wire.NewMsgTx(2)
	t.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{1}, Index: number}})
	t.AddTxOut(&wire.TxOut{Value: 1000, PkScript: pkScript})
	return t
}

// BenchmarkListReceived asks wallets of different sizes what they received. The
// cost is that of the answer: 100 lines are as cheap in a wallet of 100,000
// addresses as in a small one.
func BenchmarkListReceived(b *testing.B) {
	for _, size := range []struct{ addresses, paid int }{{100, 100}, {100_000, 100}, {100_000, 100_000}} {
		b.Run(fmt.Sprintf("addresses=%d/paid=%d", size.addresses, size.paid), func(b *testing.B) {
			w := watcher(b, size.addresses, size.paid)
			b.ReportAllocs()
			for b.Loop() {
				if got := w.Reports().ListReceived(messages.ListReceived{MinConf: 1}); len(got) != size.paid {
					b.Fatalf("%d addresses", len(got))
				}
			}
		})
	}
}

// BenchmarkOpen opens a wallet that holds many transactions.
func BenchmarkOpen(b *testing.B) {
	const count = 100_000
	chain := recordedChain()
	d, err := descriptor.Parse("addr(bcrt1qt5njm0rqa79y78u3eqs4te9jgpdtjtrvq0mqu4)", oracleParams().Network, descriptor.Options{})
	if err != nil {
		b.Fatal(err)
	}
	scripts, err := d[0].Expand(0)
	if err != nil {
		b.Fatal(err)
	}
	content := func() *walletfile.Wallet {
		w := &walletfile.Wallet{Flags: walletfile.Descriptors | walletfile.DisablePrivateKeys}
		w.Descriptors = []*walletfile.Descriptor{{
			DescriptorRecord: walletfile.DescriptorRecord{
				ID: walletfile.DescriptorID(d[0]), Text: d[0].String(), RangeEnd: 1,
			},
			Parsed: d[0],
		}}
		for i := range uint32(count) {
			t := payment(i, scripts[0])
			w.Txs = append(w.Txs, &walletfile.Tx{
				ID: t.TxHash(), Tx: t, OrderPos: int64(i),
				State: walletfile.ConfirmedState(chain.blocks[i%500].Hash, 1),
			})
		}
		return w
	}
	loaded := content()
	b.ReportAllocs()
	for b.Loop() {
		w, err := wallet.Open(loaded, true, oracleParams(), chain)
		if err != nil {
			b.Fatal(err)
		}
		if got := w.Info().TxCount; got != count {
			b.Fatalf("%d transactions", got)
		}
	}
}

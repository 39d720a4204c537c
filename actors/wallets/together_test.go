package wallets_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
)

// Two wallets sign together in two rounds, by the key of an output and in a leaf. A wallet that was unloaded between
// the rounds has lost its nonce, and signs with no other.
func TestSignTogether(t *testing.T) {
	r, net := small(t, setup{}), descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	var private, public [3]string
	for i := range private {
		seed := sha256.Sum256([]byte{byte(i)})
		root, scalar, ok := descriptor.Master(seed[:])
		if !ok {
			t.Fatal("no key")
		}
		private[i], public[i] = string(descriptor.EncodeXPrv(root, &scalar, net)), descriptor.EncodeXPub(root, net)
	}
	for k, form := range []string{"tr(musig(@0,@1)/0)", "tr(" + public[2] + "/0,and_v(v:pk(musig(@0,@1)/5),older(3)))"} {
		names := []string{string(rune('a' + 2*k)), string(rune('b' + 2*k))}
		var script []byte
		for i, name := range names {
			text := strings.ReplaceAll(strings.ReplaceAll(form, "@0", private[0]), "@1", public[1])
			if i == 1 {
				text = strings.ReplaceAll(strings.ReplaceAll(form, "@0", public[0]), "@1", private[1])
			}
			do(t, r.ref, messages.CreateWallet{Name: name, Blank: true})
			item := messages.ImportItem{Desc: descriptor.AddChecksum(text), Timestamp: genesis.Unix()}
			got := do(t, r.wallet(t, name), messages.ImportDescriptors{Items: []messages.ImportItem{item}})
			if got[0].Err != nil {
				t.Fatal(got[0].Err)
			}
			branches, err := descriptor.Parse(text, net, descriptor.Options{})
			if err != nil {
				t.Fatal(err)
			}
			scripts, err := branches[0].Expand(0)
			if err != nil {
				t.Fatal(err)
			}
			script = scripts[0]
		}
		out := wire.NewTxOut(100_000, script)
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: 1}, Sequence: 3})
		tx.AddTxOut(wire.NewTxOut(90_000, foreign))
		p := psbt.New(tx, 0)
		p.Inputs[0].PutOutput(psbt.WitnessUTXO, out)
		sign := func(on string) string {
			var packets []*psbt.Packet
			for _, name := range names {
				q := messages.FillPacket{PSBT: on, Sign: true, Finalize: true, Derivations: true}
				got := do(t, r.wallet(t, name), q)
				p, err := psbt.Decode(got.PSBT)
				if err != nil || got.Complete {
					t.Fatal(got, err)
				}
				packets = append(packets, p)
			}
			if !packets[0].Combine(packets[1]) {
				t.Fatal("another transaction")
			}
			return packets[0].Encode()
		}
		nonces := sign(p.Encode())
		both := sign(nonces)
		got := do(t, r.wallet(t, names[0]), messages.FillPacket{PSBT: both, Finalize: true})
		if !got.Complete || rawtx.Verify(got.Tx, []*wire.TxOut{out}) != nil {
			t.Errorf("%s: %+v", form, got)
		}
		again := sign(p.Encode())
		do(t, r.ref, messages.UnloadWallet{Name: names[1]})
		do(t, r.ref, messages.LoadWallet{Name: names[1]})
		for _, lost := range []string{sign(nonces), sign(again)} {
			if got := do(t, r.wallet(t, names[0]), messages.FillPacket{PSBT: lost, Finalize: true}); got.Complete {
				t.Errorf("%s: signed by a nonce that is gone", form)
			}
		}
	}
}

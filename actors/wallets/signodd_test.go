package wallets_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/messages"
)

// A key whose y is odd signs for the outputs of taproot, which know its x alone.
func TestSignOddKeys(t *testing.T) {
	net := descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	var odd, even []string
	for n := byte(1); len(odd) < 4 || len(even) < 4; n++ {
		private, public := btcec.PrivKeyFromBytes([]byte{n})
		wif := base58.CheckEncode(append(private.Serialize(), 1), net.PrivateKeyID)
		if public.SerializeCompressed()[0] == 3 {
			odd = append(odd, wif)
		} else {
			even = append(even, wif)
		}
	}
	const extended = "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
	for _, keys := range [][]string{odd, even} {
		for _, desc := range []string{
			"tr(" + keys[0] + ")", "rawtr(" + keys[1] + ")", "tr(" + keys[2] + ",pk(" + even[0] + "))",
			"tr(" + extended + "/1/0)", "tr(" + extended + "/1/1)", "tr(" + extended + "/1/2)",
			"tr(" + extended + "/1/3)",
		} {
			t.Run(desc[:strings.IndexByte(desc, '(')+9], func(t *testing.T) { signs(t, net, desc) })
		}
	}
}

// signs imports a descriptor and spends its output by the key of the output.
func signs(t *testing.T, net *descriptor.Network, desc string) {
	t.Helper()
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w", Blank: true})
	ref := r.wallet(t, "w")
	desc = descriptor.AddChecksum(desc)
	d, err := descriptor.Parse(desc, net, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range do(t, ref, messages.ImportDescriptors{
		Items: []messages.ImportItem{{Desc: desc, Timestamp: messages.NowTimestamp}},
	}) {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	scripts, err := d[0].Expand(0)
	if err != nil {
		t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{})
	tx.AddTxOut(wire.NewTxOut(1000, []byte{txscript.OP_TRUE}))
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	amount := btcutil.Amount(5000)
	got := do(t, ref, messages.SignWithWallet{
		RawTx: raw.Bytes(), Prevs: []messages.PrevOut{{Script: scripts[0], Amount: &amount}},
	})
	var signed wire.MsgTx
	if err := signed.Deserialize(bytes.NewReader(got.RawTx)); err != nil {
		t.Fatal(err)
	}
	if witness := signed.TxIn[0].Witness; !got.Complete || len(witness) != 1 || len(witness[0]) != 64 {
		t.Errorf("not signed by the output's key: %+v, witness %x", got.Errors, witness)
	}
}

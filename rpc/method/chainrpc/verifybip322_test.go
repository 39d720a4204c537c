package chainrpc_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/bip322"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
)

// openAddress needs no key: its witness script is OP_TRUE.
const openAddress = "bcrt1qft5p2uhsdcdc3l2ua4ap5qqfg4pjaqlp250x7us7a8qqhrxrxfsqseac85"

// openScript is the output script of openAddress.
func openScript() []byte {
	return append([]byte{txscript.OP_0, txscript.OP_DATA_32}, chainhash.HashB([]byte{txscript.OP_TRUE})...)
}

func TestVerifyBIP322(t *testing.T) {
	r := newRig(t, "regtest")
	signed := func(edit func(tx *wire.MsgTx)) string {
		tx := bip322.ToSign(bip322.ToSpend(openScript(), "m"))
		tx.TxIn[0].Witness = wire.TxWitness{{txscript.OP_TRUE}}
		edit(tx)
		return "ful" + base64.StdEncoding.EncodeToString(psbt.Serialize(tx, true))
	}
	for _, c := range []struct{ params, want string }{
		{
			fmt.Sprintf(`[%q, "smpAQFR", "m"]`, openAddress),
			`{"valid":true,"state":"valid","format":"simple","locktime":0,"sequence":0}`,
		},
		{
			fmt.Sprintf(`[%q, "smpAQFQ", "m"]`, openAddress), `{"valid":false,"state":"invalid",` +
				`"reason":"Witness program hash mismatch","format":"simple","locktime":0,"sequence":0}`,
		},
		{
			fmt.Sprintf(`[%q, %q, "m"]`, openAddress, signed(func(tx *wire.MsgTx) {
				tx.LockTime, tx.TxIn[0].Sequence = 7, 8
			})),
			`{"valid":true,"state":"valid","format":"full","locktime":7,"sequence":8}`,
		},
		{
			fmt.Sprintf(`[%q, %q, "m"]`, openAddress, signed(func(tx *wire.MsgTx) { tx.Version = 5 })),
			`{"valid":false,"state":"inconclusive","reason":"the transaction is of an unknown version",` +
				`"format":"full","locktime":0,"sequence":0}`,
		},
		{`["nobody", "smpAQFR", "m"]`, "-5 Invalid address"},
	} {
		if got := r.call("verifybip322", c.params); got != c.want {
			t.Errorf("%s: %s, want %s", c.params, got, c.want)
		}
	}
}

// The outputs of a proof of funds are held against those of the chain.
func TestFundsOfAProof(t *testing.T) {
	r := newRig(t, "regtest")
	tip := messages.Tip{Hash: chainhash.Hash{9}, Height: 3}
	var outs [4]wire.OutPoint
	for i := range outs {
		outs[i].Hash[0] = byte(i + 1)
	}
	coins := map[wire.OutPoint]messages.Coin{
		outs[0]: {Output: wire.NewTxOut(7, openScript())},
		outs[1]: {Output: wire.NewTxOut(8, openScript())},
		outs[2]: {Output: wire.NewTxOut(7, []byte{txscript.OP_TRUE})},
	}
	r.deps.Actor = r.sys.Spawn("coins", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if m, ok := c.Message().(*ask.Call[messages.GetCoins, messages.Coins]); ok {
				m.Answer(messages.Coins{Tip: tip, Coins: coins}, nil)
			}
		})
	})
	r.build()
	tx := bip322.ToSign(bip322.ToSpend(openScript(), "m"))
	for _, out := range outs {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: out})
	}
	p := psbt.New(tx, 0)
	output := append([]byte{7, 0, 0, 0, 0, 0, 0, 0, 34}, openScript()...)
	for i := range p.Inputs {
		p.Inputs[i].Put(psbt.WitnessUTXO, nil, output)
		p.SetFinal(i, nil, wire.TxWitness{{txscript.OP_TRUE}})
	}
	fund := func(n int, unspent string) string {
		return fmt.Sprintf(
			`{"txid":"%v","vout":0,"amount":0.00000007,"scriptPubKey":"%x"%s}`, outs[n].Hash, openScript(), unspent,
		)
	}
	call := fmt.Sprintf(`[%q, "pof%s", "m"]`, openAddress, p.Encode())
	want := `{"valid":true,"state":"valid","format":"proof_of_funds","locktime":0,"sequence":0,"funds":[` +
		fund(0, `,"unspent":true`) + "," + fund(1, `,"unspent":false`) + "," + fund(2, `,"unspent":false`) + "," +
		fund(3, `,"unspent":false`) + fmt.Sprintf(`],"bestblock":"%v"}`, tip.Hash)
	if got := r.call("verifybip322", call); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	r.deps.Attached = true
	r.build()
	want = `{"valid":true,"state":"valid","format":"proof_of_funds","locktime":0,"sequence":0,"funds":[` +
		fund(0, "") + "," + fund(1, "") + "," + fund(2, "") + "," + fund(3, "") + "]}"
	if got := r.call("verifybip322", call); got != want {
		t.Errorf("beside another node: %s\nwant %s", got, want)
	}
}

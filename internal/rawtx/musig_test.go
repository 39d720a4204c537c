package rawtx_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

var regtest = descriptor.NetworkOf(&chaincfg.RegressionNetParams)

// extendedKeys returns the extended keys of participants, private and public.
func extendedKeys(t *testing.T, n int) (private, public []string) {
	t.Helper()
	for i := range n {
		seed := sha256.Sum256(fmt.Append(nil, "participant ", i))
		root, scalar, ok := descriptor.Master(seed[:])
		if !ok {
			t.Fatal("no key")
		}
		private = append(private, string(descriptor.EncodeXPrv(root, &scalar, regtest)))
		public = append(public, descriptor.EncodeXPub(root, regtest))
	}
	return private, public
}

// participant is one of several that sign together: what it knows of the coin, and its secret nonces.
type participant struct {
	desc   *descriptor.Descriptor
	nonces rawtx.MusigNonces
}

// sign adds what the participant can.
func (m *participant) sign(t *testing.T, packet string, hashType *int32) (string, bool) {
	t.Helper()
	p := decodePacket(t, packet)
	known := newSigning(new(wire.MsgTx), nil)
	if err := known.AddDescriptor(m.desc, 3, true); err != nil {
		t.Fatal(err)
	}
	known.Nonces = &m.nonces
	done, _, err := rawtx.NewPacketSigning(p, newSigning).Input(0, rawtx.PacketRole{Known: known, HashType: hashType})
	if err != nil {
		t.Fatal(err)
	}
	return p.Encode(), done
}

func combined(t *testing.T, packets []string) string {
	t.Helper()
	p := decodePacket(t, packets[0])
	for _, other := range packets[1:] {
		if !p.Combine(decodePacket(t, other)) {
			t.Fatal("another transaction")
		}
	}
	return p.Encode()
}

// entries returns how many entries of a type the input has.
func entries(t *testing.T, packet string, kind uint64) int {
	t.Helper()
	return len(decodePacket(t, packet).Inputs[0].Of(kind))
}

// TestMusig has several participants sign together, by the key of an output
// and in leaves, each with its own private key alone. It verifies the signed
// transaction.
func TestMusig(t *testing.T) {
	private, public := extendedKeys(t, 4)
	stranger := public[3]
	for _, test := range []struct {
		form         string // A, B, C are the participants
		participants int
		sequence     uint32
		hashType     *int32
	}{
		{form: "rawtr(musig(A/0,B/0))", participants: 2},
		{form: "rawtr(musig(A/0/*,B/0/*))", participants: 2},
		{form: "tr(musig(A/0,B/1)/7/*)", participants: 2},
		{form: "tr(musig(A,B,C)/7/*)", participants: 3},
		{form: "tr(musig(A,B)/0/*,pk(S/9))", participants: 2},
		{form: "tr(musig(A,B)/0/*)", participants: 2, hashType: new(int32(txscript.SigHashSingle))},
		{form: "tr(S/0/*,pk(musig(A,B)/0/*))", participants: 2},
		{form: "tr(S/0/*,and_v(v:pk(musig(A,B)/0/*),older(5)))", participants: 2, sequence: 5},
		{form: "tr(S/0/*,and_v(v:pk(musig(A,B)/0/*),pk(musig(A,B)/1/*)))", participants: 2},
		{form: "tr(S/0/*,{and_v(v:pkh(musig(B/1,C/2,A/3)),older(5)),pk(S/8)})", participants: 3, sequence: 5},
	} {
		text := func(own int) string {
			form := strings.ReplaceAll(test.form, "S", stranger)
			for i, name := range []string{"A", "B", "C"} {
				key := public[i]
				if i == own {
					key = private[i]
				}
				for _, before := range []string{"(", ","} {
					for _, after := range []string{"/", ",", ")"} {
						form = strings.ReplaceAll(form, before+name+after, before+key+after)
					}
				}
			}
			return form
		}
		participants := make([]participant, test.participants)
		for i := range participants {
			branches, err := descriptor.Parse(text(i), regtest, descriptor.Options{})
			if err != nil {
				t.Fatal(test.form, err)
			}
			participants[i].desc = branches[0]
		}
		scripts, err := participants[0].desc.Expand(3)
		if !participants[0].desc.IsRanged() {
			scripts, err = participants[0].desc.Expand(0)
		}
		if err != nil {
			t.Fatal(test.form, err)
		}
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{7}}, Sequence: test.sequence})
		tx.AddTxOut(wire.NewTxOut(9000, []byte{0x51}))
		p := psbt.New(tx, 0)
		p.Inputs[0].PutOutput(psbt.WitnessUTXO, wire.NewTxOut(10000, scripts[0]))

		start := p.Encode()
		for round, kind := range []uint64{psbt.MusigPubNonce, psbt.MusigPartialSig} {
			packets := make([]string, len(participants))
			for i := range participants {
				var done bool
				packets[i], done = participants[i].sign(t, start, test.hashType)
				if done {
					t.Errorf("%s: done in round %d of one", test.form, round)
				}
				again, _ := participants[i].sign(t, start, test.hashType)
				if round == 1 && entries(t, again, kind) > 0 {
					t.Errorf("%s: a nonce served twice", test.form)
				}
			}
			before := start
			start = combined(t, packets)
			if n := entries(t, start, kind); n < len(participants) || entries(t, before, kind) > 0 {
				t.Errorf("%s: %d entries after round %d", test.form, n, round)
			}
		}
		// Nobody's key is needed for the rest, and a partial signature that is wrong is noticed.
		wrong := decodePacket(t, start)
		for i := range wrong.Inputs[0] {
			if e := &wrong.Inputs[0][i]; e.Type == psbt.MusigPartialSig {
				e.Value = append([]byte{}, e.Value...)
				e.Value[31] ^= 1
				break
			}
		}
		if rawtx.NewPacketSigning(wrong, newSigning).Finalize() {
			t.Errorf("%s: wrong signatures are taken", test.form)
		}
		final := decodePacket(t, start)
		s := rawtx.NewPacketSigning(final, newSigning)
		if !s.Finalize() || !s.Verified(0) {
			t.Errorf("%s: not complete: %s", test.form, start)
		}
	}
}

// TestMusigNonces: a nonce is given once, the oldest goes where there are too many, and none is left in the end.
func TestMusigNonces(t *testing.T) {
	private, public := extendedKeys(t, 2)
	branches, err := descriptor.Parse("tr(musig("+private[0]+","+public[1]+"))", regtest, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := participant{desc: branches[0]}
	scripts, err := m.desc.Expand(0)
	if err != nil {
		t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{7}}})
	tx.AddTxOut(wire.NewTxOut(9000, []byte{0x51}))
	p := psbt.New(tx, 0)
	p.Inputs[0].PutOutput(psbt.WitnessUTXO, wire.NewTxOut(10000, scripts[0]))
	first, _ := m.sign(t, p.Encode(), nil)
	again, _ := m.sign(t, first, nil)
	if first != again || entries(t, first, psbt.MusigPubNonce) != 1 || entries(t, first, psbt.MusigParticipants) != 1 {
		t.Errorf("a nonce that is there is made again: %s, %s", first, again)
	}
	m.nonces.Zero()
}

// As in Core, a packet is told where the keys of all participants come from that a signer knows, of other keys too.
func TestMusigOrigins(t *testing.T) {
	_, public := extendedKeys(t, 3)
	known := newSigning(new(wire.MsgTx), nil)
	var script []byte
	for _, other := range public[1:] {
		branches, err := descriptor.Parse("tr(musig("+public[0]+","+other+")/0/*)", regtest, descriptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := known.AddDescriptor(branches[0], 3, true); err != nil {
			t.Fatal(err)
		}
		scripts, err := branches[0].Expand(3)
		if err != nil {
			t.Fatal(err)
		}
		script = scripts[0]
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{7}}})
	p := psbt.New(tx, 0)
	p.Inputs[0].PutOutput(psbt.WitnessUTXO, wire.NewTxOut(10000, script))
	if _, _, err := rawtx.NewPacketSigning(p, newSigning).Input(0, rawtx.PacketRole{Known: known}); err != nil {
		t.Fatal(err)
	}
	// Three are participants, and the internal key has an origin too.
	if n := len(p.Inputs[0].Of(psbt.TapDerivation)); n != 4 {
		t.Errorf("%d origins", n)
	}
}

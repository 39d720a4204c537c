package rawtx_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

const maxMoney = 21e14

func newSigning(tx *wire.MsgTx, coins map[wire.OutPoint]*wire.TxOut) *rawtx.Signing {
	return rawtx.NewSigning(tx, coins, maxMoney, false)
}

var analysisRules = rawtx.AnalysisRules{MaxMoney: maxMoney, WitnessScale: 4, BytesPerSigOp: 20}

// roles are what BIP174 says of what signers and others make.
type roles struct {
	Signer []struct {
		PrivKeys     []string
		PSBT, Result string
	}
	Combiner []struct {
		Combine []string
		Result  string
	}
	Finalizer []struct{ Finalize, Result string }
	Extractor []struct{ Extract, Result string }
}

func readRoles(tb testing.TB) (r roles) {
	tb.Helper()
	raw, err := os.ReadFile("psbt/testdata/bips.json")
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func decodePacket(tb testing.TB, text string) *psbt.Packet {
	tb.Helper()
	p, err := psbt.Decode(text)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// TestRoles makes what BIP174 publishes for each role.
func TestRoles(t *testing.T) {
	r := readRoles(t)
	if len(r.Signer) < 2 || len(r.Combiner) < 2 || len(r.Finalizer) < 1 || len(r.Extractor) < 1 {
		t.Fatalf("too few: %+v", r)
	}
	testnet := descriptor.NetworkOf(&chaincfg.TestNet3Params)
	for i, v := range r.Signer {
		p := decodePacket(t, v.PSBT)
		known := newSigning(new(wire.MsgTx), nil)
		for _, key := range v.PrivKeys {
			if !known.Keys.AddWIF(key, testnet) {
				t.Fatalf("%s is no key", key)
			}
		}
		s := rawtx.NewPacketSigning(p, newSigning)
		for k := range p.Inputs {
			role := rawtx.PacketRole{Known: known, HashType: new(int32(txscript.SigHashAll)), Finalize: true}
			if _, _, err := s.Input(k, role); err != nil {
				t.Errorf("signer %d, input %d: %v", i, k, err)
			}
		}
		if got := p.Encode(); got != v.Result {
			t.Errorf("signer %d: got %s, want %s", i, got, v.Result)
		}
	}
	for i, v := range r.Combiner {
		p := decodePacket(t, v.Combine[0])
		for _, other := range v.Combine[1:] {
			if !p.Combine(decodePacket(t, other)) {
				t.Errorf("combiner %d: another transaction", i)
			}
		}
		if got := p.Encode(); got != v.Result {
			t.Errorf("combiner %d: got %s, want %s", i, got, v.Result)
		}
	}
	for i, v := range r.Finalizer {
		p := decodePacket(t, v.Finalize)
		if done := rawtx.NewPacketSigning(p, newSigning).Finalize(); !done || p.Encode() != v.Result {
			t.Errorf("finalizer %d: %v, got %s, want %s", i, done, p.Encode(), v.Result)
		}
	}
	for i, v := range r.Extractor {
		p := decodePacket(t, v.Extract)
		done := rawtx.NewPacketSigning(p, newSigning).Finalize()
		if got := hex.EncodeToString(psbt.Serialize(p.Extract(), true)); !done || got != v.Result {
			t.Errorf("extractor %d: %v, got %s, want %s", i, done, got, v.Result)
		}
	}
}

// A packet that has a signature of another hash type than the wanted one is refused, also where
// it does not say of itself how it is signed.
func TestHashTypeOfPartialSignatures(t *testing.T) {
	signed := readRoles(t).Signer[0].Result
	for wanted, refused := range map[txscript.SigHashType]bool{
		txscript.SigHashAll: false, txscript.SigHashNone: true,
		txscript.SigHashAll | txscript.SigHashAnyOneCanPay: true,
	} {
		p := decodePacket(t, signed)
		s := rawtx.NewPacketSigning(p, newSigning)
		for i := range p.Inputs {
			p.Inputs[i].Drop(psbt.SigHash)
			if len(p.Inputs[i].Of(psbt.PartialSig)) == 0 {
				t.Fatalf("input %d has no signature", i)
			}
			_, _, err := s.Input(i, rawtx.PacketRole{HashType: new(int32(wanted))})
			if errors.Is(err, rawtx.ErrHashType) != refused {
				t.Errorf("hash type %v, input %d: %v", wanted, i, err)
			}
		}
	}
}

// An input without witness is not signed where the packet has only the output that it spends:
// the amount could be wrong, and the difference would be paid as a fee.
func TestAmountMustBeProven(t *testing.T) {
	spent := outputs(t)
	known := signing(t, spent)
	known.Keys = keyring(t, 0, 1, 2, 3, 4, 5)
	for i, out := range spent {
		if out.leaf != nil || out.name == "taproot output key" || out.name == "taproot internal key" {
			continue
		}
		p := psbt.New(known.Tx)
		p.Inputs[i].PutOutput(psbt.WitnessUTXO, known.Coins[known.Tx.TxIn[i].PreviousOutPoint])
		s := rawtx.NewPacketSigning(p, newSigning)
		done, _, err := s.Input(i, rawtx.PacketRole{Known: known, Finalize: true})
		if err != nil {
			t.Errorf("%s: %v", out.name, err)
		}
		if witness := strings.Contains(out.name, "W"); done != witness {
			t.Errorf("%s: signed: %v, want %v", out.name, done, witness)
		}
		if !done && len(p.Inputs[i].Of(psbt.PartialSig)) > 0 {
			t.Errorf("%s: a signature is in the packet", out.name)
		}
	}
}

// FuzzPacket: no packet makes a role panic, and a complete packet is still complete when it is
// finalized again.
func FuzzPacket(f *testing.F) {
	r := readRoles(f)
	for _, v := range r.Signer {
		f.Add(v.PSBT)
		f.Add(v.Result)
	}
	f.Add(r.Finalizer[0].Finalize)
	f.Add(r.Extractor[0].Extract)
	tree, err := descriptor.Parse("tr(xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6m"+
		"r8BDzTJY47LJhkJ8UB7WEGuduB/0/*,{pk(xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDM"+
		"Sgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB/1/*),and_v(v:older(5),pk(xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bD"+
		"MsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB/2/*))})",
		descriptor.NetworkOf(&chaincfg.MainNetParams), descriptor.Options{})
	if err != nil {
		f.Fatal(err)
	}
	known := newSigning(new(wire.MsgTx), nil)
	if err := known.AddDescriptor(tree[0], 3, true); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := psbt.Decode(text)
		if err != nil {
			return
		}
		s := rawtx.NewPacketSigning(p, newSigning)
		for i := range p.Inputs {
			_, _, _ = s.Input(i, rawtx.PacketRole{Known: known})
		}
		for i := range p.Outputs {
			s.Output(i, known)
		}
		done := s.Finalize()
		updated := p.Encode()
		again, err := psbt.Decode(updated)
		if err != nil {
			return // a loose key of MuSig2, of which nothing is written
		}
		if rawtx.NewPacketSigning(again, newSigning).Finalize() != done {
			t.Errorf("%s is complete: %v, and then not", updated, done)
		}
		a := rawtx.Analyze(again, newSigning, analysisRules)
		if done && a.Error == "" && slices.ContainsFunc(a.Inputs, func(in rawtx.InputAnalysis) bool {
			return in.Next < rawtx.Finalizer
		}) {
			t.Errorf("%s is complete, and %+v", updated, a)
		}
	})
}

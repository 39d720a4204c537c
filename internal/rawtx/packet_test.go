package rawtx_test

import (
	"encoding/binary"
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

// as returns a packet in a version, with the fields that both versions have.
func as(version uint32, p *psbt.Packet) *psbt.Packet {
	if p.Version == version {
		return p
	}
	other := psbt.New(p.Tx, version)
	p.Global.Drop(psbt.FallbackLockTime)
	other.Global = append(other.Global, p.Global...)
	for i := range p.Inputs {
		p.Inputs[i].Drop(psbt.Sequence)
		p.Inputs[i].Drop(0x0f) // which has a meaning in version 2
		other.Inputs[i] = append(other.Inputs[i], p.Inputs[i]...)
	}
	copy(other.Outputs, p.Outputs)
	return other
}

// TestRoles makes what BIP174 publishes for each role, and the same in version 2.
func TestRoles(t *testing.T) {
	r := readRoles(t)
	if len(r.Signer) < 2 || len(r.Combiner) < 2 || len(r.Finalizer) < 1 || len(r.Extractor) < 1 {
		t.Fatalf("too few: %+v", r)
	}
	for _, version := range []uint32{0, 2} {
		decode := func(text string) *psbt.Packet {
			written := as(version, decodePacket(t, text)).Encode()
			return decodePacket(t, written)
		}
		result := func(p *psbt.Packet) string {
			if p.Version != version {
				t.Errorf("version %d became %d", version, p.Version)
			}
			return as(0, decodePacket(t, p.Encode())).Encode()
		}
		testSigners(t, r, decode, result)
		for i, v := range r.Combiner {
			p := decode(v.Combine[0])
			for _, other := range v.Combine[1:] {
				if !p.Combine(decode(other)) {
					t.Errorf("combiner %d: another transaction", i)
				}
			}
			if got, want := result(p), result(decode(v.Result)); got != want {
				t.Errorf("combiner %d: got %s, want %s", i, got, want)
			}
		}
		for i, v := range r.Finalizer {
			p := decode(v.Finalize)
			if done := rawtx.NewPacketSigning(p, newSigning).Finalize(); !done || result(p) != v.Result {
				t.Errorf("finalizer %d: %v, got %s, want %s", i, done, result(p), v.Result)
			}
		}
		for i, v := range r.Extractor {
			p := decode(v.Extract)
			done := rawtx.NewPacketSigning(p, newSigning).Finalize()
			if got := hex.EncodeToString(psbt.Serialize(p.Extract(), true)); !done || got != v.Result {
				t.Errorf("extractor %d: %v, got %s, want %s", i, done, got, v.Result)
			}
		}
	}
}

func testSigners(t *testing.T, r roles, decode func(string) *psbt.Packet, result func(*psbt.Packet) string) {
	t.Helper()
	testnet := descriptor.NetworkOf(&chaincfg.TestNet3Params)
	for i, v := range r.Signer {
		p := decode(v.PSBT)
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
		if got := result(p); got != v.Result {
			t.Errorf("signer %d: got %s, want %s", i, got, v.Result)
		}
	}
}

// A signer signs for the lock time that inputs of version 2 require, and takes back that inputs and outputs may be
// modified. Where the inputs exclude each other no role makes anything.
func TestSignV2(t *testing.T) {
	spent := outputs(t)
	known := signing(t, spent)
	known.Keys = keyring(t, 0, 1, 2, 3, 4, 5)
	at := slices.IndexFunc(spent, func(o output) bool { return strings.Contains(o.name, "P2WPKH") })
	for name, test := range map[string]struct {
		hashType   txscript.SigHashType
		finalize   bool
		height     uint32
		modifiable byte
		lock       uint32
		left       byte
	}{
		"signed":            {txscript.SigHashAll, false, 700, 3, 700, 0},
		"final":             {txscript.SigHashAll, true, 700, 3, 700, 0},
		"inputs may follow": {txscript.SigHashNone | txscript.SigHashAnyOneCanPay, true, 0, 3, 12, 3},
		"the fallback":      {txscript.SigHashAll, true, 0, 0x83, 12, 0x80},
	} {
		tx := known.Tx.Copy()
		tx.LockTime = 12
		p := psbt.New(tx, 2)
		p.Global.Put(psbt.TxModifiable, nil, []byte{test.modifiable})
		if test.height > 0 {
			p.Inputs[0].Put(psbt.HeightLock, nil, binary.LittleEndian.AppendUint32(nil, test.height))
		}
		for i := range p.Inputs {
			p.Inputs[i].PutOutput(psbt.WitnessUTXO, known.Coins[tx.TxIn[i].PreviousOutPoint])
		}
		p = decodePacket(t, p.Encode())
		done, _, err := rawtx.NewPacketSigning(p, newSigning).Input(at, rawtx.PacketRole{
			Known: known, HashType: new(int32(test.hashType)), Finalize: test.finalize,
		})
		p = decodePacket(t, p.Encode())
		if err != nil || !done || p.Final(at) != test.finalize || p.Tx.LockTime != test.lock {
			t.Errorf("%s: done %v, %v, lock time %d", name, done, err, p.Tx.LockTime)
		}
		if flags, _ := p.Global.One(psbt.TxModifiable); len(flags) != 1 || flags[0] != test.left {
			t.Errorf("%s: may be modified: %x", name, flags)
		}
		if test.finalize && !rawtx.NewPacketSigning(p, newSigning).Verified(at) {
			t.Errorf("%s: not verified", name)
		}
		if test.height == 0 {
			continue
		}
		p.Inputs[1].Put(psbt.TimeLock, nil, binary.LittleEndian.AppendUint32(nil, 1_600_000_000))
		p = decodePacket(t, p.Encode())
		before := p.Encode()
		s := rawtx.NewPacketSigning(p, newSigning)
		_, _, err = s.Input(at, rawtx.PacketRole{Known: known})
		if s.Finalize() || s.Verified(at) || !errors.Is(err, rawtx.ErrNoTx) || p.Encode() != before {
			t.Errorf("%s, and then none: %v, %s", name, err, p.Encode())
		}
		a := rawtx.Analyze(p, newSigning, analysisRules)
		if a.Error != "PSBT cannot be made into a valid transaction" || a.Next != rawtx.Creator || len(a.Inputs) > 0 {
			t.Errorf("%s, and then none: %+v", name, a)
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
		p := psbt.New(known.Tx, 0)
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
	for _, text := range []string{r.Finalizer[0].Finalize, r.Extractor[0].Extract, r.Signer[0].PSBT} {
		f.Add(text)
		f.Add(as(2, decodePacket(f, text)).Encode())
	}
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

package psbt_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// faultsOfV2 are what Core says of the packets that BIP370 calls invalid, in their order.
var faultsOfV2 = []string{
	"PSBT_GLOBAL_TX_VERSION is required in PSBTv2",
	"PSBT_GLOBAL_TX_VERSION is not allowed in PSBTv0",
	"PSBT_GLOBAL_FALLBACK_LOCKTIME is not allowed in PSBTv0",
	"PSBT_GLOBAL_INPUT_COUNT is not allowed in PSBTv0",
	"PSBT_GLOBAL_OUTPUT_COUNT is not allowed in PSBTv0",
	"PSBT_GLOBAL_TX_MODIFIABLE is not allowed in PSBTv0",
	"Previous txid is not allowed in PSBTv0",
	"Previous output's index is not allowed in PSBTv0",
	"Sequence is not allowed in PSBTv0",
	"Required time based locktime is not allowed in PSBTv0",
	"Required height based locktime is not allowed in PSBTv0",
	"Output amount is not allowed in PSBTv0",
	"Output script is not allowed in PSBTv0",
	"PSBT_GLOBAL_UNSIGNED_TX is not allowed in PSBTv2",
	"PSBT_GLOBAL_INPUT_COUNT is required in PSBTv2",
	"PSBT_GLOBAL_OUTPUT_COUNT is required in PSBTv2",
	"PSBT_GLOBAL_TX_VERSION is required in PSBTv2",
	"Previous TXID is required in PSBTv2",
	"Previous output's index is required in PSBTv2",
	"Output amount is required in PSBTv2",
	"Output script is required in PSBTv2",
	"Required time based locktime is invalid (less than 500000000)",
	"Required height based locktime is invalid (greater than or equal to 500000000)",
	"Required height based locktime is invalid (0)",
}

// TestPublishedV2: what BIP370 publishes has the version, the lock times and the faults that it says, and is
// written as it was.
func TestPublishedV2(t *testing.T) {
	bip := readPublished(t)["bip370"]
	if len(bip.Invalid) != len(faultsOfV2) || len(bip.Valid) != 14 || len(bip.LockTimes) != 4 {
		t.Fatalf("%d invalid, %d valid, %d lock times", len(bip.Invalid), len(bip.Valid), len(bip.LockTimes))
	}
	for i, text := range bip.Invalid {
		if _, err := psbt.DecodeCore32(text); err == nil || err.Error() != faultsOfV2[i]+": iostream error" {
			t.Errorf("%d, as Core 32: got %v, want %s", i, err, faultsOfV2[i])
		}
		// To Core 30.2 fields of version 2 are unknown in version 0, and a whole transaction is not of version 2.
		p, err := psbt.Decode(text)
		want := faultsOfV2[i]
		if i == 0 || strings.HasPrefix(want, "PSBT_GLOBAL_UNSIGNED_TX") {
			want = "Unsupported version number"
		}
		if isV0 := strings.HasSuffix(want, "in PSBTv0"); isV0 != (err == nil) ||
			err != nil && err.Error() != want+": iostream error" || isV0 && p.Encode() != text {
			t.Errorf("%d, as Core 30.2: %v, want %s", i, err, want)
		}
	}
	for i, text := range bip.Valid {
		if p := decodePacket(t, text); p.Version != 2 || p.Encode() != text {
			t.Errorf("%d, version %d: %s became %s", i, p.Version, text, p.Encode())
		}
	}
	for lock, texts := range bip.LockTimes {
		for i, text := range texts {
			p := decodePacket(t, text)
			got := strconv.FormatUint(uint64(p.Tx.LockTime), 10)
			if p.NoTx != (lock == "none") || !p.NoTx && got != lock {
				t.Errorf("%d of %s: got %s, none: %v", i, lock, got, p.NoTx)
			}
		}
	}
}

func decodePacket(tb testing.TB, text string) *psbt.Packet {
	tb.Helper()
	p, err := psbt.Decode(text)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// txOfV2 is a transaction with two inputs and an output.
func txOfV2() *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: [32]byte{7}, Index: 1}, []byte{1}, nil))
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: [32]byte{8}, Index: 2}, nil, wire.TxWitness{{1}}))
	tx.TxIn[0].Sequence, tx.TxIn[1].Sequence, tx.LockTime = 5, 0xfffffffd, 99
	tx.AddTxOut(wire.NewTxOut(3, []byte{0x51}))
	return tx
}

// A packet of version 2 is written as Core's creators write it.
func TestNewV2(t *testing.T) {
	p := psbt.New(txOfV2(), 2)
	raw, err := base64.StdEncoding.DecodeString(p.Encode())
	if err != nil {
		t.Fatal(err)
	}
	const want = "70736274ff" + "01020402000000" + "01030463000000" + "01040102" + "01050101" + "01fb0402000000" + "00" +
		"010e2007" + "00000000000000000000000000000000000000000000000000000000000000" + "010f0401000000" + "01100405000000" +
		"00" + "010e2008" + "00000000000000000000000000000000000000000000000000000000000000" + "010f0402000000" +
		"011004fdffffff" + "00" + "0103080300000000000000" + "01040151" + "00"
	if got := hex.EncodeToString(raw); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	unsigned := psbt.New(txOfV2(), 0)
	if got := decodePacket(t, p.Encode()); got.Tx.TxHash() != unsigned.Tx.TxHash() || got.NoTx {
		t.Errorf("got %+v", got.Tx)
	}
}

// asOther returns a packet in the other version, or the same fields where that is possible.
func asOther(p *psbt.Packet) *psbt.Packet {
	other := psbt.New(p.Tx, 2-p.Version)
	global, inputs, outputs := slices.Clone(p.Global), p.Inputs, p.Outputs
	global.Drop(psbt.FallbackLockTime)
	other.Global = append(other.Global, global...)
	for i := range inputs {
		in := slices.Clone(inputs[i])
		in.Drop(psbt.Sequence)
		other.Inputs[i] = append(other.Inputs[i], in...)
	}
	copy(other.Outputs, outputs)
	return other
}

// mixesVersions reports whether a packet of version 0 has what are fields of version 2 elsewhere.
func mixesVersions(p *psbt.Packet) bool {
	has := func(m psbt.Map, first, last uint64) bool {
		return slices.ContainsFunc(m, func(e psbt.Entry) bool { return e.Type >= first && e.Type <= last })
	}
	return has(p.Global, 2, 6) || slices.ContainsFunc(p.Inputs, func(m psbt.Map) bool { return has(m, 0x0e, 0x12) }) ||
		slices.ContainsFunc(p.Outputs, func(m psbt.Map) bool { return has(m, 3, 4) })
}

// FuzzVersions: the fields of a packet are the same in the other version, and again in its own. Left out are packets
// that require lock times or say what may be modified, which version 0 cannot.
func FuzzVersions(f *testing.F) {
	for _, bip := range readPublished(f) {
		for _, text := range bip.Valid {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := psbt.Decode(text)
		if err != nil || mixesVersions(p) || p.Global.Has(psbt.TxModifiable) ||
			slices.ContainsFunc(p.Inputs, func(in psbt.Map) bool {
				return in.Has(psbt.TimeLock) || in.Has(psbt.HeightLock) || hasLooseKey(in)
			}) || slices.ContainsFunc(p.Outputs, hasLooseKey) {
			return
		}
		written := asOther(p).Encode()
		other, err := psbt.Decode(written)
		if err != nil {
			t.Fatalf("%s is written as %s: %v", text, written, err)
		}
		if other.Version == p.Version || other.NoTx || other.Tx.TxHash() != p.Tx.TxHash() {
			t.Fatalf("%s became %s", text, written)
		}
		back := asOther(other)
		if p.Version == 2 { // of which the default may be left out
			back = asOther(asOther(back))
			p = asOther(asOther(p))
		}
		if back.Encode() != p.Encode() {
			t.Fatalf("%s became %s by %s", p.Encode(), back.Encode(), written)
		}
	})
}

// Copies of version 2 are combined although their sequence numbers differ. Copies of both versions are not.
func TestCombineV2(t *testing.T) {
	number := func(n byte) []byte { return []byte{n, 0, 0, 0} }
	modifiable := func(flags ...byte) func(*psbt.Packet) {
		return func(p *psbt.Packet) {
			for _, f := range flags {
				p.Global.Put(psbt.TxModifiable, nil, []byte{f})
			}
		}
	}
	flagsOf := func(p *psbt.Packet) string {
		raw, _ := p.Global.One(psbt.TxModifiable)
		return hex.EncodeToString(raw)
	}
	for name, test := range map[string]struct {
		first, second func(*psbt.Packet)
		want          string
	}{
		"none":             {modifiable(), modifiable(), ""},
		"of the first":     {modifiable(3), modifiable(), "00"},
		"of the second":    {modifiable(), modifiable(7), "04"},
		"of both":          {modifiable(3), modifiable(0xfa), "02"},
		"single in one":    {modifiable(3), modifiable(5), "05"},
		"undefined in one": {modifiable(0x81), modifiable(0x01), "01"},
	} {
		first, second := psbt.New(txOfV2(), 2), psbt.New(txOfV2(), 2)
		test.first(first)
		test.second(second)
		second.Inputs[0].Put(psbt.Sequence, nil, number(9))
		second = decodePacket(t, second.Encode())
		second.Inputs[1].Drop(psbt.Sequence)
		second.Inputs[1].Put(psbt.Proprietary, []byte("\x01a\x01"), []byte("mine"))
		second.Inputs[1].Put(psbt.SigHash, nil, number(1))
		first.Inputs[1].Drop(psbt.Sequence)
		if !first.Combine(second) || flagsOf(first) != test.want {
			t.Errorf("%s: got %q, want %q", name, flagsOf(first), test.want)
		}
		again := decodePacket(t, first.Encode())
		in := again.Tx.TxIn
		if in[0].Sequence != 5 || in[1].Sequence != wire.MaxTxInSequenceNum || again.Tx.LockTime != 99 {
			t.Errorf("%s: %v, %v", name, in[0], in[1])
		}
		if in := again.Inputs[1]; !in.Has(psbt.Proprietary) || in.Has(psbt.SigHash) {
			t.Errorf("%s: %v", name, in)
		}
	}
	first := psbt.New(txOfV2(), 2)
	otherLock := txOfV2()
	otherLock.LockTime++
	for name, second := range map[string]*psbt.Packet{
		"version 0": psbt.New(txOfV2(), 0), "another lock time": psbt.New(otherLock, 2),
		"none": decodePacket(t, readPublished(t)["bip370"].LockTimes["none"][0]),
	} {
		if first.Combine(second) || second.Combine(first) {
			t.Errorf("combined with %s", name)
		}
	}
	locked := psbt.New(txOfV2(), 2)
	locked.Inputs[0].Put(psbt.HeightLock, nil, number(99)) // as the fallback
	locked = decodePacket(t, locked.Encode())
	if !first.Combine(locked) || !first.Inputs[0].Has(psbt.HeightLock) || first.Tx.LockTime != 99 {
		t.Errorf("got %v with lock time %d", first.Inputs[0], first.Tx.LockTime)
	}
}

// Proprietary fields of version 0 are added as in Core 32, where packets are read as there.
func TestCombineProprietary(t *testing.T) {
	first, second := psbt.New(txOfV2(), 0), psbt.New(txOfV2(), 0)
	second.Global.Put(psbt.Proprietary, []byte("\x01a\x01"), []byte("g"))
	second.Inputs[0].Put(psbt.Proprietary, []byte("\x01a\x01"), []byte("i"))
	second.Outputs[0].Put(psbt.Proprietary, []byte("\x01a\x01"), []byte("o"))
	for want, decode := range map[string]func(string) (*psbt.Packet, error){
		first.Encode(): psbt.Decode, second.Encode(): psbt.DecodeCore32,
	} {
		into, err := decode(first.Encode())
		if err != nil || !into.Combine(second) || into.Encode() != want {
			t.Errorf("got %s, want %s, %v", into.Encode(), want, err)
		}
	}
}

// A signature takes back what it forbids to modify.
func TestNoteSignature(t *testing.T) {
	const anyone = txscript.SigHashAnyOneCanPay
	for _, test := range []struct {
		hashType    txscript.SigHashType
		flags, want byte
	}{
		{txscript.SigHashDefault, 3, 0},
		{txscript.SigHashAll, 0xfb, 0xf8},
		{txscript.SigHashNone, 3, 2},
		{txscript.SigHashSingle, 3, 4},
		{txscript.SigHashAll | anyone, 3, 1},
		{txscript.SigHashNone | anyone, 3, 3},
		{txscript.SigHashSingle | anyone, 7, 5},
	} {
		p := psbt.New(txOfV2(), 2)
		p.NoteSignature(test.hashType)
		if p.Global.Has(psbt.TxModifiable) {
			t.Errorf("%v: flags came from nowhere", test.hashType)
		}
		p.Global.Put(psbt.TxModifiable, nil, []byte{test.flags})
		p.NoteSignature(test.hashType)
		if got, _ := p.Global.One(psbt.TxModifiable); !bytes.Equal(got, []byte{test.want}) {
			t.Errorf("%v: %x became %x, want %x", test.hashType, test.flags, got, test.want)
		}
	}
}

// A network without version 2 reads none, and its fields mean nothing there.
func TestNoVersion2(t *testing.T) {
	for i, text := range readPublished(t)["bip370"].Valid {
		if _, err := psbt.DecodeP2MR(text); err == nil || err.Error() != "Unsupported version number: iostream error" {
			t.Errorf("%d: %v", i, err)
		}
	}
	p, err := psbt.DecodeP2MR(packetOf(field{"\x10", "abcd"}, field{"\x0e", "x"}))
	if err != nil || len(p.Inputs[0].Of(0x10)) != 1 || p.Inputs[0].Has(psbt.Sequence) {
		t.Fatalf("%v, %v", p, err)
	}
	again, err := psbt.DecodeP2MR(p.Encode())
	if err != nil || len(again.Inputs[0].Of(0x10)) != 1 || again.Tx.TxIn[0].Sequence != 0 {
		t.Errorf("%v, %v", again, err)
	}
}

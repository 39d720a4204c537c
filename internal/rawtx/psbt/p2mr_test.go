package psbt_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// field is a key with its value, as it is written.
type field struct{ key, value string }

// Parts of the fields of P2MR.
var (
	pqcKey   = strings.Repeat("k", 32)
	leafHash = strings.Repeat("h", 32)
	pqcSig   = strings.Repeat("s", slhdsa.SignatureSize)
	control  = "\xc1" + strings.Repeat("c", 32)
	leafOne  = "\x51\xc0"
	leafTwo  = "\x52\xc0"
	rootOf   = strings.Repeat("r", 32)
)

const (
	qbitRoot = "\xfc\x04qbit\x01"
	qbitLeaf = "\xfc\x04qbit\x02"
	qbitSig  = "\xfc\x04qbit\x03"
)

// packetOf is a packet with one input that has some fields.
func packetOf(fields ...field) string {
	raw := bytes.NewBufferString(inInput)
	for _, f := range fields {
		_ = wire.WriteVarBytes(raw, 0, []byte(f.key))
		_ = wire.WriteVarBytes(raw, 0, []byte(f.value))
	}
	raw.WriteString("\x00\x00")
	return base64.StdEncoding.EncodeToString(raw.Bytes())
}

// TestP2MRFields reads qbit's fields: which there are, and what is wrong with others.
func TestP2MRFields(t *testing.T) {
	for name, test := range map[string]struct {
		fields []field
		fault  string
		kinds  map[uint64]int // how many of each type there are
	}{
		"all": {
			[]field{{"\x19" + pqcKey + leafHash, pqcSig}, {"\x1d" + control, leafOne}, {qbitRoot, rootOf}},
			"",
			map[uint64]int{psbt.P2MRSig: 1, psbt.P2MRLeaf: 1, psbt.P2MRRoot: 1},
		},
		"proprietary": {
			[]field{{qbitSig + pqcKey + leafHash, pqcSig + "\x01"}, {qbitLeaf + "\xc1", leafOne}},
			"",
			map[uint64]int{psbt.P2MRSig: 1, psbt.P2MRLeaf: 1},
		},
		"both ways": {
			[]field{{qbitSig + pqcKey + leafHash, pqcSig}, {"\x19" + pqcKey + leafHash, pqcSig}},
			"",
			map[uint64]int{psbt.P2MRSig: 1},
		},
		"one leaf both ways": {
			[]field{{qbitLeaf + control, leafOne}, {"\x1d" + control, leafOne}}, "", map[uint64]int{psbt.P2MRLeaf: 1},
		},
		"two leaves of a proof": {
			[]field{{qbitLeaf + control, leafTwo}, {"\x1d" + control, leafOne}}, "", map[uint64]int{psbt.P2MRLeaf: 2},
		},
		"no root": {[]field{{qbitRoot, strings.Repeat("\x00", 32)}}, "", nil},
		"another's": {
			[]field{{"\xfc\x04qbix\x01", ""}, {"\xfc\x04qbit\x04", "x"}}, "", map[uint64]int{psbt.Proprietary: 2},
		},
		"the deepest": {
			[]field{{"\x1d\xc1" + strings.Repeat("c", 32*128), leafOne}}, "", map[uint64]int{psbt.P2MRLeaf: 1},
		},
		"hash type all": {[]field{{"\x19" + pqcKey + leafHash, pqcSig + "\x01"}}, "", map[uint64]int{psbt.P2MRSig: 1}},

		"signatures differ": {
			[]field{{qbitSig + pqcKey + leafHash, pqcSig}, {"\x19" + pqcKey + leafHash, pqcSig + "\x01"}},
			"Conflicting P2MR script signature for pubkey and leaf hash", nil,
		},
		"signature twice": {
			[]field{{"\x19" + pqcKey + leafHash, pqcSig}, {"\x19" + pqcKey + leafHash, pqcSig}},
			"Duplicate Key, input P2MR script signature already provided", nil,
		},
		"qbit's signature twice": {
			[]field{{qbitSig + pqcKey + leafHash, pqcSig}, {qbitSig + pqcKey + leafHash, pqcSig}},
			"Duplicate Key, qbit P2MR script signature already provided", nil,
		},
		"leaf twice": {
			[]field{{"\x1d" + control, leafOne}, {"\x1d" + control, leafTwo}},
			"Duplicate Key, input P2MR leaf script already provided", nil,
		},
		"qbit's leaf twice": {
			[]field{{qbitLeaf + control, leafOne}, {qbitLeaf + control, leafTwo}},
			"Duplicate Key, qbit P2MR leaf script already provided", nil,
		},
		"root twice": {
			[]field{{qbitRoot, rootOf}, {qbitRoot, rootOf}}, "Duplicate Key, qbit P2MR merkle root already provided", nil,
		},
		"key of a signature": {
			[]field{{"\x19" + pqcKey, pqcSig}}, "Input P2MR script signature key is not 65 bytes", nil,
		},
		"key of qbit's signature": {
			[]field{{qbitSig + pqcKey, pqcSig}}, "qbit P2MR script signature key is not 64 bytes", nil,
		},
		"short": {
			[]field{{"\x19" + pqcKey + leafHash, pqcSig[1:]}}, "P2MR script signature is shorter than expected", nil,
		},
		"long": {
			[]field{{"\x19" + pqcKey + leafHash, pqcSig + "\x01\x01"}}, "P2MR script signature is longer than expected", nil,
		},
		"default said": {
			[]field{{"\x19" + pqcKey + leafHash, pqcSig + "\x00"}},
			"P2MR script signature has invalid sighash type", nil,
		},
		"qbit's short": {
			[]field{{qbitSig + pqcKey + leafHash, "s"}}, "qbit P2MR script signature is shorter than expected", nil,
		},
		"qbit's long": {
			[]field{{qbitSig + pqcKey + leafHash, pqcSig + pqcSig}},
			"qbit P2MR script signature is longer than expected", nil,
		},
		"qbit's default said": {
			[]field{{qbitSig + pqcKey + leafHash, pqcSig + "\x00"}},
			"qbit P2MR script signature has invalid sighash type", nil,
		},
		"no control block": {
			[]field{{"\x1d", leafOne}}, "P2MR leaf script key has an invalid control block size", nil,
		},
		"half a node": {
			[]field{{"\x1d\xc1" + pqcKey[1:], leafOne}}, "P2MR leaf script key has an invalid control block size", nil,
		},
		"too deep": {
			[]field{{"\x1d\xc1" + strings.Repeat("c", 32*129), leafOne}},
			"P2MR leaf script key has an invalid control block size", nil,
		},
		"even":         {[]field{{"\x1d\xc0", leafOne}}, "P2MR control byte bit 0 must be set", nil},
		"no leaf":      {[]field{{"\x1d" + control, ""}}, "Input P2MR leaf script must be at least 1 byte", nil},
		"qbit's size":  {[]field{{qbitLeaf, leafOne}}, "qbit P2MR leaf script key has an invalid control block size", nil},
		"qbit's even":  {[]field{{qbitLeaf + "\xc0", leafOne}}, "qbit P2MR control byte bit 0 must be set", nil},
		"qbit's none":  {[]field{{qbitLeaf + control, ""}}, "qbit P2MR leaf script must be at least 1 byte", nil},
		"root of more": {[]field{{qbitRoot + "x", rootOf}}, "qbit P2MR merkle root key is more than one byte type", nil},
		"half a root":  {[]field{{qbitRoot, rootOf[1:]}}, "Size of value was not the stated size", nil},
		"a cut name":   {[]field{{"\xfc\x04qbi", rootOf}}, "SpanReader::read(): end of data", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := psbt.DecodeP2MR(packetOf(test.fields...))
			if test.fault != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.fault+":") {
					t.Errorf("got %v, want %s", err, test.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []uint64{psbt.P2MRSig, psbt.P2MRLeaf, psbt.P2MRRoot, psbt.Proprietary} {
				if got := len(p.Inputs[0].Of(kind)); got != test.kinds[kind] {
					t.Errorf("%d entries of type %x, want %d", got, kind, test.kinds[kind])
				}
			}
		})
	}
}

// Elsewhere qbit's fields are unknown, and kept as they are.
func TestP2MRElsewhere(t *testing.T) {
	text := packetOf(field{qbitRoot, "x"}, field{"\x19", "y"}, field{"\x1d", "z"})
	p, err := psbt.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Inputs[0].Of(0x19)) != 1 || len(p.Inputs[0].Of(psbt.Proprietary)) != 1 || p.Inputs[0].Has(psbt.P2MRRoot) {
		t.Errorf("read %+v", p.Inputs[0])
	}
	if got := p.Encode(); got != text {
		t.Errorf("written as %s, want %s", got, text)
	}
}

// Fields are written behind the leaves of taproot and before the derivations, the root behind that of taproot;
// a leaf by its script, the shortest proof first. A final input has none of these fields.
func TestP2MRWritten(t *testing.T) {
	sig, long := field{"\x19" + pqcKey + leafHash, pqcSig}, field{"\x1d" + control, leafOne}
	short, second := field{"\x1d\xc3", leafOne}, field{"\x1d\xc1", leafTwo}
	tapRoot, proprietary := field{"\x18", rootOf}, field{"\xfc\x01a\x00", "p"}
	root, unknown := field{qbitRoot, rootOf}, field{"\x30", "u"}
	given := []field{unknown, root, second, proprietary, long, tapRoot, short, sig}
	p, err := psbt.DecodeP2MR(packetOf(given...))
	if err != nil {
		t.Fatal(err)
	}
	want := packetOf(sig, short, long, second, tapRoot, root, proprietary, unknown)
	if got := p.Encode(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.SetFinal(0, nil, wire.TxWitness{{1}})
	if got, want := p.Encode(), packetOf(field{"\x08", "\x01\x01\x01"}, proprietary, unknown); got != want {
		t.Errorf("final: got %s, want %s", got, want)
	}
}

// Of two packets that are combined the first has the signature and the root, both have their proofs.
func TestCombineP2MR(t *testing.T) {
	other := strings.Repeat("t", slhdsa.SignatureSize)
	decode := func(fields ...field) *psbt.Packet {
		p, err := psbt.DecodeP2MR(packetOf(fields...))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	into := decode(field{"\x19" + pqcKey + leafHash, pqcSig}, field{"\x1d" + control, leafOne})
	from := []field{
		{"\x19" + pqcKey + leafHash, other},
		{"\x19" + leafHash + leafHash, other},
		{"\x1d\xc1", leafOne},
		{"\x1d" + control, leafTwo},
		{qbitRoot, rootOf},
		{"\xfc\x01a\x00", "p"},
	}
	if !into.Combine(decode(from...)) {
		t.Fatal("another transaction")
	}
	want := packetOf(
		field{"\x19" + leafHash + leafHash, other}, field{"\x19" + pqcKey + leafHash, pqcSig},
		field{"\x1d\xc1", leafOne},
		field{"\x1d" + control, leafOne}, field{"\x1d" + control, leafTwo}, field{qbitRoot, rootOf})
	if got := into.Encode(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzDecodeP2MR: no bytes make it panic, and what is read is written so that it is read again the same.
func FuzzDecodeP2MR(f *testing.F) {
	for _, fields := range [][]field{
		{{"\x19" + pqcKey + leafHash, pqcSig}, {qbitSig + pqcKey + leafHash, pqcSig}},
		{{"\x1d" + control, leafOne}, {qbitLeaf + "\xc1", leafTwo}, {qbitRoot, rootOf}},
		{{qbitLeaf + control, leafOne}, {"\x1d" + control, leafTwo}},
		{{"\xfc\x04qbit\x05", "x"}, {"\xfc\x04qbit", ""}},
	} {
		raw, _ := base64.StdEncoding.DecodeString(packetOf(fields...))
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := psbt.DecodeP2MR(base64.StdEncoding.EncodeToString(raw))
		if err != nil {
			return
		}
		for _, m := range p.Inputs {
			musig := m.Has(psbt.MusigPubNonce) || m.Has(psbt.MusigPartialSig) || m.Has(psbt.MusigParticipants)
			if musig || sharesProof(m) {
				return // its keys are written twice; loose keys of MuSig2
			}
		}
		for _, m := range p.Outputs {
			if m.Has(psbt.OutMusigParticipants) {
				return
			}
		}
		written := p.Encode()
		again, err := psbt.DecodeP2MR(written)
		if err != nil || again.Encode() != written {
			t.Errorf("%x is written as %s: %v", raw, written, err)
		}
	})
}

// sharesProof reports whether two leaves have the same control block.
func sharesProof(m psbt.Map) bool {
	seen := make(map[string]bool)
	for _, e := range m.Of(psbt.P2MRLeaf) {
		if seen[string(e.Data)] {
			return true
		}
		seen[string(e.Data)] = true
	}
	return false
}

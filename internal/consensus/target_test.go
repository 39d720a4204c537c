package consensus_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/consensus"
)

func TestCompactForm(t *testing.T) {
	for _, test := range []struct {
		bits   uint32
		target string // hex
		back   uint32 // the target's own compact form
	}{
		{0, "0", 0},
		{0x01003456, "0", 0},
		{0x01123456, "12", 0x01120000},
		{0x02008000, "80", 0x02008000},
		{0x02123456, "1234", 0x02123400},
		{0x03123456, "123456", 0x03123456},
		{0x04123456, "12345600", 0x04123456},
		{0x05009234, "92340000", 0x05009234},
		{0x20123456, "1234560000000000000000000000000000000000000000000000000000000000", 0x20123456},
		{0x1d00ffff, "ffff0000000000000000000000000000000000000000000000000000", 0x1d00ffff},
		{0x04923456, "-12345600", 0},
	} {
		got := consensus.TargetOf(test.bits)
		if text := fmt.Sprintf("%x", got); text != test.target {
			t.Errorf("%08x stands for %s, want %s", test.bits, text, test.target)
		}
		if got.Sign() < 0 {
			continue
		}
		if back := consensus.TargetBits(got); back != test.back {
			t.Errorf("%x has the compact form %08x, want %08x", got, back, test.back)
		}
	}
}

// The compact form is that of the greatest target with as many first bytes.
func FuzzBits(f *testing.F) {
	f.Add([]byte{0x80})
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 32 {
			return
		}
		want := new(big.Int).SetBytes(raw)
		bits := consensus.TargetBits(want)
		got := consensus.TargetOf(bits)
		if got.Cmp(want) > 0 || got.Sign() < 0 || consensus.TargetBits(got) != bits {
			t.Errorf("%x: %08x stands for %x", want, bits, got)
		}
		if lost := new(big.Int).Sub(want, got); lost.BitLen() > max(want.BitLen()-15, 0) {
			t.Errorf("%x: %08x loses %x", want, bits, lost)
		}
	})
}

func TestMeets(t *testing.T) {
	limit := consensus.TargetOf(0x207fffff)
	at := chainhash.Hash{31: 0x12, 30: 0x34, 29: 0x56} // the target of 20123456
	above := at
	above[0] = 1
	below := at
	below[29]--
	for _, test := range []struct {
		name string
		hash chainhash.Hash
		bits uint32
		want bool
	}{
		{"at the target", at, 0x20123456, true},
		{"below it", below, 0x20123456, true},
		{"above it", above, 0x20123456, false},
		{"a target above the limit", below, 0x21008000, false},
		{"a target of zero", chainhash.Hash{}, 0, false},
		{"a negative target", chainhash.Hash{}, 0x20923456, false},
	} {
		if got := consensus.MeetsTarget(&test.hash, test.bits, limit); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestWork(t *testing.T) {
	for bits, want := range map[uint32]string{
		0: "0", 0x20923456: "0", 0x207fffff: "2", 0x1d00ffff: "100010001", 0x03000001: "8" + strings.Repeat("0", 63),
	} {
		if got := fmt.Sprintf("%x", consensus.TargetWork(bits)); got != want {
			t.Errorf("%08x: %s, want %s", bits, got, want)
		}
	}
}

// Targets and work agree with btcd's.
func FuzzWork(f *testing.F) {
	for _, bits := range []uint32{
		0, 1, 0x1d00ffff, 0x207fffff, 0x04923456, 0x03000001, 0x02008000, 0x01fedcba, 0xff123456,
	} {
		f.Add(bits)
	}
	f.Fuzz(func(t *testing.T, bits uint32) {
		if bits>>24 > 64 {
			return // btcd would make numbers of many bytes
		}
		if got, want := consensus.TargetOf(bits), blockchain.CompactToBig(bits); got.Cmp(want) != 0 {
			t.Errorf("target of %08x: %v, want %v", bits, got, want)
		}
		want := consensus.TargetOf(bits)
		if want.Sign() >= 0 && consensus.TargetBits(want) != blockchain.BigToCompact(want) {
			t.Errorf("%x: bits %08x, want %08x", want, consensus.TargetBits(want), blockchain.BigToCompact(want))
		}
		if got, want := consensus.TargetWork(bits), blockchain.CalcWork(bits); got.Cmp(want) != 0 {
			t.Errorf("work of %08x: %v, want %v", bits, got, want)
		}
	})
}

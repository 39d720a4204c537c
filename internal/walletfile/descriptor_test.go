package walletfile_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// parse reads a descriptor of one branch, with or without checksum.
func parse(tb testing.TB, text string) *descriptor.Descriptor {
	tb.Helper()
	parsed, err := descriptor.Parse(text, loadOptions.Network, descriptor.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return parsed[0]
}

// TestDescriptorID recomputes an id of a wallet of Core 30.2.
func TestDescriptorID(t *testing.T) {
	const text = "wpkh(tpubD6NzVbkrYhZ4XATjWt1tuXt8Vdryv54xcvoi5ekP3ZaAJA2a7iJcQs6qoe93VMD3Kb9x3okmKu2kYE5REXQoxa9XiRq" +
		"2emnomCeo8YL5AMH/84h/1h/0h/0/*)#pwf6xv08"
	id := walletfile.DescriptorID(parse(t, text))
	const want = "33c649bcd09203509ce8b90c2b8425140e0c04cf36710cb52a105a1b4bbcc67b"
	if got := hex.EncodeToString(id[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDescriptorIDOfLater computes ids of descriptors that only later versions
// of Core read, where no key keeps its own marker.
func TestDescriptorIDOfLater(t *testing.T) {
	const key = "tpubD6NzVbkrYhZ4XATjWt1tuXt8Vdryv54xcvoi5ekP3ZaAJA2a7iJcQs6qoe93VMD3Kb9x3okmKu2kYE5REXQoxa9XiRq2emnomCeo8YL5AMH"
	text := func(h string) string {
		return "tr([00112233/1" + h + "]" + key + "/2,and_v(v:pk(musig([00112233/3" + h + "]" + key + "/4,[00112233/5" + h + "]" +
			key + "/6)/0/*),pk([00112233/7" + h + "]" + key + "/8)))"
	}
	want := sha256.Sum256([]byte(descriptor.AddChecksum(text("'"))))
	for _, marker := range []string{"h", "'"} {
		if got := walletfile.DescriptorID(parse(t, text(marker))); [32]byte(got) != want {
			t.Errorf("marked with %s: got %x, want %x", marker, got[:], want)
		}
	}
}

func TestLocator(t *testing.T) {
	heights := func(tip int32) (visited []int32) {
		for _, hash := range walletfile.NewLocator(tip, func(height int32) chainhash.Hash {
			return chainhash.Hash{byte(height), byte(height >> 8), byte(height >> 16)}
		}) {
			visited = append(visited, int32(hash[0])|int32(hash[1])<<8|int32(hash[2])<<16)
		}
		return visited
	}
	tests := []struct {
		tip  int32
		want []int32
	}{
		{0, []int32{0}},
		{1, []int32{1, 0}},
		{504, []int32{
			504, 503, 502, 501, 500, 499, 498, 497, 496, 495, 494, 493, 491, 487, 479, 463, 431, 367, 239, 0,
		}},
	}
	for _, test := range tests {
		got := heights(test.tip)
		if len(got) != len(test.want) {
			t.Errorf("tip %d: got %v, want %v", test.tip, got, test.want)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("tip %d: got %v, want %v", test.tip, got, test.want)
				break
			}
		}
	}
}

func TestFlagNames(t *testing.T) {
	flags := walletfile.AvoidReuse | 1<<20 | walletfile.Descriptors
	got := flags.Names()
	if len(got) != 3 || got[0] != "avoid_reuse" || got[1] != "unknown_flag_20" || got[2] != "descriptor_wallet" {
		t.Errorf("got %q", got)
	}
	if !flags.Tolerable() || (flags | 1<<60).Tolerable() {
		t.Error("only unknown flags of the upper half cannot be tolerated")
	}
}

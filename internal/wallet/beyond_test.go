package wallet_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// aheadOf is a wallet's file with two descriptors: an active one for new addresses, and one with a range of its own.
func aheadOf(tb testing.TB, net *descriptor.Network, end, next int32) *walletfile.Wallet {
	tb.Helper()
	const xpub = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"
	content := &walletfile.Wallet{Active: make(map[walletfile.Slot]chainhash.Hash)}
	for i, text := range []string{"wpkh(" + xpub + "/0/*)", "pkh(" + xpub + "/1/*)"} {
		parsed, err := descriptor.Parse(text, net, descriptor.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		d := &walletfile.Descriptor{Parsed: parsed[0]}
		d.ID, d.RangeEnd, d.NextIndex = walletfile.DescriptorID(parsed[0]), end, next
		content.Descriptors = append(content.Descriptors, d)
		if i == 0 {
			content.Active[walletfile.Slot{Type: walletfile.Bech32}] = d.ID
		}
	}
	return content
}

// Payments beyond the reach of a restore are found, in whatever order they come.
func TestBeyond(t *testing.T) {
	net := regtest(t, "").Network
	r := rand.New(rand.NewPCG(5, 9))
	for range 60 {
		keyPool, end := int32(1+r.IntN(30)), int32(r.IntN(30))
		content := aheadOf(t, net, end, int32(r.IntN(int(end)+1)))
		var used [2][]int32
		for d := range used {
			for index := int32(r.IntN(60)); index < 1500 && r.IntN(6) > 0; index += 1 + int32(r.IntN(60)) {
				used[d] = append(used[d], index)
			}
		}
		want := messages.WalletBeyond{Known: true}
		paid := map[string]bool{}
		for d := range used {
			reach := end
			if d == 0 {
				reach = max(end, content.Descriptors[0].NextIndex+keyPool, keyPool)
			}
			before := int32(-1)
			for _, index := range used[d] {
				switch {
				case index < reach:
					reach = max(reach, index+1+keyPool)
				case index < reach+10*keyPool:
					want.Found, want.Gap = true, max(want.Gap, index-before)
				}
				before = index
				scripts, err := content.Descriptors[d].Parsed.Expand(uint32(index))
				if err != nil {
					t.Fatal(err)
				}
				paid[string(scripts[0])] = true
			}
		}
		b := wallet.NewBeyond(content, keyPool)
		for scripts := b.Next(t.Context()); len(scripts) > 0; scripts = b.Next(t.Context()) {
			r.Shuffle(len(scripts), func(i, j int) { scripts[i], scripts[j] = scripts[j], scripts[i] })
			for _, script := range scripts {
				if paid[string(script)] {
					b.Paid(slices.Clone(script))
				}
			}
		}
		if got := b.Result(); got != want {
			t.Fatalf("key pool %d, end %d, used %v: got %+v, want %+v", keyPool, end, used, got, want)
		}
	}
}

// Where not all can be looked at, nothing is said of there being no payments.
func TestBeyondUnknown(t *testing.T) {
	net := regtest(t, "").Network
	b := wallet.NewBeyond(aheadOf(t, net, 5, 0), 10)
	if got := b.Result(); got.Known {
		t.Errorf("known before anything was looked at: %+v", got)
	}
	b.Next(t.Context())
	b.Fail()
	for len(b.Next(t.Context())) > 0 {
	}
	if got := b.Result(); got.Known || got.Found {
		t.Errorf("known over a block that cannot be read: %+v", got)
	}
	if b := wallet.NewBeyond(aheadOf(t, net, 300_000, 0), 10); len(b.Next(t.Context())) > 0 || b.Result().Known {
		t.Error("more indices are looked for than there may be")
	}
}

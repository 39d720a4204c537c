package descriptor_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"
	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
)

// SpendingAt knows the scripts behind hashes, however deep they are, the outermost first.
func TestSpendingInner(t *testing.T) {
	for text, inner := range map[string][]string{
		"pk(X/0/*)":                      nil,
		"wpkh(X/0/*)":                    nil,
		"tr(X/0/*)":                      nil,
		"sh(pk(X/0/*))":                  {"pk(X/0/*)"},
		"wsh(multi(1,X/0/*,X/1/*))":      {"multi(1,X/0/*,X/1/*)"},
		"sh(wpkh(X/0/*))":                {"wpkh(X/0/*)"},
		"sh(wsh(pkh(X/0/*)))":            {"wsh(pkh(X/0/*))", "pkh(X/0/*)"},
		"combo(X/0/*)":                   {"wpkh(X/0/*)"},
		"combo(" + uncompressedKey + ")": nil,
		"raw(51)":                        nil,
		"addr(1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH)": nil,
	} {
		d := parse(t, strings.ReplaceAll(text, "X", testXpub), mainNet)
		got, err := d.SpendingAt(3)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if want, _ := d.Expand(3); !slices.EqualFunc(got.Scripts, want, bytes.Equal) {
			t.Errorf("%s: scripts %x", text, got.Scripts)
		}
		var want [][]byte
		for _, text := range inner {
			scripts, err := parse(t, strings.ReplaceAll(text, "X", testXpub), mainNet).Expand(3)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, scripts[0])
		}
		if !slices.EqualFunc(got.Inner, want, bytes.Equal) {
			t.Errorf("%s: inner scripts %x, want %x", text, got.Inner, want)
		}
		if (got.Taproot != nil) != strings.HasPrefix(text, "tr(") || got.Leaves != nil || got.Aggregates != nil {
			t.Errorf("%s: got %+v", text, got)
		}
		keys, err := d.KeysAt(3)
		if err != nil || len(got.Keys) != len(keys) {
			t.Errorf("%s: %d keys, %v, want %d", text, len(got.Keys), err, len(keys))
		}
	}
}

// Each leaf's control block proves that the output commits to the leaf (BIP341).
func TestSpendingTaproot(t *testing.T) {
	for text, leaves := range map[string][]string{
		"tr(X/0/*)":                       nil,
		"tr(X/0/*,pk(X/1/*))":             {"pk(X/1/*)"},
		"tr(X/0/*,{pk(X/1/*),pk(X/2/*)})": {"pk(X/1/*)", "pk(X/2/*)"},
		"tr(X/0/*,{{pk(X/4),pk(X/1/*)},{pk(X/2/*),{pk(X/7),pk(X/3/*)}}})": {
			"pk(X/4)", "pk(X/1/*)", "pk(X/2/*)", "pk(X/7)", "pk(X/3/*)",
		},
	} {
		d := parse(t, strings.ReplaceAll(text, "X", testXpub), mainNet)
		for index := range uint32(8) { // output keys of both signs
			s, err := d.SpendingAt(index)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(s.Taproot.Internal, s.Keys[0].PublicKey) || len(s.Taproot.Leaves) != len(leaves) {
				t.Fatalf("%s: internal key %x, %d leaves", text, s.Taproot.Internal, len(s.Taproot.Leaves))
			}
			for i, leaf := range s.Taproot.Leaves {
				control, err := txscript.ParseControlBlock(leaf.ControlBlock)
				if err != nil {
					t.Fatal(err)
				}
				if err := txscript.VerifyTaprootLeafCommitment(control, s.Scripts[0][2:], leaf.Script); err != nil {
					t.Errorf("%s at %d, leaf %d: %v", text, index, i, err)
				}
				if !bytes.Equal(control.RootHash(leaf.Script), s.Taproot.Root) {
					t.Errorf("%s at %d, leaf %d: another root", text, index, i)
				}
				key, err := parse(t, strings.ReplaceAll(leaves[i], "X", testXpub), mainNet).KeysAt(index)
				if want := slices.Concat([]byte{32}, key[0].PublicKey[1:], []byte{txscript.OP_CHECKSIG}); err != nil ||
					!bytes.Equal(leaf.Script, want) {
					t.Errorf("%s at %d, leaf %d: script %x, want %x", text, index, i, leaf.Script, want)
				}
			}
		}
	}
}

// The leaves of a P2MR output come from left to right, with what proves them.
func TestSpendingP2MR(t *testing.T) {
	text := "mr({{pk(" + p2mrKey0 + "),pk(" + p2mrKey1 + ")},multi_a(1," + p2mrKey1 + "," + p2mrKey0 + ")})"
	d := parse(t, text, p2mrRegtest)
	s, err := d.SpendingAt(0)
	if err != nil || len(s.Leaves) != 3 || len(s.Keys) != 0 {
		t.Fatalf("got %+v, %v", s, err)
	}
	scripts, _ := d.Expand(0)
	if !slices.EqualFunc(s.Scripts, scripts, bytes.Equal) {
		t.Errorf("scripts %x, want %x", s.Scripts, scripts)
	}
	for i, leaf := range s.Leaves {
		control, err := p2mr.ParseControlBlock(leaf.Control)
		if err != nil {
			t.Fatal(err)
		}
		if root, _ := control.Root(leaf.Script); !bytes.Equal(p2mr.OutputScript(root), scripts[0]) {
			t.Errorf("leaf %d is not proved", i)
		}
		key := []string{p2mrKey0, p2mrKey1, p2mrKey1}[i]
		if !strings.HasPrefix(hex.EncodeToString(leaf.Script[1:]), key) {
			t.Errorf("leaf %d: script %x", i, leaf.Script)
		}
	}
	ranged := parse(t, "mr(pk(pqc("+p2mrXprv+"/0/*)))", p2mrRegtest)
	if _, err := ranged.SpendingAt(descriptor.MaxIndex + 1); !errors.Is(err, descriptor.ErrNotDerivable) {
		t.Error("an index too high has a script")
	}
}

// Each musig() is told once, by the key that BIP327 aggregates of its participants in their order.
func TestSpendingAggregates(t *testing.T) {
	const one, two = "musig(X/1/*,X/0/*,K)", "musig(X/6,X/5)"
	text := "tr(" + one + ",{pk(" + two + "/7/*),{pk(" + one + "),pk(" + two + "/8)}})"
	text = strings.NewReplacer("X", testXpub, "K", testKey).Replace(text)
	s, err := parse(t, text, mainNet).SpendingAt(4)
	if err != nil || len(s.Aggregates) != 2 {
		t.Fatalf("got %+v, %v", s, err)
	}
	for i, participants := range [][]string{{"X/1/*", "X/0/*", "K"}, {"X/6", "X/5"}} {
		var keys []*btcec.PublicKey
		var want [][]byte
		for _, p := range participants {
			p = strings.NewReplacer("X", testXpub, "K", testKey).Replace(p)
			at, err := parse(t, "pk("+p+")", mainNet).KeysAt(4)
			if err != nil {
				t.Fatal(err)
			}
			key, err := btcec.ParsePubKey(at[0].PublicKey)
			if err != nil {
				t.Fatal(err)
			}
			keys, want = append(keys, key), append(want, at[0].PublicKey)
		}
		slices.SortFunc(want, bytes.Compare)
		aggregate, _, _, err := musig2.AggregateKeys(keys, true)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Aggregates[i]
		if !bytes.Equal(got.PublicKey, aggregate.FinalKey.SerializeCompressed()) ||
			!slices.EqualFunc(got.Participants, want, bytes.Equal) {
			t.Errorf("musig %d: got %x of %x", i, got.PublicKey, got.Participants)
		}
	}
	if code := descriptor.MusigChainCode(); hex.EncodeToString(code[:]) !=
		"868087ca02a6f974c4598924c36b57762d32cb45717167e300622c7167e38965" { // BIP328
		t.Errorf("chain code %x", code)
	}
}

// depth255 is an extended private key that has no children.
func depth255() string {
	raw := base58.Decode(testXprv)
	raw = raw[:len(raw)-4]
	raw[4] = 255
	return base58.CheckEncode(raw[1:], raw[0])
}

// Scripts, keys and what caches hold cannot be had behind hardened steps without the private key, nor below depth 255.
func TestNotThere(t *testing.T) {
	for text, want := range map[string]error{
		"wpkh(" + testXpub + "/1h/*)":                           descriptor.ErrNeedsPrivateKey,
		"wpkh(" + testXpub + "/*h)":                             descriptor.ErrNeedsPrivateKey,
		"sh(wsh(multi(1,KEY," + testXpub + "/1h)))":             descriptor.ErrNeedsPrivateKey,
		"tr(KEY,pk(" + testXpub + "/1h))":                       descriptor.ErrNeedsPrivateKey,
		"tr(musig(KEY," + testXpub + "/1h))":                    descriptor.ErrNeedsPrivateKey,
		"tr(musig(" + testXpub + "/2," + testXpub + "/1h)/0/*)": descriptor.ErrNeedsPrivateKey,
		"tr(musig(KEY," + testXpub + "/1h/*))":                  descriptor.ErrNeedsPrivateKey,
		"tr(musig(KEY," + testXpub + "/*h))":                    descriptor.ErrNeedsPrivateKey,
		"wpkh(" + depth255() + "/1/*)":                          descriptor.ErrNotDerivable,
		"wpkh(" + depth255() + "/*)":                            descriptor.ErrNotDerivable,
		"wpkh(" + depth255() + "/*h)":                           descriptor.ErrNotDerivable,
		"wpkh(" + depth255() + "/1)":                            descriptor.ErrNotDerivable,
		"tr(KEY,{pk(KEY),pk(" + depth255() + "/1)})":            descriptor.ErrNotDerivable,
	} {
		d := parse(t, strings.ReplaceAll(text, "KEY", testKey), mainNet)
		if _, err := d.Expand(2); !errors.Is(err, want) {
			t.Errorf("%s expands: %v", text, err)
		}
		if _, err := d.SpendingAt(2); !errors.Is(err, want) {
			t.Errorf("%s is spent: %v", text, err)
		}
		if _, err := d.Solve(2, []byte{0x51}); !errors.Is(err, want) {
			t.Errorf("%s is solved: %v", text, err)
		}
		if keys, err := d.KeysAt(2); !errors.Is(err, want) {
			t.Errorf("%s: keys %v, %v", text, keys, err)
		}
		visited := func(uint32, [][]byte) error { return errors.New("visited") }
		for _, workers := range []int{1, 2} {
			if err := d.ExpandRange(t.Context(), 0, 500, workers, visited); !errors.Is(err, want) {
				t.Errorf("%s as a range: %v", text, err)
			}
		}
		// A parent at depth 255 can be kept, though it has no children.
		entries, err := d.CacheEntries(0, 2)
		if kept := strings.HasSuffix(text, "/*)") && errors.Is(want, descriptor.ErrNotDerivable) &&
			!strings.Contains(text, "/1/"); kept {
			if err != nil || len(entries) != 1 {
				t.Errorf("%s: entries %v, %v", text, entries, err)
			}
		} else if !errors.Is(err, want) || entries != nil {
			t.Errorf("%s: entries %v, %v", text, entries, err)
		}
		for i := range d.PrivateKeysAt(2) {
			t.Errorf("%s has private key %d", text, i)
		}
	}
}

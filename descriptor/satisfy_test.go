package descriptor_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/descriptor"
)

// anySpender signs everything.
type anySpender struct{}

func (anySpender) Sign([]byte) []byte      { return make([]byte, 64) }
func (anySpender) PublicKey([]byte) []byte { return make([]byte, 33) }
func (anySpender) Older(uint32) bool       { return true }
func (anySpender) After(uint32) bool       { return true }

// FuzzSatisfy satisfies what may be no script at all.
func FuzzSatisfy(f *testing.F) {
	for _, seed := range []string{
		"21" + "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5" + "ad55b2",
		"20" + "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5" + "ac",
		"6376a914d1424033238d033bc70745c36304a3447041344e88ac6752b268", "",
	} {
		script, err := hex.DecodeString(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(script, false)
		f.Add(script, true)
	}
	f.Fuzz(func(t *testing.T, script []byte, tapscript bool) {
		witness, ok := descriptor.Satisfy(script, tapscript, anySpender{})
		if ok == (len(witness) == 0) {
			t.Errorf("%d items, %v", len(witness), ok)
		}
	})
}

// namedSpender signs with the keys that it has, by signatures whose first byte is the number of the key.
type namedSpender struct {
	keys     []string // names of keys whose private keys it has
	public   []string // of keys that it knows by their hashes
	age, now uint32
	secrets  map[string]string // preimages by function and hex of the digest
}

func (s namedSpender) Sign(public []byte) []byte {
	for i, name := range s.keys {
		if key, _ := hex.DecodeString(inferKeys.Replace(name)); bytes.Equal(key, public) {
			return slices.Concat([]byte{byte(i + 1)}, make([]byte, 63))
		}
	}
	return nil
}

func (s namedSpender) PublicKey(hash []byte) []byte {
	for _, name := range s.public {
		if key, _ := hex.DecodeString(inferKeys.Replace(name)); bytes.Equal(btcutil.Hash160(key), hash) {
			return key
		}
	}
	return nil
}

func (s namedSpender) Older(n uint32) bool { return n <= s.age }
func (s namedSpender) After(n uint32) bool { return n <= s.now }

// preimageSpender knows preimages besides.
type preimageSpender struct{ namedSpender }

func (s preimageSpender) Preimage(function string, digest []byte) []byte {
	secret, ok := s.secrets[function+hex.EncodeToString(digest)]
	if !ok {
		return nil
	}
	return []byte(secret)
}

// A script is satisfied by the smallest witness that its signer can make, and by none where something is missing.
func TestSatisfy(t *testing.T) {
	secret := strings.Repeat("s", 32)
	sum := sha256.Sum256([]byte(secret))
	digest := hex.EncodeToString(sum[:])
	knowing := map[string]string{"sha256" + digest: secret}
	wrong := map[string]string{"hash256" + digest: secret}
	for _, test := range []struct {
		text string
		tap  bool
		by   namedSpender
		want string // items of the witness: the numbers of keys that sign, names of public keys, "-" for nothing
	}{
		{"wsh(pk(A))", false, namedSpender{keys: []string{"A"}}, "1"},
		{"wsh(pk(A))", false, namedSpender{keys: []string{"B"}}, ""},
		{"wsh(multi(2,A,B,C))", false, namedSpender{keys: []string{"C", "A"}}, "- 2 1"},
		{"wsh(multi(2,A,B,C))", false, namedSpender{keys: []string{"C"}}, ""},
		{"wsh(and_v(v:pk(A),older(17)))", false, namedSpender{keys: []string{"A"}, age: 17}, "1"},
		{"wsh(and_v(v:pk(A),older(17)))", false, namedSpender{keys: []string{"A"}, age: 16, now: 99}, ""},
		{"wsh(and_v(v:pk(A),after(17)))", false, namedSpender{keys: []string{"A"}, now: 17}, "1"},
		{"wsh(and_v(v:pk(A),after(17)))", false, namedSpender{keys: []string{"A"}, now: 16, age: 99}, ""},
		{"wsh(or_d(pk(A),pkh(B)))", false, namedSpender{keys: []string{"A", "B"}, public: []string{"B"}}, "1"},
		{"wsh(or_d(pk(A),pkh(B)))", false, namedSpender{keys: []string{"B"}, public: []string{"B"}}, "1 B -"},
		{"wsh(or_d(pk(A),pkh(B)))", false, namedSpender{keys: []string{"B"}}, ""}, // the key is not known
		{"wsh(and_v(v:pk(A),sha256(H)))", false, namedSpender{keys: []string{"A"}, secrets: knowing}, "S 1"},
		{"wsh(and_v(v:pk(A),sha256(H)))", false, namedSpender{keys: []string{"A"}, secrets: wrong}, ""},
		{"wsh(and_v(v:pk(A),sha256(H)))", false, namedSpender{keys: []string{"A"}}, ""},
		{"tr(D,and_v(v:pk(A),older(17)))", true, namedSpender{keys: []string{"X"}, age: 17}, "1"},
		{"tr(D,and_v(v:pk(A),older(17)))", true, namedSpender{keys: []string{"A"}, age: 17}, ""}, // no x-only key
		{"tr(D,multi_a(1,A,B))", true, namedSpender{keys: []string{"Y"}}, "1 -"},
		{"tr(D,and_v(v:pk(A),pk(B)))", false, namedSpender{keys: []string{"X", "Y"}}, ""}, // no witness script
	} {
		d := parse(t, strings.ReplaceAll(inferKeys.Replace(test.text), "H", digest), regtest)
		s, err := d.SpendingAt(0)
		if err != nil {
			t.Fatal(err)
		}
		var code []byte
		if s.Taproot != nil {
			code = s.Taproot.Leaves[0].Script
		} else {
			code = s.Inner[0]
		}
		var by descriptor.Spender = test.by
		if test.by.secrets != nil {
			by = preimageSpender{test.by}
		}
		witness, ok := descriptor.Satisfy(code, test.tap, by)
		var got []string
		for _, item := range witness {
			switch {
			case len(item) == 0:
				got = append(got, "-")
			case len(item) == 64:
				got = append(got, string('0'+rune(item[0])))
			case string(item) == secret:
				got = append(got, "S")
			case hex.EncodeToString(item) == inferKeys.Replace("B"):
				got = append(got, "B")
			default:
				got = append(got, hex.EncodeToString(item))
			}
		}
		if strings.Join(got, " ") != test.want || ok != (test.want != "") {
			t.Errorf("%s by %v: got %q, %v, want %q", test.text, test.by.keys, got, ok, test.want)
		}
	}
}

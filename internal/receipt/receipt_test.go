package receipt_test

import (
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
)

func hashOf(n byte) chainhash.Hash { return chainhash.Hash{31: n} }

// made returns a receipt with all members.
func made() *receipt.Receipt {
	header := hashOf(3)
	r := &receipt.Receipt{
		Genesis: hashOf(1), From: 2, To: 9, Block: hashOf(2), FilterHeader: &header,
		Activity: &receipt.Activity{Entries: 3, Received: 1 << 60, Spent: 7},
	}
	r.SetDescriptors([]receipt.Descriptor{{Text: "raw(51)"}, {Text: "wpkh(é/*)", Ranged: true, Last: 9}})
	r.SetScripts(slices.Values([][]byte{{0x52}, {0x51}}))
	r.SetFound([]chainhash.Hash{hashOf(4), hashOf(5)})
	return r
}

func parse(tb testing.TB, text string) (*receipt.Receipt, receipt.Digest, error) {
	tb.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return receipt.Parse(v)
}

func TestText(t *testing.T) {
	zeros := strings.Repeat("0", 62)
	want := `{"activity":{"entries":3,"received":"1152921504606846976","spent":"7"},` +
		`"blockhash":"02` + zeros + `","blocks_found":2,` +
		`"blocks_found_digest":"FOUND","blocks_scanned":8,` +
		`"descriptors":[{"desc":"raw(51)"},{"desc":"wpkh(é/*)","range":[0,9]}],` +
		`"digest":"DIGEST","filter_header":"03` + zeros + `",` +
		`"from_height":2,"genesis":"01` + zeros + `","relevant_blocks":["04` + zeros + `","05` + zeros + `"],` +
		`"scripts":2,"scripts_digest":"SCRIPTS","to_height":9,"version":1}`
	r := made()
	want = strings.Replace(want, "FOUND", receipt.Digest(
		sha256.Sum256([]byte(`["04`+zeros+`","05`+zeros+`"]`))).String(), 1)
	a, b := sha256.Sum256([]byte{0x51}), sha256.Sum256([]byte{0x52})
	both := slices.Concat(a[:], b[:])
	if string(a[:]) > string(b[:]) {
		both = slices.Concat(b[:], a[:])
	}
	want = strings.Replace(want, "SCRIPTS", receipt.Digest(sha256.Sum256(both)).String(), 1)
	digest := receipt.Digest(sha256.Sum256([]byte(strings.Replace(want, `"digest":"DIGEST",`, "", 1))))
	want = strings.Replace(want, "DIGEST", digest.String(), 1)
	if got := string(r.AppendJSON(nil)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if r.Digest() != digest {
		t.Errorf("digest %v, want %v", r.Digest(), digest)
	}
	if none := sha256.Sum256([]byte("[]")); receipt.DigestBlocks(slices.Values([]chainhash.Hash(nil))) != none {
		t.Error("the digest of no blocks is not that of []")
	}
}

// A written receipt is read again, and says the same.
func TestReadAgain(t *testing.T) {
	few := made()
	few.Descriptors, few.FilterHeader, few.Activity = nil, nil, nil
	few.SetFound(nil)
	many := made()
	many.SetFound(make([]chainhash.Hash, receipt.MaxBlocks+1))
	for _, r := range []*receipt.Receipt{made(), few, many} {
		text := string(r.AppendJSON(nil))
		again, stated, err := parse(t, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if stated != r.Digest() || again.Digest() != stated || string(again.AppendJSON(nil)) != text {
			t.Errorf("%s\nagain %s", text, again.AppendJSON(nil))
		}
	}
	if many.Blocks != nil {
		t.Error("too many blocks are listed")
	}
	if few.Blocks == nil {
		t.Error("no blocks are not listed")
	}
}

// The order of scripts does not matter; each script does.
func TestScriptsDigest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var scripts [][]byte
	for i := range 50 {
		scripts = append(scripts, []byte{byte(i), byte(r.IntN(256))})
	}
	first, second := &receipt.Receipt{}, &receipt.Receipt{}
	first.SetScripts(slices.Values(scripts))
	r.Shuffle(len(scripts), func(i, j int) { scripts[i], scripts[j] = scripts[j], scripts[i] })
	second.SetScripts(slices.Values(scripts))
	if first.ScriptsDigest != second.ScriptsDigest || first.Scripts != 50 {
		t.Errorf("%+v, %+v", first, second)
	}
	second.SetScripts(slices.Values(scripts[1:]))
	if first.ScriptsDigest == second.ScriptsDigest {
		t.Error("a script less has the same digest")
	}
}

func TestMalformed(t *testing.T) {
	whole := string(made().AppendJSON(nil))
	for _, c := range [][2]string{
		{`"version":1`, `"version":2`},
		{`"version":1`, `"version":1,"more":0`},
		{`"version":1`, `"version":1,"version":1`},
		{`"version":1`, `"version":"1"`},
		{`"blocks_scanned":8`, `"blocks_scanned":7`},
		{`"to_height":9`, `"to_height":1`},
		{`"to_height":9`, `"to_height":2147483647`},
		{`"entries":3`, `"entries":-3`},
		{`"spent":"7"`, `"spent":"07"`},
		{`"spent":"7"`, `"spent":7`},
		{`"spent":"7"`, `"spent":"7","fees":0`},
		{`[0,9]`, `[9,0]`},
		{`[0,9]`, `[0,9,9]`},
		{`[0,9]`, `[0,2147483648]`},
		{`"desc":"raw(51)"`, `"desc":5`},
		{`{"desc":"raw(51)"}`, `"raw(51)"`},
		{`"blocks_found":2`, `"blocks_found":3`},
		{`"genesis":"01`, `"genesis":"0A`},
		{`"genesis":"01`, `"genesis":"1`},
		{`"scripts_digest":"`, `"scripts_digest":"A`},
		{`"relevant_blocks":["04`, `"relevant_blocks":["06`},
		{`"relevant_blocks":[`, `"relevant_blocks":[1,`},
		{`"digest":"`, `"digest":"00`},
	} {
		if !strings.Contains(whole, c[0]) {
			t.Errorf("%s is not there", c[0])
		}
		if _, _, err := parse(t, strings.Replace(whole, c[0], c[1], 1)); !errors.Is(err, receipt.ErrMalformed) {
			t.Errorf("%s: %v", c[1], err)
		}
	}
	// A digest may have no letters: as a number it is no text.
	digits := strings.Repeat("1", 64)
	number := strings.Replace(whole, `"scripts_digest":"`+made().ScriptsDigest.String()+`"`, `"scripts_digest":`+digits, 1)
	if _, _, err := parse(t, number); !errors.Is(err, receipt.ErrMalformed) || number == whole {
		t.Errorf("%s: %v", number, err)
	}
	for _, text := range []string{`null`, `[]`, `{}`, `"receipt"`} {
		if _, _, err := parse(t, text); !errors.Is(err, receipt.ErrMalformed) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A range has parts that follow each other, none of them too large; other descriptors have a single part.
func TestParts(t *testing.T) {
	const highest = 1<<31 - 1
	for _, c := range []struct {
		first, last uint32
		parts       int
	}{{0, 0, 1}, {5, 1_000_004, 1}, {5, 1_000_005, 2}, {0, 2_999_999, 3}, {0, highest, 2148}, {highest, highest, 1}} {
		d := receipt.Descriptor{Text: "wpkh(x/*)", Ranged: true, First: c.first, Last: c.last}
		next := uint64(c.first)
		parts := d.Parts(1_000_000)
		for _, part := range parts {
			if uint64(part.First) != next || part.Last-part.First >= 1_000_000 || part.Text != d.Text || !part.Ranged {
				t.Fatalf("%+v: part %+v", d, part)
			}
			next = uint64(part.Last) + 1
		}
		if len(parts) != c.parts || next != uint64(c.last)+1 {
			t.Errorf("%+v: %d parts up to %d", d, len(parts), next)
		}
		r := receipt.Receipt{Descriptors: []receipt.Descriptor{d, {Text: "raw(51)"}}}
		if n := r.Indices(); n != uint64(c.last-c.first)+2 {
			t.Errorf("%+v: %d indices", d, n)
		}
	}
	fixed := receipt.Descriptor{Text: "raw(51)"}
	if parts := fixed.Parts(1); len(parts) != 1 || parts[0] != fixed {
		t.Errorf("%+v", parts)
	}
}

// Each difference that a node may find is told, with its height.
func TestCompare(t *testing.T) {
	heightOf := func(hash chainhash.Hash) int32 {
		if hash == hashOf(99) {
			return -1
		}
		return int32(hash[31])
	}
	found := func(numbers ...byte) func(*receipt.Receipt) {
		return func(r *receipt.Receipt) {
			var blocks []chainhash.Hash
			for _, n := range numbers {
				blocks = append(blocks, hashOf(n))
			}
			r.SetFound(blocks)
		}
	}
	none := chainhash.Hash{}
	const amounts = "other amounts were received or spent"
	for name, c := range map[string]struct {
		edit   func(r *receipt.Receipt) // the stated receipt
		reason string
		height int32
	}{
		"other descriptors": {func(r *receipt.Receipt) { r.Descriptors = nil }, "", 0},
		"no header":         {func(r *receipt.Receipt) { r.FilterHeader = nil }, "", 0},
		"no activity":       {func(r *receipt.Receipt) { r.Activity = nil }, "", 0},
		"chain":             {func(r *receipt.Receipt) { r.Genesis = none }, receipt.WrongChain, -1},
		"scripts":           {func(r *receipt.Receipt) { r.Scripts++ }, "the descriptors have other scripts", -1},
		"digest of scripts": {
			func(r *receipt.Receipt) { r.ScriptsDigest[0]++ }, "the descriptors have other scripts", -1,
		},
		"from":          {func(r *receipt.Receipt) { r.From++ }, "other blocks were looked at", 9},
		"to":            {func(r *receipt.Receipt) { r.To-- }, "other blocks were looked at", 8},
		"block":         {func(r *receipt.Receipt) { r.Block = none }, "other blocks were looked at", 9},
		"header":        {func(r *receipt.Receipt) { r.FilterHeader = &none }, "the filter header is another", 9},
		"a block less":  {found(4), "a block is missing", 5},
		"a block more":  {found(4, 5, 7), "a block has nothing of the scripts", 7},
		"one between":   {found(4, 4, 5), "a block has nothing of the scripts", 4},
		"another block": {found(4, 6), "a block is missing", 5},
		"unknown block": {found(4, 5, 99), "a block is not known", -1},
		"none":          {found(), "a block is missing", 4},
		"a digest alone": {
			func(r *receipt.Receipt) { r.FoundDigest[0]++; r.Blocks = nil }, "other blocks were found", -1,
		},
		"other entries": {func(r *receipt.Receipt) { r.Activity.Entries++ }, amounts, -1},
		"received more": {func(r *receipt.Receipt) { r.Activity.Received++ }, amounts, -1},
		"spent less":    {func(r *receipt.Receipt) { r.Activity.Spent-- }, amounts, -1},
	} {
		stated := made()
		c.edit(stated)
		d := stated.Compare(made(), heightOf)
		if (d == nil) != (c.reason == "") || d != nil && (d.Reason != c.reason || d.Height != c.height) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// A receipt that was read is written with the same content, and its digest covers all members.
func FuzzParse(f *testing.F) {
	f.Add(made().AppendJSON(nil))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := jsontree.Parse(raw)
		if err != nil {
			return
		}
		r, stated, err := receipt.Parse(v)
		if err != nil {
			if !errors.Is(err, receipt.ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		was, err := v.AppendCanonical(nil)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		now := r.AppendJSON(nil)
		if (string(was) == string(now)) != (stated == r.Digest()) {
			t.Fatalf("%s was read as %s", was, now)
		}
	})
}

// Too many descriptors are not told.
func TestDescriptors(t *testing.T) {
	for n, told := range map[int]bool{receipt.MaxDescriptors: true, receipt.MaxDescriptors + 1: false} {
		r := &receipt.Receipt{}
		r.SetDescriptors(make([]receipt.Descriptor, n))
		if (len(r.Descriptors) == n) != told || !told && r.Descriptors != nil {
			t.Errorf("%d descriptors: %d are told", n, len(r.Descriptors))
		}
	}
}

// Digests of scripts may come twice, and in any order.
func TestScriptDigests(t *testing.T) {
	a, b := receipt.Digest{1}, receipt.Digest{0, 2}
	first, second := &receipt.Receipt{}, &receipt.Receipt{}
	first.SetScriptDigests([]receipt.Digest{a, b, a})
	second.SetScriptDigests([]receipt.Digest{b, a})
	if first.Scripts != 2 || first.Scripts != second.Scripts || first.ScriptsDigest != second.ScriptsDigest {
		t.Errorf("%+v, %+v", first, second)
	}
}

// Numbers have their bounds, and texts are Unicode.
func TestBounds(t *testing.T) {
	text := string(made().AppendJSON(nil))
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{`"scripts":2,`, `"scripts":2147483647,`, true},
		{`"scripts":2,`, `"scripts":2147483648,`, false},
		{`"blocks_found":2,`, `"blocks_found":2147483648,`, false},
		{`"to_height":9,`, `"to_height":2147483647,`, false},
		{`"entries":3,`, `"entries":9007199254740992,`, true},
		{`"entries":3,`, `"entries":9007199254740993,`, false},
		{`"desc":"raw(51)"`, `"desc":"\u00e9"`, true},
		{`"range":[0,9]`, `"range":[9,2147483647]`, true},
		{`"range":[0,9]`, `"range":[9,2147483648]`, false},
		{`"range":[0,9]`, `"range":[10,9]`, false},
	} {
		changed := strings.Replace(text, c.from, c.to, 1)
		if _, _, err := parse(t, changed); changed == text || (err == nil) != c.ok {
			t.Errorf("%s: %v", c.to, err)
		}
	}
	far := strings.NewReplacer(`"to_height":9,`, `"to_height":2147483647,`, `"blocks_scanned":8,`,
		`"blocks_scanned":2147483646,`).Replace(text)
	if _, _, err := parse(t, far); err == nil {
		t.Error("a height has no next one")
	}
	paid := made()
	paid.Activity.Spent = 98765432101
	if got := string(paid.AppendJSON(nil)); !strings.Contains(got, `"spent":"98765432101"`) {
		t.Error(got)
	}
	broken := jsontree.NewObject()
	whole, _ := jsontree.Parse([]byte(text))
	for key, member := range whole.Members() {
		if key == "descriptors" {
			one := jsontree.NewObject()
			one.Add("desc", jsontree.NewString("\xff"))
			member = jsontree.NewArray(one)
		}
		broken.Add(key, member)
	}
	if _, _, err := receipt.Parse(broken); !errors.Is(err, receipt.ErrMalformed) {
		t.Errorf("a text that is not Unicode: %v", err)
	}
	unlisted := made()
	unlisted.Blocks = nil
	text = string(unlisted.AppendJSON(nil))
	for found, ok := range map[string]bool{"2147483647": true, "2147483648": false} {
		changed := strings.Replace(text, `"blocks_found":2,`, `"blocks_found":`+found+`,`, 1)
		if _, _, err := parse(t, changed); (err == nil) != ok {
			t.Errorf("%s blocks: %v", found, err)
		}
	}
	most := strings.NewReplacer(
		`"from_height":2,`, `"from_height":2147483646,`, `"to_height":9,`, `"to_height":2147483646,`,
		`"blocks_scanned":8,`, `"blocks_scanned":1,`,
	).Replace(text)
	beyond := strings.ReplaceAll(most, "2147483646", "2147483647")
	if _, _, err := parse(t, most); err != nil {
		t.Error(err)
	}
	if _, _, err := parse(t, beyond); err == nil {
		t.Error("a height has no next one")
	}
}

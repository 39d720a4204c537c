package book_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

var net = descriptor.NetworkOf(&chaincfg.RegressionNetParams)

// repeat returns n bytes of one value after some others.
func repeat(value byte, n int, before ...byte) []byte {
	return append(before, bytes.Repeat([]byte{value}, n)...)
}

func TestDestination(t *testing.T) {
	restricted := *net
	restricted.Dialect, restricted.Restricted = descriptor.P2MR, true
	pubKeyHash := append(repeat(1, 20, 0x76, 0xa9, 20), 0x88, 0xac)
	for name, test := range map[string]struct {
		pkScript []byte
		net      *descriptor.Network
		want     book.Destination
		kind     string
	}{
		"pubkeyhash": {
			pubKeyHash,
			net, book.PubKeyHash + book.Destination(repeat(1, 20)), book.PubKeyHash,
		},
		"scripthash": {
			append(repeat(2, 20, 0xa9, 20), 0x87),
			net, book.ScriptHash + book.Destination(repeat(2, 20)), book.ScriptHash,
		},
		"witness key hash": {
			repeat(3, 20, 0, 20),
			net, book.WitnessKeyHash + book.Destination(repeat(3, 20)), book.WitnessKeyHash,
		},
		"witness script": {
			repeat(4, 32, 0, 32),
			net, book.WitnessScriptHash + book.Destination(repeat(4, 32)), book.WitnessScriptHash,
		},
		"taproot": {
			repeat(5, 32, 0x51, 32),
			net, book.Taproot + book.Destination(repeat(5, 32)), book.Taproot,
		},
		"anchor": {
			[]byte{0x51, 2, 0x4e, 0x73},
			net, book.Anchor + "\x4e\x73", book.Anchor,
		},
		"unknown witness": {
			repeat(6, 32, 0x52, 32),
			net, book.WitnessUnknown + "\x02" + book.Destination(repeat(6, 32)), book.WitnessUnknown,
		},
		"merkle root": {
			repeat(6, 32, 0x52, 32),
			&restricted, book.MerkleRoot + book.Destination(repeat(6, 32)), book.MerkleRoot,
		},
		"key":               {append(repeat(2, 33, 33), 0xac), net, "", ""},
		"nothing":           {nil, net, "", ""},
		"witness too short": {[]byte{0x52, 1, 1}, net, "", ""},
	} {
		got := book.DestinationOf(test.net, test.pkScript)
		if got != test.want || got.Kind() != test.kind {
			t.Errorf("%s: got %q of kind %q, want %q of kind %q", name, got, got.Kind(), test.want, test.kind)
		}
	}
}

// addresses are scripts that the model's book is about, in no order.
var addresses = func() (scripts [][]byte) {
	for i := range byte(6) {
		scripts = append(scripts, repeat(9-i, 20, 0, 20), append(repeat(i, 20, 0xa9, 20), 0x87))
	}
	return scripts
}()

// model is the slow form of a book: all that happened, looked through for each
// answer.
type model struct {
	labels, purposes map[string]string // by script
	paid, used       map[string]bool
}

func newModel() *model {
	return &model{
		labels: make(map[string]string), purposes: make(map[string]string),
		paid: make(map[string]bool), used: make(map[string]bool),
	}
}

// listed returns the addresses with a label in Core's order: by kind, then bytes.
func (m *model) listed(paidOnly bool) (texts []string) {
	sorted := slices.SortedFunc(slices.Values(addresses), func(a, b []byte) int {
		if a[0] != b[0] {
			return int(b[0]) - int(a[0]) // script hashes before witness key hashes
		}
		return bytes.Compare(a, b)
	})
	for _, pkScript := range sorted {
		if label, ok := m.labels[string(pkScript)]; ok && (!paidOnly || m.paid[string(pkScript)]) {
			text, _ := descriptor.AddressOf(pkScript, net)
			texts = append(texts, text+" "+label)
		}
	}
	return texts
}

// labelled returns the addresses with one label.
func (m *model) labelled(label string) (found []messages.LabelledAddress) {
	for _, line := range m.listed(false) {
		text, at, _ := strings.Cut(line, " ")
		if pkScript, err := descriptor.ScriptOfAddress(text, net); err == nil && at == label {
			found = append(found, messages.LabelledAddress{Address: text, Purpose: m.purposes[string(pkScript)]})
		}
	}
	return found
}

func texts(entries []*book.Entry) (texts []string) {
	for _, e := range entries {
		texts = append(texts, e.Address()+" "+e.Label())
	}
	return texts
}

// TestModel lets random things happen to a book, some of them before it was
// loaded, and compares all answers with the model's.
func TestModel(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 2))
		var log records.Log
		b, m := book.New(net, &log), newModel()
		load(b, m, random)
		for range 30 {
			step(t, b, m, random)
		}
		check(t, b, m)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// load fills a book from a file, with payments between the two steps of loading.
func load(b *book.Book, m *model, random *rand.Rand) {
	file := make(map[string]*walletfile.Address)
	for _, pkScript := range addresses {
		if random.IntN(3) > 0 {
			continue
		}
		label := string('a' + rune(random.IntN(3)))
		text, _ := descriptor.AddressOf(pkScript, net)
		file[text] = &walletfile.Address{Label: &label, Purpose: book.PurposeSend, Data: map[string]string{}}
		m.labels[string(pkScript)], m.purposes[string(pkScript)] = label, book.PurposeSend
		if random.IntN(2) == 0 {
			file[text].Data[walletfile.UsedName] = "1"
			m.used[string(pkScript)] = true
		}
	}
	b.Load(file)
	for i, pkScript := range addresses {
		if random.IntN(4) == 0 {
			b.MarkPaid(book.DestinationOf(net, pkScript), i+1)
			m.paid[string(pkScript)] = true
		}
	}
	b.EndLoading()
}

func step(t *testing.T, b *book.Book, m *model, random *rand.Rand) {
	t.Helper()
	number := random.IntN(len(addresses))
	pkScript := addresses[number]
	switch at := string(pkScript); random.IntN(3) {
	case 0:
		label := string('a' + rune(random.IntN(3)))
		purpose := []string{book.PurposeReceive, book.PurposeSend}[random.IntN(2)]
		b.SetLabel(pkScript, label, purpose)
		m.labels[at], m.purposes[at] = label, purpose
	case 1:
		b.MarkPaid(book.DestinationOf(net, pkScript), number+1)
		m.paid[at] = true
	case 2:
		if fresh := b.MarkUsed(pkScript); fresh == m.used[at] {
			t.Errorf("marked as used: got %v, want %v", fresh, !m.used[at])
		}
		m.used[at] = true
	}
}

func check(t *testing.T, b *book.Book, m *model) {
	t.Helper()
	if err := b.Verify(); err != nil {
		t.Error(err)
	}
	if got, want := texts(b.Labelled()), m.listed(false); !slices.Equal(got, want) {
		t.Errorf("with a label: got %q, want %q", got, want)
	}
	if got, want := texts(b.Paid()), m.listed(true); !slices.Equal(got, want) {
		t.Errorf("paid: got %q, want %q", got, want)
	}
	for i, pkScript := range addresses {
		want := 0
		if m.paid[string(pkScript)] {
			want = i + 1
		}
		if e := b.Find(book.DestinationOf(net, pkScript)); e != nil && e.Payee() != want {
			t.Errorf("payee of %x: got %d, want %d", pkScript, e.Payee(), want)
		}
	}
	byPurpose := map[string]map[string]bool{"": {}, book.PurposeReceive: {}, book.PurposeSend: {}}
	for _, pkScript := range addresses {
		d := book.DestinationOf(net, pkScript)
		label, ok := m.labels[string(pkScript)]
		if got := b.Label(d); (got != nil) != ok || ok && *got != label {
			t.Errorf("label of %x: got %v, want %v %q", pkScript, got, ok, label)
		}
		if e := b.Find(d); (e != nil) != ok || ok && !bytes.Equal(e.Script(), pkScript) {
			t.Errorf("entry of %x: got %v, want %v", pkScript, e, ok)
		}
		if got, want := b.Used(d), m.used[string(pkScript)]; got != want {
			t.Errorf("%x was used: got %v, want %v", pkScript, got, want)
		}
		if ok {
			byPurpose[""][label] = true
			byPurpose[m.purposes[string(pkScript)]][label] = true
		}
	}
	for purpose, want := range byPurpose {
		got := b.Labels(purpose)
		if len(got) != len(want) || !slices.IsSorted(got) {
			t.Errorf("labels of %q: got %q, want %v", purpose, got, want)
		}
		for _, label := range got {
			found, err := b.AddressesByLabel(label)
			if !want[label] || err != nil || !slices.Equal(found, m.labelled(label)) {
				t.Errorf("label %q of %q: %v, %v, want %v", label, purpose, found, err, m.labelled(label))
			}
		}
	}
}

func TestChanges(t *testing.T) {
	var log records.Log
	b := book.New(net, &log)
	text, _ := descriptor.AddressOf(addresses[0], net)
	b.SetLabel(addresses[0], "a", book.PurposeReceive)
	b.MarkUsed(addresses[0])
	b.MarkUsed(addresses[0])
	b.MarkPaid(book.DestinationOf(net, addresses[0]), 1)
	var got, want []string
	for _, c := range log.Take() {
		got = append(got, fmt.Sprintf("%x %x", c.Key, c.Value))
	}
	for _, e := range []walletfile.Entry{
		walletfile.Purpose{Address: text, Purpose: book.PurposeReceive},
		walletfile.Name{Address: text, Label: "a"},
		walletfile.DestData{Address: text, Name: walletfile.UsedName, Text: "1"},
	} {
		want = append(want, fmt.Sprintf("%x %x", e.Key(), e.Value()))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Texts that are no address share one entry, and scripts without an address are never
// paid.
func TestNoAddress(t *testing.T) {
	var log records.Log
	b := book.New(net, &log)
	label := "x"
	b.Load(map[string]*walletfile.Address{"no address": {Label: &label}, "another one": {Label: &label}})
	b.MarkPaid("", 1)
	b.EndLoading()
	if got := texts(b.Labelled()); !slices.Equal(got, []string{" x"}) || len(b.Paid()) > 0 || b.Used("") {
		t.Errorf("got %q, paid %q", got, texts(b.Paid()))
	}
	if e := b.Find(""); e == nil || e.Script() != nil {
		t.Errorf("entry without address: %v", e)
	}
}

// A network that does not have a type of addresses leaves them out, and tells.
func TestSkipped(t *testing.T) {
	qbit, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	had := *qbit.Descriptors()
	had.Restricted = false
	legacy, ok := descriptor.AddressOf(slices.Concat(
		[]byte{txscript.OP_DUP, txscript.OP_HASH160, txscript.OP_DATA_20}, make([]byte, 20),
		[]byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG}), &had)
	if !ok {
		t.Fatal("no address")
	}
	b := book.New(qbit.Descriptors(), new(records.Log))
	label := "x"
	b.Load(map[string]*walletfile.Address{legacy: {Label: &label}, "none": {Label: &label}})
	b.EndLoading()
	if got := b.Skipped(); !slices.Equal(got, []string{"none", legacy}) || b.Len() > 0 || len(b.Labels("")) > 0 {
		t.Errorf("skipped %q, %d entries, labels %q", got, b.Len(), b.Labels(""))
	}
}

// If two texts are one entry, the later record of the file decides: records are in the
// order of their lengths first.
func TestLoadOrder(t *testing.T) {
	for _, later := range []string{"aaa", "zzz", "zza"} {
		first, last := "of the first", "of the last"
		b := book.New(net, new(records.Log))
		b.Load(map[string]*walletfile.Address{
			"zz": {Label: &first}, "aa0": {Label: &first}, later: {Label: &last, Purpose: "unheard of"},
		})
		b.EndLoading()
		if got := b.Label(""); got == nil || *got != last {
			t.Errorf("%s: label %v, want %q", later, got, last)
		}
		found, err := b.AddressesByLabel(last)
		if err != nil || len(found) != 1 || found[0].Purpose != "unknown" {
			t.Errorf("%s: %v, %v", later, found, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	b := book.New(net, new(records.Log))
	for label, want := range map[string]messages.WalletError{
		"*": {Code: codes.Label, Text: "Invalid label name"},
		"a": {Code: codes.Label, Text: "No addresses with label a"},
	} {
		_, err := b.AddressesByLabel(label)
		var got *messages.WalletError
		if !errors.As(err, &got) || got.Code != want.Code || got.Text != want.Text {
			t.Errorf("%q: got %v, want %v", label, err, want)
		}
	}
	if err := book.CheckLabel("a"); err != nil {
		t.Error(err)
	}
}

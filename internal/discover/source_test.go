package discover_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/discover"
	"github.com/seed61375155/trawl/messages"
)

// keys are keys of the words on regtest, by their paths.
type keys struct{ net *descriptor.Network }

func (k keys) at(path ...uint32) (private, public string) {
	seed := []byte("a seed of sixteen or more bytes")
	root, scalar, _ := descriptor.Master(seed)
	child, secret, _ := descriptor.DeriveXPrv(&root, &scalar, path)
	return string(descriptor.EncodeXPrv(child, &secret, k.net)), descriptor.EncodeXPub(child, k.net)
}

// first returns the descriptors of the first pass.
func first(t *testing.T, net *dialect.Network, q messages.DiscoverAccounts) (texts []string, s *discover.Search) {
	t.Helper()
	s, err := discover.New(net, &q, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(goesOn); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Result(nil, q.Private).Chains {
		text := c.Desc
		if q.Private {
			text = string(c.PrivateDesc)
		}
		body, _, _ := strings.Cut(text, "#")
		texts = append(texts, body)
	}
	return texts, s
}

const hard = 1 << 31

func TestSources(t *testing.T) {
	net := regtest(t)
	k := keys{net.Descriptors()}
	master, masterPublic := k.at()
	purpose, purposePublic := k.at(84 | hard)
	coin, coinPublic := k.at(84|hard, 1|hard)
	account, public := k.at(84|hard, 1|hard, 3|hard)
	other, _ := k.at(5 | hard)
	_, taproot := k.at(86|hard, 1|hard, 0|hard)
	_, wpkh0 := k.at(84|hard, 1|hard, 0|hard)
	_, pkh1 := k.at(44|hard, 1|hard, 1|hard)
	root, _, _ := descriptor.Master([]byte("a seed of sixteen or more bytes"))
	fp := strings.Trim(descriptor.KeyOrigin(&root, nil), "[]")
	allForms := func(key string) (all []string) {
		for _, f := range []string{"pkh(%s)", "sh(wpkh(%s))", "wpkh(%s)", "tr(%s)"} {
			all = append(all, fmt.Sprintf(f, key+"/0/*"), fmt.Sprintf(f, key+"/1/*"))
		}
		return all
	}
	for _, test := range []struct {
		name, source string
		private      bool
		count        int      // of descriptors
		has          []string // some of them
	}{
		{"a master key", " " + master + "\n", false, 2 * 4 * 20, []string{
			"wpkh([" + fp + "/84h/1h/0h]" + wpkh0 + "/1/*)", "pkh([" + fp + "/44h/1h/1h]" + pkh1 + "/0/*)",
			"tr([" + fp + "/86h/1h/0h]" + taproot + "/0/*)",
		}},
		{"with private keys", master, true, 2 * 4 * 20, []string{
			"wpkh(" + master + "/84h/1h/0h/1/*)", "sh(wpkh(" + master + "/49h/1h/19h/0/*))",
		}},
		{"a master key with an empty origin", "[" + fp + "]" + master, false, 2 * 4 * 20, []string{
			"wpkh([" + fp + "/84h/1h/0h]" + wpkh0 + "/1/*)",
		}},
		{"the key of a purpose, by its own step", purpose, false, 2 * 20, []string{
			"wpkh([" + fp + "/84h/1h/0h]" + wpkh0 + "/1/*)",
		}},
		{"the key of a purpose", "[" + fp + "/84']" + purpose, true, 2 * 20, []string{
			"wpkh([" + fp + "/84']" + purpose + "/1h/2h/1/*)",
		}},
		{"the key of a coin", "[" + fp + "/84h/1h]" + coin, false, 2 * 20, []string{
			"wpkh([" + fp + "/84h/1h/0h]" + wpkh0 + "/0/*)",
		}},
		{"the public key of an account", public, false, 8, allForms(public)},
		{"its private key", account, true, 8, allForms(account)},
		{"with its origin", "[" + fp + "/84h/1h/3h]" + public, false, 8, allForms("[" + fp + "/84h/1h/3h]" + public)},
		{"a public key that is no standard's", masterPublic, false, 8, allForms(masterPublic)},
		{"a private key that is no standard's", other, true, 8, allForms(other)},
		{"a descriptor, with its change", "wsh(sortedmulti(1," + public + "/0/*," + wpkh0 + "/0/*))", false, 2, []string{
			"wsh(sortedmulti(1," + public + "/0/*," + wpkh0 + "/0/*))",
			"wsh(sortedmulti(1," + public + "/1/*," + wpkh0 + "/1/*))",
		}},
		{"a descriptor of both chains", descriptor.AddChecksum("wpkh(" + public + "/<0;1>/*)"), false, 2, []string{
			"wpkh(" + public + "/0/*)", "wpkh(" + public + "/1/*)",
		}},
		{"a descriptor of one chain", "wpkh(" + public + "/7/*)", false, 1, []string{"wpkh(" + public + "/7/*)"}},
		{"a private descriptor", "wpkh(" + account + "/0/*)", true, 2, []string{
			"wpkh(" + account + "/0/*)", "wpkh(" + account + "/1/*)",
		}},
		{"a descriptor of an account", "tr(" + master + "/86h/1h/4h/1/*)", false, 2 * 20, []string{
			"tr([" + fp + "/86h/1h/0h]" + taproot + "/0/*)", "tr([" + fp + "/86h/1h/0h]" + taproot + "/1/*)",
		}},
		{"of a later account", "tr(" + master + "/86'/1'/30'/<0;1>/*)", true, 2 * 31, []string{
			"tr(" + master + "/86h/1h/30h/0/*)",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, s := first(t, net, messages.DiscoverAccounts{
				Source: []byte(test.source), Private: test.private, Gap: 2,
			})
			if len(got) != test.count {
				t.Errorf("%d descriptors, want %d", len(got), test.count)
			}
			for _, text := range test.has {
				if !slices.Contains(got, text) {
					t.Errorf("no descriptor %s of %s", text, strings.Join(got[:min(len(got), 8)], "\n"))
				}
			}
			for _, c := range s.Result(nil, false).Chains {
				if !c.Derivable || c.Gap != 2 || c.PrivateDesc != nil || strings.Contains(c.Desc, "prv") {
					t.Errorf("%+v", c)
				}
			}
			s.Wipe()
		})
	}
	for _, refused := range []struct{ source, passphrase, text string }{
		{"", "", "An extended key, a descriptor or words are needed"},
		{"xyz", "", "An extended key of this network, a descriptor or words are needed"},
		{master[:100], "", "An extended key of this network, a descriptor or words are needed"},
		{master + "/84h", "", "An extended key of this network, a descriptor or words are needed"},
		{master, "x", "A passphrase goes with words alone"},
		{purposePublic, "", "The key is above those of accounts, which cannot be derived without its private key"},
		{coinPublic, "", "The key is above those of accounts, which cannot be derived without its private key"},
		{coin, "", "It is not known which accounts are below the key: give its origin, as [d34db33f/84h/1h]"},
		{"[" + fp + "/84h/1h/0h/0]" + public, "", "The key is below those of accounts: give a descriptor with it, as wpkh(KEY/*)"},
		{"[" + fp + "/4294967296]" + public, "", "The origin of the key is not valid"},
		{"zoo zoo zoo", "", "12, 15, 18, 21 or 24 words are needed, not 3"},
		{strings.Replace(words, "about", "abot", 1), "", "Word 12 is not in the English list of BIP39"},
		{"wpkh(" + public + ")", "", "The descriptor has no wildcard"},
		{"wpkh(" + account + "x/0/*)", "", "The descriptor is not valid. The reason is not shown: it has a key"},
		{"wpkh(" + public + "/0h/*)", "", "The descriptor cannot be derived without private keys"},
		{"wpkh(", "", "'wpkh(' is not a valid descriptor function"},
	} {
		_, err := discover.New(net, &messages.DiscoverAccounts{
			Source: []byte(refused.source), Passphrase: []byte(refused.passphrase),
		}, 0)
		source, ok := errors.AsType[*messages.DiscoverySourceError](err)
		if !ok || source.Text != refused.text {
			t.Errorf("%s: got %v, want %s", refused.source, err, refused.text)
		}
	}
	for _, q := range []messages.DiscoverAccounts{{Gap: -1}, {AccountGap: discover.MaxAccountGap + 1}} {
		q.Source = []byte(public)
		if _, err := discover.New(net, &q, 0); err == nil {
			t.Errorf("%+v is taken", q)
		}
	}
}

// The words of BIP84 and BIP86 have the addresses that these publish.
func TestPublishedAddresses(t *testing.T) {
	net, err := dialect.Bitcoin("main")
	if err != nil {
		t.Fatal(err)
	}
	s, err := discover.New(net, &messages.DiscoverAccounts{Source: []byte(words)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(goesOn); err != nil {
		t.Fatal(err)
	}
	addresses := map[string]bool{}
	for _, c := range s.Result(nil, false).Chains {
		branches, err := descriptor.Parse(c.Desc, net.Descriptors(), descriptor.Options{RequireChecksum: true})
		if err != nil {
			t.Fatal(err)
		}
		err = branches[0].ExpandRange(context.Background(), 0, 1, 1, func(_ uint32, scripts [][]byte) error {
			address, _ := descriptor.AddressOf(scripts[0], net.Descriptors())
			addresses[address] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range []string{
		"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g",
		"bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el",
		"bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
		"bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh",
		"bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7",
	} {
		if !addresses[address] {
			t.Errorf("%s is not looked for", address)
		}
	}
}

// Keys that take milliseconds are derived from private keys alone, and with a smaller gap.
func TestSlowKeys(t *testing.T) {
	net, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	const master = "qrpvV1brS3WRoVwgTRUmDuJCX1t2rjaSWyE4sXWNuUs4ajSe8CP4YJjStqVvs59dz8bJLEyaG8CJ8g3kD1jBk3sN73ovK4vkkenmvpX4D8SJoP1"
	got, s := first(t, net, messages.DiscoverAccounts{Source: []byte(master), Private: true, AccountGap: 3})
	if want := "mr(pk(pqc(" + master + "/87h/1h/0h/0/*)))"; len(got) != 6 || got[0] != want {
		t.Errorf("got %q, want %s first", got, want)
	}
	for _, c := range s.Result(nil, false).Chains {
		if c.Derivable || c.Gap != 20 || c.PrivateDesc != nil || strings.Contains(c.Desc, "prv") {
			t.Errorf("%+v", c)
		}
	}
	q := messages.DiscoverAccounts{Source: []byte("mr(pk(pqc(" + master + "/0/*)))"), Private: true}
	given, _ := first(t, net, q)
	if len(given) != 2 || given[1] != "mr(pk(pqc("+master+"/1/*)))" {
		t.Errorf("got %q", given)
	}
	s, err = discover.New(net, &messages.DiscoverAccounts{Source: []byte(given[0])}, 0)
	if err != nil {
		t.Fatal(err)
	}
	spans, err := s.Next(goesOn)
	if err != nil || len(spans) != 2 || spans[0].From != 0 || spans[0].To != 19 {
		t.Errorf("got %+v, %v", spans, err)
	}
	own, err := descriptor.Parse(got[0], net.Descriptors(), descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	public := own[0].ExtendedKeys()[0]
	text := descriptor.EncodeXPub(public, net.Descriptors())
	_, err = discover.New(net, &messages.DiscoverAccounts{Source: []byte(text)}, 0)
	if err == nil || !strings.Contains(err.Error(), "A private key is needed") {
		t.Errorf("got %v", err)
	}
}

// A key of an account tells its purpose and number by its origin, if that is a standard path.
func TestAccountsOfKeys(t *testing.T) {
	net := regtest(t)
	_, public := keys{net.Descriptors()}.at(84|hard, 1|hard, 3|hard)
	for origin, want := range map[string][2]int32{
		"": {-1, -1}, "[d34db33f/84h/1h/3h]": {84, 3}, "[d34db33f/5h/1h/4h]": {-1, 4}, "[d34db33f/86h/1h/3]": {86, -1},
		"[d34db33f]": {-1, -1}, "[d34db33f/7h]": {-1, -1},
	} {
		s, err := discover.New(net, &messages.DiscoverAccounts{Source: []byte(origin + public), Gap: 3}, 0)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(1)
		branches := mustParse(t, net, "sh(wpkh("+public+"/1/*))")
		scripts, err := branches.Expand(2)
		if err != nil {
			t.Fatal(err)
		}
		w.pay(0, scripts[0], 1, nil)
		run(t, s, w)
		found := s.Result(nil, false).Accounts
		if len(found) != 1 || found[0].Purpose != want[0] || found[0].Number != want[1] || s.Used() != 1 {
			t.Errorf("%s: %+v", origin, found)
		}
		if c := found[0].Chains; c[0].Change || !c[1].Change || c[1].LastIndex != 5 || c[0].LastIndex != 2 {
			t.Errorf("%s: %+v", origin, c)
		}
	}
}

// A search that is wiped has no private key.
func TestWipe(t *testing.T) {
	net := regtest(t)
	k := keys{net.Descriptors()}
	private, _ := k.at(84|hard, 1|hard, 3|hard)
	for _, source := range []string{private, words, "wpkh(" + private + "/0/*)", "wpkh(" + private + "/0/*h)"} {
		given := []byte(source)
		q := messages.DiscoverAccounts{Source: given, Private: true, Gap: 2, AccountGap: 2}
		s, err := discover.New(net, &q, 0)
		if err != nil {
			t.Fatal(err)
		}
		clear(given) // nothing of it is kept
		spans, err := s.Next(goesOn)
		if err != nil {
			t.Fatal(err)
		}
		before := s.Result(nil, true).Chains
		for _, c := range before {
			if !strings.Contains(string(c.PrivateDesc), "prv") {
				t.Errorf("%+v has no private key", c)
			}
		}
		if !s.HasPrivateKeys() {
			t.Error("there are private keys")
		}
		s.Wipe()
		for i, c := range s.Result(nil, true).Chains {
			if string(c.PrivateDesc) == string(before[i].PrivateDesc) {
				t.Errorf("%s has the key yet", c.PrivateDesc)
			}
		}
		for _, span := range spans {
			for key := range slices.Values(span.PrivateKeys()) {
				if key.Scalar != [32]byte{} {
					t.Errorf("%s derives with a private key yet", span.Descriptor)
				}
			}
		}
	}
}

// A source from anyone is looked for, or refused with an error that has no key.
func FuzzSource(f *testing.F) {
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		f.Fatal(err)
	}
	private, public := keys{net.Descriptors()}.at(84|hard, 1|hard, 3|hard)
	for _, seed := range []string{
		words, private, public, "[d34db33f/84h/1h/3h]" + public, "wpkh(" + private + "/0/*)", "tr(" + private + "/86h/1h/4h/1/*)",
		"sh(wsh(multi(1," + public + "/0/*)))#xxxxxxxx", "wpkh(" + private + "/<0;1;2>/*h)", "combo(" + public + "/*)", "[]", "((",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		q := messages.DiscoverAccounts{Source: []byte(source), Gap: 1, AccountGap: 1, Private: true}
		s, err := discover.New(net, &q, 1000)
		if err != nil {
			if strings.Contains(err.Error(), private[4:40]) {
				t.Errorf("the error %q has a key", err)
			}
			return
		}
		if _, err := s.Next(goesOn); err != nil {
			return
		}
		for _, c := range s.Result(nil, true).Chains {
			if strings.Contains(c.Desc, "prv") {
				t.Errorf("%s has a private key", c.Desc)
			}
		}
	})
}

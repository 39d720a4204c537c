package keys

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// slowRig makes a new wallet of a network whose keys are all slow, from a seed.
func slowRig(t *testing.T, keyPool int32) *rig {
	t.Helper()
	qbit, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	r := rigOf(Params{Network: qbit.Descriptors(), Kinds: qbit.Wallet(), CoinType: 1, KeyPool: keyPool}, true)
	seed := walletfile.NewSecret(bytes.Repeat([]byte{3}, 32))
	if err := r.importer.SetupWithKeys(t.Context(), seed, 5); err != nil {
		t.Fatal(err)
	}
	r.set.ChooseDefaultTypes()
	return r
}

// countRecords counts the records of a type among the changes.
func countRecords(r *rig, kind string) (n int) {
	for _, c := range r.log.Take() {
		if bytes.HasPrefix(c.Key, walletfile.KeyPrefix(kind)) && !c.Delete {
			n++
		}
	}
	return n
}

// A new wallet of slow keys has a few of them at once, and the others in steps. Each
// key is written once, however often it is supplied.
func TestDeferred(t *testing.T) {
	const pool = warmPool + 2
	r := slowRig(t, pool)
	if n := countRecords(r, "walletdescriptorpqckey"); n != 2*warmPool {
		t.Errorf("%d keys at once, want %d", n, 2*warmPool)
	}
	receiving, change := r.set.PoolSizes()
	if receiving != warmPool || change != warmPool || !r.pool.Deferring() || r.pool.Wanting() {
		t.Errorf("%d and %d addresses, deferring %v, wanting %v", receiving, change, r.pool.Deferring(), r.pool.Wanting())
	}
	if !r.pool.FillDeferred() || !r.pool.Wanting() || len(r.pool.Jobs(0)) != 0 {
		t.Error("the rest is not wanted")
	}
	jobs := r.pool.Jobs(3)
	if len(jobs) != 2 || jobs[0].Size() != 2 || jobs[1].Size() != 1 {
		t.Fatalf("%d jobs", len(jobs))
	}
	batch, err := jobs[0].Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again, err := jobs[0].Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.log.Take()
	if err := r.pool.Supply(batch); err != nil || !bytes.Equal(batch.keys[0].Secret, make([]byte, 64)) {
		t.Errorf("supply: %v, or the keys are not wiped", err)
	}
	if n := countRecords(r, "walletdescriptorpqckey"); n != 2 {
		t.Errorf("%d keys written, want 2", n)
	}
	if err := r.pool.Supply(again); err != nil || len(r.log.Take()) > 0 {
		t.Errorf("supplied again: %v", err)
	}
	if receiving, change := r.set.PoolSizes(); receiving != pool || change != warmPool || !r.pool.Deferring() {
		t.Errorf("%d and %d addresses, deferring %v", receiving, change, r.pool.Deferring())
	}
	supply(t, r, r.pool.Jobs(100))
	if r.pool.Deferring() || r.pool.Wanting() || r.pool.FillDeferred() {
		t.Error("a full pool wants more")
	}
}

// A wallet that has used up its addresses wants the next key, and reports this.
func TestWantAddress(t *testing.T) {
	r := slowRig(t, 1)
	request := messages.NewAddress{}
	if r.pool.WantAddress(request) {
		t.Error("a key is missing that is there")
	}
	if _, err := r.pool.NewAddress(request); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pool.NewAddress(request); err == nil || !strings.Contains(err.Error(), "Keypool ran out") {
		t.Errorf("without a key: %v", err)
	}
	for kind, want := range map[string]bool{"p2mr": true, "bech32": false, "x": false} {
		if got := r.pool.WantAddress(messages.NewAddress{Type: kind, HasType: true}); got != want {
			t.Errorf("the key of a %s address is missing: %v, want %v", kind, got, want)
		}
	}
	jobs := r.pool.Jobs(100)
	if len(jobs) != 1 || jobs[0].Size() != 1 {
		t.Errorf("the client waits for keys of %d descriptors", len(jobs))
	}
	supply(t, r, jobs)
	if _, err := r.pool.NewAddress(request); err != nil {
		t.Errorf("with the next key: %v", err)
	}
}

// Descriptors that look as if addresses could be derived from them are not shown with
// their scripts; others are.
func TestParents(t *testing.T) {
	r := slowRig(t, 1)
	for _, pkScript := range r.owned {
		if parents := r.set.Parents(pkScript); parents == nil || len(parents) > 0 {
			t.Errorf("%q is shown", parents)
		}
		if info := r.set.AddressInfo(pkScript); !info.IsMine || info.ParentDesc != "" {
			t.Errorf("%q is shown", info.ParentDesc)
		}
	}
	list, err := r.set.ListDescriptors(false)
	if err != nil || len(list) != 2 || !list[0].NotExported {
		t.Errorf("%+v, %v", list, err)
	}
	bitcoin := setUp(t, true)
	if list, err = bitcoin.set.ListDescriptors(false); err != nil || list[0].NotExported {
		t.Errorf("%+v, %v", list, err)
	}
	for _, pkScript := range bitcoin.owned[:3] {
		if parents := bitcoin.set.Parents(pkScript); len(parents) != 1 ||
			bitcoin.set.AddressInfo(pkScript).ParentDesc != parents[0] {
			t.Errorf("of %q", parents)
		}
	}
	if parents := bitcoin.set.Parents([]byte{1}); parents == nil || len(parents) > 0 {
		t.Errorf("a script of nobody is of %q", parents)
	}
}

// Without an active descriptor for receiving addresses, the default type of requests may
// be a type that the network does not have.
func TestDefaultTypeThatThereIsNot(t *testing.T) {
	r := slowRig(t, 1)
	delete(r.set.active, walletfile.Slot{Type: walletfile.MerkleRoot})
	r.set.ChooseDefaultTypes()
	_, err := r.pool.NewAddress(messages.NewAddress{Change: true})
	checkText(t, "change", err, "Output type 'bech32' is not available on this chain")
	if _, err := r.pool.NewAddress(messages.NewAddress{Change: true, Type: "p2mr", HasType: true}); err != nil {
		t.Error(err)
	}
	const receiving = "address type 'p2mr' is not available in this wallet"
	_, err = r.pool.NewAddress(messages.NewAddress{Type: "p2mr", HasType: true})
	checkText(t, "receiving", err, "Error: This wallet has no available keys")
	r.set.params.Kinds.Types = append(r.set.params.Kinds.Types, dialect.BitcoinWallet().Types...)
	r.set.active[walletfile.Slot{Type: walletfile.Legacy}] = r.set.active[walletfile.Slot{
		Type: walletfile.MerkleRoot, Internal: true,
	}]
	_, err = r.pool.NewAddress(messages.NewAddress{Type: "p2mr", HasType: true})
	checkText(t, "receiving beside another type", err, receiving)
}

// A payment may name a type for change that the wallet has no descriptor for: on chains of
// P2MR outputs that is refused at once.
func TestCheckChangeType(t *testing.T) {
	r := slowRig(t, 1)
	for name, want := range map[string]string{
		"": "", "p2mr": "", "x": "", "bech32": "change type 'bech32' is not available in this wallet",
	} {
		checkText(t, name, r.set.CheckChangeType(name), want)
	}
	checkText(t, "Bitcoin", setUp(t, true).set.CheckChangeType("p2mr"), "")
}

// As long as the rules do not protect P2MR outputs, a network that has no others gives out no address.
func TestBeforeP2MR(t *testing.T) {
	r := slowRig(t, 8)
	r.set.params.Kinds.MerkleRoots = 5
	const refused = "P2MR wallet outputs are unavailable before activation height 5 (current wallet height: 4)"
	for _, test := range []struct {
		height int32
		want   string
	}{{4, refused}, {5, ""}, {6, ""}, {4, refused}} {
		r.height = test.height
		for name, request := range map[string]messages.NewAddress{
			"receiving": {}, "named": {Type: "p2mr", HasType: true}, "change": {Change: true},
		} {
			_, err := r.pool.NewAddress(request)
			checkText(t, name, err, test.want)
		}
		script, err := r.pool.NextChange("p2mr")
		checkText(t, "change of a payment", err, test.want)
		if script != nil && !r.pool.TakeChange("p2mr", script) {
			t.Error("the address for change was not given out")
		}
	}
	r.height = 5
	script, err := r.pool.NextChange("p2mr")
	r.height = 4
	if err != nil || r.pool.TakeChange("p2mr", script) {
		t.Error("an address was given out after the chain went back", err)
	}
}

// Few indices are derived by the wallet itself, and many are left to it too.
func TestScriptJobs(t *testing.T) {
	for _, test := range []struct {
		first, last uint32
		left        int64
		want        bool
	}{
		{0, fewIndices - 1, maxExpanded, false},
		{0, fewIndices, maxExpanded, true},
		{7, 7 + fewIndices, maxExpanded, true},
		{8, 7 + fewIndices, maxExpanded, false},
		{0, 99, 100, true},
		{0, 100, 100, false},
		{0, 1_000_000, maxExpanded, false}, // one more than the longest range
		{0, 999_999, maxExpanded, true},
	} {
		jobs := scriptJobs{left: test.left}
		jobs.add(&Job{first: test.first, last: test.last})
		if got := len(jobs.jobs) == 1; got != test.want {
			t.Errorf("%d to %d of %d: %v, want %v", test.first, test.last, test.left, got, test.want)
		}
		if taken := test.left - jobs.left; test.want && taken != int64(test.last-test.first)+1 {
			t.Errorf("%d to %d takes %d indices", test.first, test.last, taken)
		}
	}
}

// The extended keys of a new wallet are one, that all its active descriptors have.
func TestHDKeys(t *testing.T) {
	r := setUp(t, true)
	r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum("wpkh(" + expandingXprv + "/9/*)")})
	for _, activeOnly := range []bool{false, true} {
		keys, err := r.set.HDKeys(activeOnly, true)
		want := 2
		if activeOnly {
			want = 1
		}
		if err != nil || len(keys) != want {
			t.Fatalf("active only %v: %d keys, %v", activeOnly, len(keys), err)
		}
		uses := 0
		for _, key := range keys {
			if !key.HasPrivate || len(key.XPrv) == 0 {
				t.Errorf("active only %v: %s without its private key", activeOnly, key.XPub)
			}
			for _, use := range key.Descriptors {
				uses++
				if use.Active != (len(key.Descriptors) == 8) {
					t.Errorf("active only %v: %s is active: %v", activeOnly, use.Desc, use.Active)
				}
			}
		}
		if uses != want+7 {
			t.Errorf("active only %v: %d uses, want %d", activeOnly, uses, want+7)
		}
	}
	r.vault.Encrypt(walletfile.MasterKey{ID: 1}, walletfile.NewSecret(make([]byte, 32)))
	r.vault.Lock()
	if _, err := r.set.HDKeys(false, true); err == nil {
		t.Error("a locked wallet shows private keys")
	}
	if _, err := r.set.ListDescriptors(true); err == nil {
		t.Error("a locked wallet shows private descriptors")
	}
	if keys, err := r.set.HDKeys(false, false); err != nil || len(keys) != 2 || len(keys[0].XPrv) > 0 {
		t.Errorf("public keys: %v", err)
	}
}

// Change goes where payments go, as the reference's does: also to P2MR where a wallet has several types.
func TestChangeTypeOfMixedWallets(t *testing.T) {
	r := slowRig(t, 1)
	script := func(version, size byte) []byte { return append([]byte{version, size}, make([]byte, size)...) }
	merkle, key, taproot := script(0x52, 32), script(0, 20), script(0x51, 32)
	check := func(what, want string, payments ...[]byte) {
		t.Helper()
		if got := r.set.ChangeType(payments); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	own := r.set.active[walletfile.Slot{Type: walletfile.MerkleRoot, Internal: true}]
	r.set.active[walletfile.Slot{Type: walletfile.Bech32, Internal: true}] = own
	check("on a chain of P2MR alone", "p2mr", key)
	r.set.params.Kinds.OnlySlowKeys = false
	check("beside a payment to P2MR", "p2mr", merkle)
	check("beside one to a key", "bech32", merkle, key)
	check("beside one to P2TR", "p2mr", taproot)
	r.set.defaultType = walletfile.Bech32
	check("by default", "bech32")
	r.set.active[walletfile.Slot{Type: walletfile.Bech32m, Internal: true}] = own
	check("with P2TR", "bech32m")
	check("with P2TR, beside a payment to P2MR", "p2mr", merkle)
	delete(r.set.active, walletfile.Slot{Type: walletfile.Bech32m, Internal: true})
	delete(r.set.active, walletfile.Slot{Type: walletfile.Bech32, Internal: true})
	check("without another", "p2mr")
}

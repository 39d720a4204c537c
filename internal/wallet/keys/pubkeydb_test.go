package keys

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/messages"
)

// payments is a [Payments] of some scripts.
type payments map[string]bool

func (p payments) PaysTo(pkScript []byte) bool { return p[string(pkScript)] }

// TestPubKeys gives out imported keys: in their order, none twice, none that was
// paid to.
func TestPubKeys(t *testing.T) {
	p := testParams()
	qbit, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	p.Network, p.Kinds = qbit.Descriptors(), qbit.Wallet()
	r := rigOf(p, false)
	paid := payments{}
	keys := NewPubKeys(r.pool, paid)
	item := func(n byte, index int64) messages.PubKeyItem {
		return messages.PubKeyItem{Key: slhdsa.PublicKey{n}, Index: &index, Text: strconv.Itoa(int(n))}
	}
	request := messages.ImportPubKeys{Timestamp: 7, Entries: []messages.PubKeyItem{item(1, 4), item(2, 2), item(3, 9)}}
	done, err := keys.Import(request, 50)
	if err != nil || done.Changed != 3 || !done.Rescan || done.From != 7 {
		t.Fatal(done, err)
	}
	if done, err := keys.Import(request, 50); err != nil || done.Changed != 0 || done.Rescan {
		t.Errorf("the same again: %+v, %v", done, err)
	}
	for at, want := range map[int64]int64{-5: 1, 0: 1, 1: 1, 2: 2, messages.NowTimestamp: 50} {
		if done, err := keys.Import(messages.ImportPubKeys{Timestamp: at}, 50); err != nil || done.From != want {
			t.Errorf("keys of the time %d are from %d, %v, want %d", at, done.From, err, want)
		}
	}
	paid[string(pubKeyScript(slhdsa.PublicKey{1}))] = true
	pools := keys.Pools()
	if len(pools) != 1 || pools[0].Next != 2 || pools[0].Highest != 9 || pools[0].Remaining != 2 {
		t.Errorf("pools %+v", pools)
	}
	for _, want := range []struct {
		key       byte
		remaining int
	}{{2, 1}, {3, 0}} {
		got, err := keys.Next(messages.NextPubKey{})
		if err != nil || got.Key != (slhdsa.PublicKey{want.key}) || got.Remaining != want.remaining {
			t.Errorf("got %+v, %v, want key %d", got, err, want.key)
		}
	}
	refusals := []struct {
		err  error
		text string
	}{
		{errorOf(keys.Next(messages.NextPubKey{})), "Error: Imported pubkey pool exhausted for account=0 internal=0"},
		{
			errorOf(keys.Next(messages.NextPubKey{Internal: true})),
			"No imported pubkey pool is available for account=0 internal=1",
		},
		{errorOf(keys.Next(messages.NextPubKey{Account: -1})), "Account must be non-negative"},
		{
			errorOf(keys.Import(messages.ImportPubKeys{Entries: []messages.PubKeyItem{item(1, 5)}}, 50)),
			"Pubkey 1 already mapped to account=0 internal=0 index=4",
		},
		{
			errorOf(keys.Import(messages.ImportPubKeys{Entries: []messages.PubKeyItem{item(7, 4)}}, 50)),
			"Pubkeydb pool account=0 internal=0 index=4 already assigned to another pubkey",
		},
	}
	for _, refusal := range refusals {
		var refused *messages.WalletError
		if !errors.As(refusal.err, &refused) || refused.Text != refusal.text {
			t.Errorf("got %v, want %s", refusal.err, refusal.text)
		}
	}
	if got := keys.Export(); len(got) != 3 || *got[0].Index != 4 || got[0].Key != (slhdsa.PublicKey{1}) {
		t.Errorf("exported %+v", got)
	}
	if keys.CheckImport() != nil || NewPubKeys(rigOf(p, true).pool, paid).CheckImport() == nil {
		t.Error("a wallet with private keys takes public ones, or one without does not")
	}
}

func errorOf[T any](_ T, err error) error { return err }

// The place of a key is read off the path of a standard descriptor alone.
func TestPathPlace(t *testing.T) {
	qbit, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	key, _, _ := descriptor.Master(make([]byte, 32))
	xpub := descriptor.EncodeXPub(key, qbit.Descriptors())
	for path, want := range map[string]string{
		"/87h/1h/0h/0/*": "0 false -", "/87h/1h/5h/1/*": "5 true -", "/87h/1h/0h/0/7": "0 false 7",
		"/87h/1h/0h/0/0": "0 false 0",
		"/86h/1h/0h/0/*": "", "/87h/1h/0h/2/*": "", "/87h/1h/0/0/*": "", "/87h/1/0h/0/*": "", "/87h/1h/0h/0": "",
		"/87h/1h/0h/0/1/*": "",
	} {
		branches, err := descriptor.Parse("mr(pk(pqc("+xpub+path+")))", qbit.Descriptors(), descriptor.Options{})
		if err != nil {
			t.Fatal(path, err)
		}
		place, got := pathPlace(branches[0]), ""
		if place.Account != nil {
			got = fmt.Sprintf("%d %v -", *place.Account, *place.Change)
		}
		if place.Index != nil {
			got = fmt.Sprintf("%d %v %d", *place.Account, *place.Change, *place.Index)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

package descriptor_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

// Prepare makes derivation faster and changes no result: scripts, public and private keys of all branches are the
// same. The private keys are gone after Wipe.
func TestPrepare(t *testing.T) {
	for _, text := range []string{
		"wpkh(K/84h/1h/0h/0/*)", "wpkh(K/1h/*h)", "pkh(K)", "pkh(K/7)", "sh(wpkh(K/<0;1>/*))", "wpkh(K/<2h;3>/5/*h)",
		"wsh(multi(2,K/4/*,K/5h/*))", "tr(K/12/*,{pk(K/13/*),multi_a(1,K/14/*,K/15h/*h)})",
	} {
		text = strings.ReplaceAll(text, "K", testXprv)
		var branches [2][]*descriptor.Descriptor
		for i := range branches {
			var err error
			if branches[i], err = descriptor.Parse(text, mainNet, descriptor.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		plain, fast := branches[0], branches[1]
		for branch := range plain {
			fast[branch].Prepare()
			fast[branch].Prepare() // once more changes nothing
			for _, index := range []uint32{0, 1, 99} {
				want, err := plain[branch].SpendingAt(index)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := fast[branch].SpendingAt(index); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s, branch %d, index %d: %v", text, branch, index, err)
				}
				keys := plain[branch].PrivateKeysAt(index)
				if got := fast[branch].PrivateKeysAt(index); len(keys) == 0 || !reflect.DeepEqual(got, keys) {
					t.Errorf("%s, branch %d, index %d: other private keys", text, branch, index)
				}
			}
		}
		secrets := fast[0].PrivateKeysAt(3)
		fast[0].Wipe()
		for branch, d := range fast {
			for i, key := range d.PrivateKeysAt(3) {
				if branch == 0 && key == secrets[i] {
					t.Errorf("%s: a private key is there yet", text)
				}
			}
		}
	}
}

package descriptor_test

import (
	"encoding/hex"
	"testing"

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

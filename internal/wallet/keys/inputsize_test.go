package keys

import (
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/messages"
)

// Signatures that are made elsewhere may be a byte longer: of an input with one key that
// is one byte of witness, or one of the script.
func TestInputSizeOfForeignSignatures(t *testing.T) {
	for text, want := range map[string]int{
		"wpkh(" + expandingXpub + "/0/*)": 1,
		"pkh(" + expandingXpub + "/0/*)":  4,
		"tr(" + expandingXpub + "/0/*)":   0,
	} {
		r := rigOf(testParams(), false)
		r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum(text), Range: &[2]int64{0, 2}, Timestamp: 50})
		for _, script := range expandOf(t, text, 2) {
			own, ok := r.set.InputSize(script, false)
			foreign, known := r.set.InputSize(script, true)
			if got := foreign.Of(true, 4) - own.Of(true, 4); !ok || !known || got != want {
				t.Errorf("%s: %d more, want %d", text, got, want)
			}
		}
	}
}

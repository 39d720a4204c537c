package messages_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/messages"
)

// A person is told when the state of a key changes, and reminded at round counts from then on.
func TestPQCWarnings(t *testing.T) {
	const (
		limit    = messages.PQCSignatureLimit
		warning  = limit / 4
		critical = limit - 1<<24
	)
	for name, test := range map[string]struct {
		before, made uint32
		want         string // after the key
	}{
		"far":            {0, 1, ""},
		"before warning": {warning - 2, warning - 1, ""},
		"warning": {
			warning - 1, warning,
			"entered warning usage range (268435456 of 1073741824 signatures used, 805306368 remaining)",
		},
		"warned":          {warning, warning + 1, ""},
		"before reminder": {warning + 1<<24 - 2, warning + 1<<24 - 1, ""},
		"reminder": {
			warning + 1<<24 - 1, warning + 1<<24 + 1,
			"remains in warning usage range (285212673 of 1073741824 signatures used, 788529151 remaining)",
		},
		"critical": {
			critical - 1, critical + 1,
			"entered critical usage range (1056964609 of 1073741824 signatures used, 16777215 remaining)",
		},
		"reminder of critical": {
			critical + 1<<20 - 1, critical + 1<<20,
			"remains in critical usage range (1058013184 of 1073741824 signatures used, 15728640 remaining)",
		},
		"exhausted": {
			limit - 1, limit, "reached the signature limit (1073741824 of 1073741824 signatures used, 0 remaining). " +
				"Rotate to a new key/address.",
		},
		"exhausted before": {limit, limit, ""},
	} {
		want := test.want
		if want != "" {
			want = "PQC key 01" + strings.Repeat("00", 31) + " " + want
		}
		use := messages.PQCUse{PublicKey: [32]byte{1}, Before: test.before, Made: test.made}
		if got := use.Warning(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

package rawtxrpc_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// A key without the form of a key is shown as empty, as in Core; a key with the form
// is shown although it is no point of the curve.
func TestMalformedMusigKeys(t *testing.T) {
	const (
		key  = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
		psbt = "cHNidP8BADwCAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAIhoCeb5mfvncu" +
			"6xVoGKVzocLBwKb/NstzijZWfKBWxb4F5hjBQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAnm+Zn753LusVaBilc6HCwcCm/" +
			"zbLc4o2VnygVsW+BeYAv//////////////////////////////////////////IhoFAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEhA" +
			"nm+Zn753LusVaBilc6HCwcCm/zbLc4o2VnygVsW+BeYACIIAnm+Zn753LusVaBilc6HCwcCm/" +
			"zbLc4o2VnygVsW+BeYQgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAJ5vmZ++dy7rFWgYpXOhwsHApv82y3OKNlZ8oFbFvgXmAA="
		want = `"inputs":[{"musig2_participant_pubkeys":[` +
			`{"aggregate_pubkey":"` + key + `","participant_pubkeys":["","` + key + `","02ffffffffffffffffffffffffffffffffff` +
			`ffffffffffffffffffffffffffffff"]},` +
			`{"aggregate_pubkey":"","participant_pubkeys":["` + key + `"]}]}],` +
			`"outputs":[{"musig2_participant_pubkeys":[{"aggregate_pubkey":"` + key + `","participant_pubkeys":["","` + key + `"]}]}]`
	)
	got, fault := call(t, rig(t, "regtest", false), "decodepsbt", jsontree.NewArray(jsontree.NewString(psbt)))
	if fault != "null" || !strings.Contains(got, want) {
		t.Errorf("got %s, %s", got, fault)
	}
}

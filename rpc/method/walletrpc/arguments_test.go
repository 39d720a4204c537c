package walletrpc_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// recordedFault is a call that Bitcoin Core 30.2 refused for its arguments, for
// the wallet's name or for the wallet's state. The nodes had the wallets w1 (not
// encrypted), enc (locked) and watch (without private keys), and no block but
// the first. Of a help text only the first line is kept.
type recordedFault struct {
	Wallet *string
	Method string
	Params json.RawMessage
	Error  struct {
		Code    int
		Message string
	}
}

// TestRefused replays them. No wallet is asked to do anything.
func TestRefused(t *testing.T) {
	r := newRig(t)
	r.load("w1", plain)
	r.load("enc", locked)
	r.load("watch", watching)
	answerNothingLoading(r)
	for _, c := range readLines[recordedFault](t, "testdata/arguments.jsonl.gz") {
		var got struct {
			Code    int
			Message string
		}
		if err := json.Unmarshal([]byte(r.call(c.Wallet, c.Method, string(c.Params))), &got); err != nil {
			t.Fatal(err)
		}
		if first, rest, _ := strings.Cut(got.Message, "\n"); rest != "" && strings.HasPrefix(first, c.Method) {
			got.Message = first
		}
		if got != c.Error {
			path := "no path"
			if c.Wallet != nil {
				path = *c.Wallet
			}
			t.Errorf(
				"%s: %s %s\ngot  %d %s\nwant %d %s", path, c.Method, c.Params, got.Code, got.Message, c.Error.Code,
				c.Error.Message,
			)
		}
	}
}

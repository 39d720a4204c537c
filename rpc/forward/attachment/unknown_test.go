package attachment

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// A chain is known when it was followed, now or by an earlier start; before that the words say
// what is missing.
func TestWhyUnknown(t *testing.T) {
	const reason = "getblockchaininfo: Bitcoin Core does not answer: connection refused"
	for _, test := range []struct {
		phase  messages.AttachPhase
		height int32
		reason string
		want   string // empty: it is known
	}{
		{messages.AttachStarting, 0, "", "Nothing is known of Bitcoin Core's chain yet: it is about to be asked"},
		{messages.AttachAway, 0, reason, "Nothing is known of Bitcoin Core's chain yet: " + reason},
		{messages.AttachOther, 0, "another chain", "Nothing is known of Bitcoin Core's chain yet: another chain"},
		{messages.AttachHeaders, 0, "", "The headers of Bitcoin Core's chain are fetched for the first time"},
		{messages.AttachFollowing, 0, "", ""},
		{messages.AttachHolding, 0, "behind", ""},
		{messages.AttachStarting, 1, "", ""},
		{messages.AttachAway, 1, reason, ""},
		{messages.AttachHeaders, 1, "", ""},
	} {
		s := messages.AttachState{Phase: test.phase, Reason: test.reason, Tip: messages.BlockID{Height: test.height}}
		err := whyUnknown(&s)
		refusal, _ := errors.AsType[command.Error](err)
		right := err == nil
		if test.want != "" {
			right = refusal.Code == command.InWarmup && strings.Contains(refusal.Message, test.want)
		}
		if !right {
			t.Errorf("%s at %d: %v, want %q", test.phase, test.height, err, test.want)
		}
	}
}

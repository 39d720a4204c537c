package walletrpc_test

import (
	"testing"

	"github.com/seed61375155/trawl/messages"
)

func TestDocumented(t *testing.T) {
	if err := newRig(t).table.Check(); err != nil {
		t.Error(err)
	}
}

// answerNothingLoading says that no wallet is being loaded.
func answerNothingLoading(r *rig) {
	answer(r.registry, func(messages.GetLoading) ([]messages.WalletLoading, error) { return nil, nil })
	answer(r.registry, func(messages.AbortRestore) (bool, error) { return false, nil })
}

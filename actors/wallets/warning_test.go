package wallets_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// The operator is told of a wallet that cannot be written, while it lasts.
func TestFaultsAreWarnedOf(t *testing.T) {
	var full atomic.Bool
	r := small(t, setup{fail: func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	}})
	hearer := r.sys.Probe("hearer")
	r.sys.Spawn("listener", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				r.warned.Subscribe(c)
			case nodemsg.WarningChanged:
				hearer.Tell(m)
			}
		})
	})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	last := "nothing yet"
	heard := func(want string) {
		t.Helper()
		got := actortest.Expect[nodemsg.WarningChanged](hearer)
		for got.Text != want && got.Text == last {
			got = actortest.Expect[nodemsg.WarningChanged](hearer) // said again
		}
		if got.Of != `wallet "w"` || got.Text != want {
			t.Errorf("heard %+v, want %q", got, want)
		}
		last = want
	}
	full.Store(true)
	if _, err := try(t, ref, messages.NewAddress{}); err == nil {
		t.Fatal("an address cannot be on disk")
	}
	// SQLite has a name for errors of its own only.
	heard(`Wallet "w" could not be written to disk: unknown error. It is only read until it can be.`)
	full.Store(false)
	read(t, ref, messages.NewAddress{})
	heard("")
	if err := os.RemoveAll(filepath.Join(r.dir, "w")); err != nil {
		t.Fatal(err)
	}
	if _, err := try(t, ref, messages.NewAddress{}); err == nil {
		t.Fatal("an address cannot be on disk")
	}
	heard(`The file of wallet "w" was moved or deleted while the wallet was loaded. ` +
		"Save the wallet to another place with backupwallet before it is unloaded or the node stops.")
	read(t, ref, messages.GetWalletInfo{})
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	heard("")
}

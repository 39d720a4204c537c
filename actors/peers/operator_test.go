package peers_test

import (
	"errors"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// The tables have every address at its places, and tell who sent it.
func TestAddressTables(t *testing.T) {
	n := start(t)
	must(t, n, messages.AddPeerAddress{Host: "1.2.3.4", Port: 8333, Tried: true})
	must(t, n, messages.AddPeerAddress{Host: "1.0.0.0", Port: 18444})
	got := must(t, n, messages.GetAddressTables{})
	if len(got.New) != 1 || len(got.Tried) != 1 {
		t.Fatalf("got %+v", got)
	}
	fresh, tried := got.New[0], got.Tried[0]
	if fresh.Host != "1.0.0.0" || fresh.Port != 18444 || fresh.Source != "1.0.0.0" || fresh.SourceNetwork != "ipv4" ||
		fresh.Tried || fresh.Services == 0 || fresh.Seen.IsZero() {
		t.Errorf("new: %+v", fresh)
	}
	if tried.Host != "1.2.3.4" || !tried.Tried || tried.Bucket >= 256 || tried.Position >= 64 {
		t.Errorf("tried: %+v", tried)
	}
	again := must(t, n, messages.GetAddressTables{})
	if again.New[0] != fresh || again.Tried[0] != tried {
		t.Errorf("other places: %+v", again)
	}
}

// A message that the operator sends a peer arrives unchanged.
func TestSendToPeer(t *testing.T) {
	n := start(t)
	r, _ := connect(t, n)
	id := must(t, n, messages.GetPeers{})[0].ID
	hash := chainhash.Hash{1, 2, 3}
	inv := append([]byte{1, 1, 0, 0, 0}, hash[:]...)
	n.eventually(t, "the handshake is done", func([]messages.PeerInfo) bool {
		_, err := ask.Ask(t.Context(), n.Ref, messages.SendToPeer{ID: id, Command: "inv", Payload: inv})
		return err == nil
	})
	for {
		select {
		case m := <-r.inbox:
			if got, ok := m.Message.(*wire.MsgInv); ok {
				if got.InvList[0].Hash != hash {
					t.Errorf("got %v", got.InvList[0])
				}
				_, err := ask.Ask(t.Context(), n.Ref, messages.SendToPeer{ID: id + 1, Command: "ping"})
				if !errors.Is(err, messages.ErrPeerNotFound) {
					t.Errorf("nobody: %v", err)
				}
				return
			}
		case <-time.After(patience):
			t.Fatal("nothing came")
		}
	}
}

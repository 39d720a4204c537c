package trawl_test

import (
	"errors"
	"testing"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
)

// expect returns the next news of a type, whatever comes before.
func expect[N messages.News](t *testing.T, s messages.Subscription) (news N) {
	t.Helper()
	for last := uint64(0); ; {
		e, err := s.Next(t.Context())
		if err != nil {
			t.Fatalf("%T: %v", news, err)
		}
		if e.ID <= last {
			t.Errorf("event %d after %d", e.ID, last)
		}
		last = e.ID
		if news, ok := e.News.(N); ok {
			return news
		}
	}
}

// Subscribers receive events of each kind.
func TestSubscribe(t *testing.T) {
	first, second := follower(t), follower(t)
	at := freeAddress(t)
	first.BlockFilterIndex, first.Wallets = true, &trawl.WalletConfig{KeyPool: 1}
	first.Peers = &trawl.PeerConfig{Bind: []string{at}, MaxPeers: 10}
	node := open(t, first)
	all, err := node.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tips, err := node.Subscribe(t.Context(), messages.EventTip)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Call(t.Context(), "createwallet", []any{"one"}); err != nil {
		t.Fatal(err)
	}
	if got := expect[messages.WalletChanged](t, all); got != (messages.WalletChanged{Name: "one", Loaded: true}) {
		t.Errorf("%+v", got)
	}
	var address string
	answer, err := node.Call(t.Context(), "getnewaddress", nil)
	if err != nil {
		t.Fatal(err)
	}
	address = string(answer[1 : len(answer)-1])
	if _, err := node.Call(t.Context(), "generatetoaddress", []any{101, address}); err != nil {
		t.Fatal(err)
	}
	if got := expect[messages.WalletTxChanged](t, all); got.Wallet != "one" || got.Block == nil {
		t.Errorf("%+v", got)
	}
	for expect[messages.TipChanged](t, tips).Height != 101 {
		continue
	}

	mined, err := node.Blocks().At(1)
	if err != nil {
		t.Fatal(err)
	}
	block, err := node.Blocks().Read(t.Context(), mined.Hash)
	if err != nil {
		t.Fatal(err)
	}
	script := block.Transactions[0].TxOut[0].PkScript
	if result, err := scan(t.Context(), node, script); err != nil || len(result.Blocks) != 101 {
		t.Fatal(len(result.Blocks), err)
	}
	if got := expect[messages.ScanChanged](t, all); !got.Running {
		t.Errorf("%+v", got)
	}
	for got := expect[messages.ScanChanged](t, all); ; got = expect[messages.ScanChanged](t, all) {
		if !got.Running {
			if !got.Completed {
				t.Errorf("%+v", got)
			}
			break
		}
	}

	// A transaction of the wallet's coin, into the pool and into a block.
	raw := spend(t, node, block.Transactions[0].TxHash().String(), address)
	if _, err := node.Call(t.Context(), "sendrawtransaction", []any{raw, 0}); err != nil {
		t.Fatal(err)
	}
	if got := expect[messages.PoolChange](t, all); !got.Added || got.Fee != 1000 {
		t.Errorf("%+v", got)
	}
	generate(t, node, []byte{0x51}, 1)
	if _, err := node.Call(t.Context(), "generatetoaddress", []any{1, address}); err != nil {
		t.Fatal(err)
	}
	if got := expect[messages.PoolChange](t, all); got.Added || got.Reason != messages.PoolBlock {
		t.Errorf("%+v", got)
	}

	second.Peers = &trawl.PeerConfig{Connect: []string{at}, MaxPeers: 40}
	other := open(t, second)
	joined := expect[messages.PeerChanged](t, all)
	if !joined.Connected || !joined.Inbound {
		t.Errorf("%+v", joined)
	}
	shut(t, other)
	if left := expect[messages.PeerChanged](t, all); left.Connected || left.ID != joined.ID {
		t.Errorf("%+v", left)
	}
	tips.Close()
	if _, err := tips.Next(t.Context()); !errors.Is(err, messages.ErrUnsubscribed) {
		t.Error(err)
	}
	shut(t, node)
	for err == nil {
		_, err = all.Next(t.Context())
	}
	if !errors.Is(err, trawl.ErrStopped) {
		t.Error(err)
	}
}

// spend returns a signed transaction that sends a coinbase of 50 coins, less 1000, to an
// address.
func spend(t *testing.T, node *trawl.Node, id, address string) string {
	t.Helper()
	inputs := []any{map[string]any{"txid": id, "vout": 0}}
	outputs := []any{map[string]any{address: "49.99999000"}}
	unsigned := callText(t, node, "createrawtransaction", inputs, outputs)
	var signed struct {
		Hex      string
		Complete bool
	}
	if err := unmarshal(t, node, &signed, "signrawtransactionwithwallet", unsigned); err != nil || !signed.Complete {
		t.Fatal(signed, err)
	}
	return signed.Hex
}

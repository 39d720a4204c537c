package mempoolrpc_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/mempoolrpc"
)

// fakePeers are a peer table that hands over transactions privately.
type fakePeers struct {
	reached []messages.NetworkUse
	taken   []*wire.MsgTx
	list    []messages.PrivateBroadcast
	refuse  error
}

func (f *fakePeers) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.GetNetwork, messages.NetworkState]:
		m.Answer(messages.NetworkState{Networks: f.reached}, nil)
	case *ask.Call[messages.BroadcastPrivately, messages.Done]:
		f.taken = append(f.taken, m.Req.Tx)
		m.Answer(messages.Done{}, f.refuse)
	case *ask.Call[messages.GetPrivateBroadcasts, []messages.PrivateBroadcast]:
		m.Answer(f.list, nil)
	case *ask.Call[messages.AbortPrivateBroadcast, []messages.PrivateBroadcast]:
		if len(f.list) == 0 || m.Req.ID != f.list[0].ID {
			m.Answer(nil, messages.ErrNotInPrivate)
			return
		}
		m.Answer(f.list, nil)
	}
}

// privateTable is the methods over a pool, and over peers of the test.
func privateTable(t *testing.T, r *rig, peers *fakePeers, private bool) {
	t.Helper()
	network, err := dialect.Named("", "regtest", dialect.Choices{Reference: dialect.Core32})
	if err != nil {
		t.Fatal(err)
	}
	sys := actortest.New(t)
	r.table, err = command.NewTable(mempoolrpc.Commands(mempoolrpc.Deps{
		Network: network, Private: private,
		Pool:  sys.Spawn("mempool", func() actor.Actor { return actor.ReceiveFunc(r.pool) }),
		Peers: sys.Spawn("peers", func() actor.Actor { return peers }),
	}))
	if err != nil {
		t.Fatal(err)
	}
}

// A transaction is judged, and handed over; the pool stays as it is.
func TestSendPrivately(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{Witness: wire.TxWitness{{1}}})
	tx.AddTxOut(&wire.TxOut{Value: 1, PkScript: []byte{0x51}})
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	onion := []messages.NetworkUse{{Name: "ipv4", Reachable: true}, {Name: "onion", Reachable: true}}
	for name, test := range map[string]struct {
		peers  fakePeers
		refuse error
		want   string
		taken  int
	}{
		"taken":      {fakePeers{reached: onion}, nil, `"` + tx.TxHash().String() + `"`, 1},
		"not hidden": {fakePeers{reached: onion[:1]}, nil, `"code":-1,"message":"-privatebroadcast is enabled, but none of`, 0},
		"refused": {fakePeers{reached: onion}, &messages.TxReject{Reason: "dust"},
			`"code":-26,"message":"dust"`, 0},
		"in the chain": {fakePeers{reached: onion}, messages.ErrTxConfirmed, `"code":-27`, 0},
		"full": {
			fakePeers{reached: onion, refuse: messages.ErrPrivateFull}, nil,
			`"code":-37,"message":"Private broadcast queue is full"`, 1,
		},
	} {
		r := newRig(t)
		r.submit = test.refuse
		privateTable(t, r, &test.peers, true)
		got := r.call("sendrawtransaction", `["`+hex.EncodeToString(raw.Bytes())+`"]`)
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
		if len(test.peers.taken) != test.taken || !r.sent.Test && name != "not hidden" {
			t.Errorf("%s: %d handed over, asked the pool %+v", name, len(test.peers.taken), r.sent)
		}
	}
}

// Transactions that are handed over are listed, and can be given up.
func TestPrivateMethods(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{})
	peers := &fakePeers{list: []messages.PrivateBroadcast{{
		Tx: tx, ID: tx.TxHash(), WID: tx.WitnessHash(), Added: time.Unix(5, 0), Left: 998, Sent: []messages.PrivateSend{
			{Addr: "a:1", At: time.Unix(6, 0)}, {Addr: "b:2", At: time.Unix(7, 0), Received: time.Unix(8, 0)},
		},
	}}}
	r := newRig(t)
	privateTable(t, r, peers, true)
	id := tx.TxHash().String()
	shown := `{"txid":"` + id + `","wtxid":"` + id + `","hex":"02000000`
	got := r.call("getprivatebroadcastinfo", `[]`)
	if !strings.HasPrefix(got, `{"transactions":[`+shown) || !strings.HasSuffix(got, `"time_added":5,`+
		`"attempts_remaining":998,"peers":[{"address":"a:1","sent":6},{"address":"b:2","sent":7,"received":8}]}]}`) {
		t.Errorf("got %s", got)
	}
	if got := r.call("abortprivatebroadcast", `["`+id+`"]`); !strings.HasPrefix(got, `{"removed_transactions":[`+shown) {
		t.Errorf("got %s", got)
	}
	for params, want := range map[string]string{
		`["` + strings.Repeat("0", 64) + `"]`: `"code":-5,"message":"Transaction not in private broadcast queue. Check ` +
			`getprivatebroadcastinfo."`,
		`["00"]`: `"code":-8`,
	} {
		if got := r.call("abortprivatebroadcast", params); !strings.Contains(got, want) {
			t.Errorf("%s: %s", params, got)
		}
	}
	privateTable(t, r, peers, false)
	for _, method := range []string{"getprivatebroadcastinfo", "abortprivatebroadcast"} {
		params := map[bool]string{true: `["00"]`, false: `[]`}[method[0] == 'a']
		if got := r.call(method, params); !strings.Contains(got, `"code":-32601,"message":"Private broadcast is not enabled.`) {
			t.Errorf("%s: %s", method, got)
		}
	}
}

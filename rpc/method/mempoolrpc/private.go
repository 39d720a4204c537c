package mempoolrpc

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

var (
	errNotPrivate = command.Error{
		Code:    command.MethodNotFound,
		Message: "Private broadcast is not enabled. Ensure you're running Bitcoin Core with -privatebroadcast=1.",
	}
	errNotHidden = command.Error{
		Code: command.MiscError,
		Message: "-privatebroadcast is enabled, but none of the Tor or I2P networks is reachable. Maybe the location " +
			"of the Tor proxy couldn't be retrieved from the Tor daemon at startup. Check whether the Tor daemon is " +
			"running and that -torcontrol, -torpassword and -i2psam are configured properly.",
	}
	errPrivateFull = command.Error{Code: command.LimitExceeded, Message: "Private broadcast queue is full"}
	errNotQueued   = command.Error{
		Code:    command.InvalidAddressOrKey,
		Message: "Transaction not in private broadcast queue. Check getprivatebroadcastinfo.",
	}
)

// isHidden refuses to send where no network hides where connections come from.
func (d *Deps) isHidden(ctx context.Context) error {
	state, err := ask.Ask(ctx, d.Peers, messages.GetNetwork{})
	if err != nil {
		return err
	}
	for _, n := range state.Networks {
		if n.Reachable && (n.Name == "onion" || n.Name == "i2p") {
			return nil
		}
	}
	return errNotHidden
}

// handOver has a transaction handed over privately.
func (d *Deps) handOver(ctx context.Context, tx *wire.MsgTx) error {
	_, err := ask.Ask(ctx, d.Peers, messages.BroadcastPrivately{Tx: tx})
	if errors.Is(err, messages.ErrPrivateFull) {
		return errPrivateFull
	}
	return err
}

// privateTx is a transaction that is handed over privately.
type privateTx struct {
	ID  string `json:"txid"`
	WID string `json:"wtxid"`
	Hex string `json:"hex"`
}

func newPrivateTx(b *messages.PrivateBroadcast) privateTx {
	var raw bytes.Buffer
	_ = b.Tx.Serialize(&raw) // a buffer takes all
	return privateTx{b.ID.String(), b.WID.String(), hex.EncodeToString(raw.Bytes())}
}

// queuedTx is such a transaction, with the nodes that get it.
type queuedTx struct {
	privateTx

	Added int64      `json:"time_added"`
	Left  int        `json:"attempts_remaining"`
	Peers []toldPeer `json:"peers"`
}

type toldPeer struct {
	Addr     string `json:"address"`
	Sent     int64  `json:"sent"`
	Received *int64 `json:"received,omitempty"`
}

func newQueuedTx(b *messages.PrivateBroadcast) queuedTx {
	q := queuedTx{newPrivateTx(b), b.Added.Unix(), b.Left, make([]toldPeer, len(b.Sent))}
	for i, s := range b.Sent {
		q.Peers[i] = toldPeer{Addr: s.Addr, Sent: s.At.Unix()}
		if !s.Received.IsZero() {
			at := s.Received.Unix()
			q.Peers[i].Received = &at
		}
	}
	return q
}

var privateTxResults = []command.Result{
	{Type: command.Hex, Key: "txid", Help: "its id"},
	{Type: command.Hex, Key: "wtxid", Help: "its id with witnesses"},
	{Type: command.Hex, Key: "hex", Help: "the serialized transaction"},
}

func getPrivateBroadcastInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "getprivatebroadcastinfo",
		Category: command.RawTransactions,
		About:    command.State, Effect: command.Reads, Since: 31,
		Summary: "Lists the transactions that are handed over privately (-privatebroadcast), and the nodes that " +
			"get them.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Array, Key: "transactions", Help: "those that the network has not sent back yet",
				Inner: []command.Result{{Type: command.Object, Help: "a transaction", Inner: append(
					privateTxResults[:len(privateTxResults):len(privateTxResults)],
					command.Result{Type: command.Number, Key: "time_added", Help: "since when"},
					command.Result{
						Type: command.Number, Key: "attempts_remaining",
						Help: "to how many nodes more it may be handed over",
					},
					command.Result{Type: command.Array, Key: "peers", Help: "the nodes", Inner: []command.Result{
						{Type: command.Object, Help: "a node", Inner: []command.Result{
							{Type: command.String, Key: "address", Help: "its address"},
							{Type: command.Number, Key: "sent", Help: "when it was chosen"},
							{
								Type: command.Number, Key: "received", Optional: true,
								Help: "when it had the transaction",
							},
						}},
					}},
				)}}},
		}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			if !d.Private {
				return nil, errNotPrivate
			}
			list, err := ask.Ask(ctx, d.Peers, messages.GetPrivateBroadcasts{})
			reply := struct {
				Txs []queuedTx `json:"transactions"`
			}{make([]queuedTx, len(list))}
			for i := range list {
				reply.Txs[i] = newQueuedTx(&list[i])
			}
			return reply, err
		},
	}
}

func abortPrivateBroadcast(d *Deps) command.Command {
	return command.Command{
		Name:     "abortprivatebroadcast",
		Category: command.RawTransactions,
		About:    command.State, Since: 31,
		Summary: "No longer hands a transaction over privately.",
		Params: []command.Param{{
			Name: "id", Type: command.Hex,
			Help: "its id, with or without witnesses; all transactions of the id are meant",
		}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Array, Key: "removed_transactions", Help: "those that are given up", Inner: []command.Result{
				{Type: command.Object, Help: "a transaction", Inner: privateTxResults},
			}},
		}}},
		Examples: []string{`["mytxid"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			if !d.Private {
				return nil, errNotPrivate
			}
			id, err := arg.Hash(a.Value(0), "id")
			if err != nil {
				return nil, err
			}
			list, err := ask.Ask(ctx, d.Peers, messages.AbortPrivateBroadcast{ID: id})
			if errors.Is(err, messages.ErrNotInPrivate) {
				return nil, errNotQueued
			}
			reply := struct {
				Removed []privateTx `json:"removed_transactions"`
			}{make([]privateTx, len(list))}
			for i := range list {
				reply.Removed[i] = newPrivateTx(&list[i])
			}
			return reply, err
		},
	}
}

package corepool

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/messages"
)

// Error codes with which the other node refuses a transaction.
const (
	codeInvalid  = -25 // or its fee is too high
	codeRejected = -26
	codeInChain  = -27
)

// errMayNotSend reports that nothing is handed over, by -attachforward.
var errMayNotSend = refusal{errors.New("no transaction is passed on to Bitcoin Core (see -attachforward)")}

// submit hands a transaction to the other node, and adds it here when it was taken.
func (p *Mirror) submit(c actor.Context, m *ask.Call[messages.SubmitTx, messages.Done]) {
	id := m.Req.Tx.TxHash()
	if !p.cfg.MaySend {
		m.Answer(messages.Done{}, errMayNotSend)
		return
	}
	p.read(func() {
		if m.Req.Quietly && p.pool.Lookup(id) != nil {
			m.Answer(messages.Done{}, nil)
			return
		}
		p.tasks.Go(c, func() func() {
			tx, err := send(m.Ctx, p.cfg.Node, &m.Req, &id)
			return func() {
				p.read(func() {
					if err == nil {
						p.publish(p.add(tx)...)
					}
					m.Answer(messages.Done{}, err)
				})
			}
		})
	})
}

// send runs in a worker.
func send(ctx context.Context, node Node, q *messages.SubmitTx, id *chainhash.Hash) ([]newTx, error) {
	var raw bytes.Buffer
	if err := q.Tx.Serialize(&raw); err != nil {
		return nil, err
	}
	const anyBurn = 21_000_000 // coins in outputs that nobody can spend: who made it knows
	err := node.Call(ctx, nil, "sendrawtransaction", hex.EncodeToString(raw.Bytes()), maxRate(q), anyBurn)
	if err != nil {
		return nil, rejected(err)
	}
	got, err := fetch(ctx, node, []chainhash.Hash{*id})
	if err != nil || len(got) == 0 { // it was taken all the same
		tx, msg, err := poolcopy.Parse(raw.Bytes(), id, poolcopy.Details{})
		if err != nil {
			return nil, err
		}
		got = []newTx{{tx, msg}}
	}
	return got, nil
}

// maxRate is the highest fee as the rate that the other node takes: coins for 1000 virtual
// bytes, below one; 0: any.
func maxRate(q *messages.SubmitTx) json.Number {
	if q.MaxFee <= 0 {
		return "0"
	}
	const coin = 100_000_000
	weight := int64(3*q.Tx.SerializeSizeStripped() + q.Tx.SerializeSize())
	rate := q.MaxFee * 4000 / weight
	return json.Number(fmt.Sprintf("0.%08d", min(max(rate, 1), coin-1)))
}

// rejected tells why the other node does not take a transaction.
func rejected(err error) error {
	e, ok := errors.AsType[*corenode.Error](err)
	if !ok || errors.Is(err, corenode.ErrAway) {
		return refused(err)
	}
	reason, debug, _ := strings.Cut(e.Message, ", ")
	kind := messages.TxPolicy
	switch {
	case e.Code == codeInChain:
		return messages.ErrTxConfirmed
	case e.Code == codeInvalid && strings.HasPrefix(e.Message, "Fee exceeds maximum"):
		return messages.ErrTxFee
	case reason == "bad-txns-inputs-missingorspent":
		kind = messages.TxMissingInputs
	case e.Code != codeRejected && e.Code != codeInvalid:
		kind = messages.TxInvalid
	}
	return &messages.TxReject{Kind: kind, Reason: reason, Debug: debug}
}

package chain

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// jobFor returns the work that a request asks for, nil for what is no request.
func (s *Chain) jobFor(msg any) job {
	switch m := msg.(type) {
	case *submit:
		return acknowledged(m, func(e Engine) (messages.Done, error) {
			return messages.Done{}, e.Submit(m.Req.Raw)
		})
	case *invalidate:
		return acknowledged(m, func(e Engine) (messages.Done, error) {
			return messages.Done{}, e.Invalidate(&m.Req.Hash)
		})
	case *reconsider:
		return acknowledged(m, func(e Engine) (messages.Done, error) {
			return messages.Done{}, e.Reconsider(&m.Req.Hash)
		})
	case *setMockTime:
		return acknowledged(m, func(e Engine) (messages.Done, error) {
			e.SetMockTime(m.Req.Time)
			return messages.Done{}, nil
		})
	case *getCoin:
		return acknowledged(m, func(e Engine) (messages.Coin, error) {
			coin, err := e.Coin(m.Req.Out)
			coin.Tip = currentTip(e)
			return coin, err
		})
	case *snapshot:
		return snapshotJob(m)
	case *generate:
		return acknowledged(m, func(e Engine) ([]chainhash.Hash, error) { return s.generate(e, m) })
	case *generateOne:
		return acknowledged(m, func(e Engine) (messages.MinedBlock, error) { return s.generateOne(e, m) })
	}
	return nil
}

// acknowledged makes the job that carries out a request and answers it when
// all it changed is on disk. A request whose caller has gone before its turn is
// not carried out.
func acknowledged[Q messages.Request[R], R any](call *ask.Call[Q, R], work func(Engine) (R, error)) job {
	return func(e Engine) (func(), error) {
		select {
		case <-call.Ctx.Done():
			return func() { call.Answer(*new(R), context.Cause(call.Ctx)) }, nil
		default:
		}
		got, err := work(e)
		var broken error
		if err != nil && !rejected(err) {
			broken = err
		} else if failed := e.Sync(); failed != nil {
			err, broken = failed, failed
		}
		return func() { call.Answer(got, err) }, broken
	}
}

// snapshotJob makes the set of unspent outputs. One that nobody waits for any
// more is released.
func snapshotJob(m *snapshot) job {
	return func(e Engine) (func(), error) {
		select {
		case <-m.Ctx.Done():
			return func() { m.Answer(nil, context.Cause(m.Ctx)) }, nil
		default:
		}
		set, err := e.Coins()
		return func() {
			if !m.Answer(set, err) && set != nil {
				set.Release()
			}
		}, err
	}
}

func (s *Chain) generate(e Engine, m *generate) ([]chainhash.Hash, error) {
	hashes := make([]chainhash.Hash, 0, max(0, min(m.Req.Count, 1000)))
	tries := m.Req.Tries
	for len(hashes) < m.Req.Count {
		raw, err := e.Mine(s.ctx, m.Req.Script, nil, &tries)
		if err != nil || raw == nil {
			return hashes, err
		}
		if err := e.Accept(raw); err != nil {
			return hashes, err
		}
		hashes = append(hashes, e.Reader().Active().Tip().Hash)
	}
	return hashes, nil
}

func (s *Chain) generateOne(e Engine, m *generateOne) (messages.MinedBlock, error) {
	tries := m.Req.Tries
	raw, err := e.Mine(s.ctx, m.Req.Script, m.Req.Txs, &tries)
	if err != nil {
		return messages.MinedBlock{}, err
	}
	if raw == nil {
		return messages.MinedBlock{}, messages.ErrNotMineable
	}
	if m.Req.Submit {
		if err := e.Accept(raw); err != nil {
			return messages.MinedBlock{}, err
		}
	}
	return messages.MinedBlock{Hash: hashOf(raw), Raw: raw}, nil
}

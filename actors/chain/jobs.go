package chain

import (
	"context"
	"errors"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// queued makes the handler of a request whose work waits for its turn.
func queued[Q messages.Request[R], R any](jobOf func(*Chain, *ask.Call[Q, R]) job) ask.Handler[*Chain] {
	return ask.On(func(s *Chain, c actor.Context, m *ask.Call[Q, R]) {
		s.queue = append(s.queue, jobOf(s, m))
		s.next(c)
	})
}

// changes makes the handler of a request that is answered when all is on disk, see [acknowledged].
func changes[Q messages.Request[R], R any](work func(*Chain, engine.Engine, *Q) (R, error)) ask.Handler[*Chain] {
	return queued(func(s *Chain, m *ask.Call[Q, R]) job {
		return acknowledged(m, func(e engine.Engine) (R, error) { return work(s, e, &m.Req) })
	})
}

// looks makes the handler of a request that changes nothing, see [looked].
func looks[Q messages.Request[R], R any](work func(*Chain, engine.Engine, *Q) (R, error)) ask.Handler[*Chain] {
	return queued(func(s *Chain, m *ask.Call[Q, R]) job {
		return looked(m, func(e engine.Engine) (R, error) { return work(s, e, &m.Req) })
	})
}

// done is work whose only result is its end.
func done[Q any](work func(engine.Engine, *Q) error) func(*Chain, engine.Engine, *Q) (messages.Done, error) {
	return func(_ *Chain, e engine.Engine, q *Q) (messages.Done, error) { return messages.Done{}, work(e, q) }
}

func makeTemplate(_ *Chain, e engine.Engine, q *messages.MakeTemplate) ([]byte, error) {
	if q.On != currentTip(e).Hash {
		return nil, messages.ErrTipMoved
	}
	return e.Template(q.Script, q.Txs, btcutil.Amount(q.Fees))
}

func setMockTime(_ *Chain, e engine.Engine, q *messages.SetMockTime) (messages.Done, error) {
	e.SetMockTime(q.Time)
	return messages.Done{}, nil
}

func getCoin(_ *Chain, e engine.Engine, q *messages.GetCoin) (messages.Coin, error) {
	coin, err := e.Coin(q.Out)
	coin.Tip = currentTip(e)
	return coin, err
}

func (s *Chain) verify(e engine.Engine, q *messages.VerifyChain) (messages.Done, error) {
	return messages.Done{}, e.Verify(s.ctx, q.Level, q.Blocks)
}

func states(_ *Chain, e engine.Engine, _ *messages.GetChainStates) ([]messages.ChainState, error) {
	return e.States(), nil
}

func setPruneLock(_ *Chain, m *ask.Call[nodemsg.SetPruneLock, messages.Done]) job {
	return func(e engine.Engine) (func(), error) {
		e.SetPruneLock(m.Req.Name, m.Req.Height)
		return func() { m.Answer(messages.Done{}, nil) }, nil
	}
}

func getCoins(_ *Chain, m *ask.Call[messages.GetCoins, messages.Coins]) job {
	return func(e engine.Engine) (func(), error) {
		coins, err := findCoins(m.Ctx, e, m.Req.Outs)
		return func() { m.Answer(coins, err) }, nil
	}
}

// findCoins looks outputs up. Nothing changes, so nothing waits for the disk.
func findCoins(ctx context.Context, e engine.Engine, outs []wire.OutPoint) (messages.Coins, error) {
	found := messages.Coins{Tip: currentTip(e), Coins: make(map[wire.OutPoint]messages.Coin)}
	for _, out := range outs {
		if ctx.Err() != nil {
			return found, context.Cause(ctx)
		}
		switch coin, err := e.Coin(out); {
		case err == nil:
			found.Coins[out] = coin
		case !errors.Is(err, messages.ErrNoCoin):
			return found, err
		}
	}
	return found, nil
}

// acknowledged makes the job that carries out a request and answers it when
// all it changed is on disk. A request whose caller has gone before its turn is
// not carried out.
func acknowledged[Q messages.Request[R], R any](call *ask.Call[Q, R], work func(engine.Engine) (R, error)) job {
	return looked(call, func(e engine.Engine) (R, error) {
		got, err := work(e)
		if err != nil && !rejected(err) {
			return got, err
		}
		if failed := e.Sync(); failed != nil {
			return got, failed
		}
		return got, err
	})
}

// looked makes the job that carries out a request that changes nothing, so that
// nothing waits for the disk. An error that is no refusal means that the engine
// cannot go on.
func looked[Q messages.Request[R], R any](call *ask.Call[Q, R], work func(engine.Engine) (R, error)) job {
	return func(e engine.Engine) (func(), error) {
		select {
		case <-call.Ctx.Done():
			return func() { call.Answer(*new(R), context.Cause(call.Ctx)) }, nil
		default:
		}
		got, err := work(e)
		var broken error
		if err != nil && !rejected(err) {
			broken = err
		}
		return func() { call.Answer(got, err) }, broken
	}
}

// snapshotJob makes the set of unspent outputs. It releases the set if the
// caller does not wait any more.
func snapshotJob(_ *Chain, m *ask.Call[messages.SnapshotCoins, messages.CoinSet]) job {
	return func(e engine.Engine) (func(), error) {
		select {
		case <-m.Ctx.Done():
			return func() { m.Answer(nil, context.Cause(m.Ctx)) }, nil
		default:
		}
		set, err := coinsAt(e, m.Req.At)
		after := func() {
			if !m.Answer(set, err) && set != nil {
				set.Release()
			}
		}
		if rejected(err) {
			return after, nil
		}
		return after, err
	}
}

func coinsAt(e engine.Engine, at *chainhash.Hash) (messages.CoinSet, error) {
	if at == nil {
		return e.Coins()
	}
	return e.CoinsAt(at)
}

// generate returns the job that mines blocks. Each is a step of its own, so that
// every new tip is announced: peers that give only recent blocks would else have
// too many new ones at once. No other request comes between.
func (s *Chain) generate(m *ask.Call[messages.Generate, []chainhash.Hash]) job {
	g := &generation{tries: m.Req.Tries}
	end := acknowledged(m, func(engine.Engine) ([]chainhash.Hash, error) { return g.hashes, g.err })
	var step job
	step = func(e engine.Engine) (func(), error) {
		if m.Ctx.Err() == nil && g.next(s.ctx, e, &m.Req) {
			return func() { s.queue = slices.Insert(s.queue, 0, step) }, nil
		}
		return end(e)
	}
	return step
}

// generation is how far the mining of blocks has come.
type generation struct {
	hashes []chainhash.Hash
	tries  uint64 // left
	err    error
}

// next mines a block and reports whether there is more to do.
func (g *generation) next(ctx context.Context, e engine.Engine, q *messages.Generate) bool {
	if len(g.hashes) >= q.Count {
		return false
	}
	txs, fees := q.Txs, q.Fees
	if len(g.hashes) > 0 {
		txs, fees = nil, 0
	} else if on := q.On; on != nil && *on != currentTip(e).Hash {
		g.err = messages.ErrTipMoved
		return false
	}
	raw, err := e.Mine(ctx, q.Script, txs, btcutil.Amount(fees), &g.tries)
	if err == nil && raw != nil {
		err = acceptMined(e, raw)
	}
	if err != nil || raw == nil {
		g.err = err
		return false
	}
	g.hashes = append(g.hashes, currentTip(e).Hash)
	return true
}

// acceptMined accepts a block that was made here. Its template was valid, so a refusal is about
// what is known of the block itself.
func acceptMined(e engine.Engine, raw []byte) error {
	err := e.Accept(raw)
	if _, refused := errors.AsType[*messages.RejectError](err); refused {
		return messages.ErrNotAccepted
	}
	return err
}

func (s *Chain) generateOne(e engine.Engine, q *messages.GenerateBlock) (messages.MinedBlock, error) {
	tries := q.Tries
	raw, err := e.Mine(s.ctx, q.Script, q.Txs, 0, &tries)
	if err != nil {
		return messages.MinedBlock{}, err
	}
	if raw == nil {
		return messages.MinedBlock{}, messages.ErrNotMineable
	}
	if q.Submit {
		if err := acceptMined(e, raw); err != nil {
			return messages.MinedBlock{}, err
		}
	}
	return messages.MinedBlock{Hash: hashOf(raw), Raw: raw}, nil
}

package chain

import (
	"errors"
	"sync"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/messages"
)

// maxKnown is how many outputs are remembered that were looked up since the last job.
const maxKnown = 4096

// lookups look outputs up beside the actor while it has no job for the engine. It is a
// [chainview.Unspent].
type lookups struct {
	engine sync.RWMutex // held to write while a job uses the engine
	idle   engine.Engine

	mu    sync.Mutex
	known map[wire.OutPoint]*chainview.Coin // since the last job; nil: spent or never there
}

// during has work use the engine, while nothing is looked up. An engine that is broken, or that a
// panic left as it was, is not looked into any more.
func (l *lookups) during(e engine.Engine, work func() (func(), error)) (after func(), err error) {
	l.engine.Lock()
	defer l.engine.Unlock()
	l.idle, l.known = nil, nil
	if after, err = work(); err == nil {
		l.idle = e
	}
	return after, err
}

// end is called before the engine is closed.
func (l *lookups) end() {
	l.engine.Lock()
	defer l.engine.Unlock()
	l.idle, l.known = nil, nil
}

// unspent is a [chainview.Unspent].
func (l *lookups) unspent(outs []wire.OutPoint) (coins []*chainview.Coin, at *chainview.Block, ok bool) {
	if !l.engine.TryRLock() {
		return nil, nil, false
	}
	defer l.engine.RUnlock()
	if l.idle == nil {
		return nil, nil, false
	}
	coins = make([]*chainview.Coin, len(outs))
	for i, out := range outs {
		if coins[i], ok = l.coin(out); !ok {
			return nil, nil, false
		}
	}
	return coins, l.idle.Reader().Active().Tip(), true
}

// coin returns an output, nil where it is spent or was never there. It reports false if the
// engine fails: the actor will notice that itself.
func (l *lookups) coin(out wire.OutPoint) (*chainview.Coin, bool) {
	l.mu.Lock()
	coin, ok := l.known[out]
	l.mu.Unlock()
	if ok {
		return coin, true
	}
	switch found, err := l.idle.Coin(out); {
	case err == nil:
		coin = &chainview.Coin{
			Height: found.Height, Coinbase: found.Coinbase,
			Value: btcutil.Amount(found.Output.Value), Script: found.Output.PkScript,
		}
	case !errors.Is(err, messages.ErrNoCoin):
		return nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || len(l.known) >= maxKnown {
		l.known = make(map[wire.OutPoint]*chainview.Coin)
	}
	l.known[out] = coin
	return coin, true
}

package miningrpc

import (
	"context"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// After these times a client that waits for another template gets one for changes of
// the pool alone.
const (
	firstLook = time.Minute
	nextLooks = 10 * time.Second
)

// wait returns when the template that an id stands for is out of date (BIP22): its
// tip is not the tip any more, or after some time, when the pool has changed. A value
// that is no id stands for the present template.
func (t *templates) wait(ctx context.Context, id *jsontree.Value) error {
	watched, updates, err := t.watched(ctx, id)
	if err != nil {
		return err
	}
	for look := firstLook; ; look = nextLooks {
		moved, err := t.deps.tipMoves(ctx, watched, look)
		if err != nil || moved {
			return err
		}
		pool, err := ask.Ask(ctx, t.deps.Pool, messages.GetPoolInfo{})
		if err != nil {
			return err
		}
		if pool.Updates != updates {
			return nil
		}
	}
}

// watched returns the tip and the state of the pool that an id stands for.
func (t *templates) watched(ctx context.Context, id *jsontree.Value) (tip chainhash.Hash, updates uint32, err error) {
	if id.Kind() == jsontree.String {
		return readLongPollID(id.Text())
	}
	active, err := t.deps.active()
	if err != nil {
		return tip, 0, err
	}
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return tip, 0, context.Cause(ctx)
	}
	defer func() { <-t.turn }()
	if t.last != nil {
		updates = t.last.updates
	}
	return active.Tip().Hash, updates, nil
}

// readLongPollID reads what templateReply writes: a tip, and a number. As in Core,
// the number may be anything.
func readLongPollID(text string) (tip chainhash.Hash, updates uint32, err error) {
	const digits = chainhash.MaxHashStringSize
	tip, err = arg.HashText(text[:min(len(text), digits)], "longpollid")
	if err != nil {
		return tip, 0, err
	}
	for _, c := range []byte(text[digits:]) {
		if c < '0' || c > '9' {
			break
		}
		updates = updates*10 + uint32(c-'0')
	}
	return tip, updates, nil
}

// tipMoves waits until the tip changes, and reports whether it changed in time.
func (d *Deps) tipMoves(ctx context.Context, tip chainhash.Hash, limit time.Duration) (bool, error) {
	inTime, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := ask.Wait(inTime, d.Actor, messages.WaitTip{Not: &tip})
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, command.Error{Code: command.ClientNotConnected, Message: "Shutting down"}
	case inTime.Err() != nil:
		return false, nil
	}
	return false, err
}

package corenode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A Hash is a block hash that is text in JSON, most significant byte first.
type Hash chainhash.Hash

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*chainhash.HashSize {
		return errors.New("a hash has 64 digits")
	}
	return chainhash.Decode((*chainhash.Hash)(h), string(text))
}

// How the tip is waited for. Core is asked again after it was away, for it may be another
// version then.
const (
	waitUnknown int32 = iota
	waitLongPoll
	waitPoll
)

const (
	// pollEvery is how often a Core is asked that does not tell by itself.
	pollEvery = time.Second
	// maxWait bounds one long poll, so that a connection that was lost without a word is
	// noticed.
	maxWait = 60 * time.Second
)

// BestBlock returns the hash of Core's tip.
func (c *Client) BestBlock(ctx context.Context) (chainhash.Hash, error) {
	var hash Hash
	if err := c.Call(ctx, &hash, "getbestblockhash"); err != nil {
		return chainhash.Hash{}, err
	}
	return chainhash.Hash(hash), nil
}

// WaitNewBlock returns the hash of Core's tip once it is not have, or have after a time of
// silence, at most one minute: ask again then. It is one long poll where Core is of
// version 30 or later, allows it, and has not had too many calls lately; and else one question a
// second.
func (c *Client) WaitNewBlock(ctx context.Context, have *chainhash.Hash, atMost time.Duration) (chainhash.Hash, error) {
	tip, err := c.waitNewBlock(ctx, have, min(atMost, maxWait))
	if errors.Is(err, ErrAway) {
		c.wait.Store(waitUnknown)
	}
	return tip, err
}

func (c *Client) waitNewBlock(ctx context.Context, have *chainhash.Hash, atMost time.Duration) (chainhash.Hash, error) {
	if c.wait.Load() == waitUnknown {
		tip, err := c.BestBlock(ctx) // at once, and from every Core
		if err != nil || tip != *have {
			return tip, err
		}
		if err := chooseWait(ctx, c); err != nil {
			return chainhash.Hash{}, err
		}
	}
	if c.wait.Load() == waitPoll || c.isFull() { // it may have few threads, and one would be ours
		return c.pollNewBlock(ctx, have, atMost)
	}
	var tip struct{ Hash Hash }
	err := c.callWithin(ctx, atMost, &tip, "waitfornewblock", []any{atMost.Milliseconds(), have.String()})
	if unknown(err) {
		c.wait.Store(waitPoll)
		return c.pollNewBlock(ctx, have, atMost)
	}
	if err == nil && tip.Hash == (Hash{}) {
		err = fmt.Errorf("waitfornewblock: %w", ErrReply)
	}
	return chainhash.Hash(tip.Hash), err
}

// chooseWait finds out whether Core's long poll knows what the caller has.
func chooseWait(ctx context.Context, c *Client) error {
	version, _, err := c.Version(ctx)
	switch {
	case err != nil:
		return err
	case featuresOf(version).longPoll:
		c.wait.Store(waitLongPoll)
	default:
		c.wait.Store(waitPoll)
	}
	return nil
}

func (c *Client) pollNewBlock(ctx context.Context, have *chainhash.Hash, atMost time.Duration) (chainhash.Hash, error) {
	end := time.Now().Add(atMost)
	for {
		tip, err := c.BestBlock(ctx)
		if err != nil || tip != *have {
			return tip, err
		}
		wait := min(pollEvery, time.Until(end))
		if wait <= 0 {
			return tip, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return chainhash.Hash{}, context.Cause(ctx)
		}
	}
}

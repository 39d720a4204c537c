package corenode

import (
	"context"
	"fmt"
	"sync/atomic"
)

// The versions of Core from which on something is different, as getnetworkinfo tells them.
const (
	sinceSpent = 300000 // REST has spenttxouts, and waitfornewblock takes the tip
	sinceFew   = 320000 // few connections are served at a time
)

const (
	// coreConns is how many connections such a Core serves by default (-rpcmaxconnections).
	coreConns = 16

	// ownConns is how many of these are left to the node's own calls, to signs of life, and to others than Trawl.
	ownConns = DefaultConns + 1 + 1
)

// features are what follows from the version of a Core. It is looked at nowhere else in this package.
type features struct {
	spentREST bool // REST has spenttxouts
	longPoll  bool // waitfornewblock takes the tip that the caller knows
	few       bool // few connections are served at a time
}

func featuresOf(version int) features {
	return features{spentREST: version >= sinceSpent, longPoll: version >= sinceSpent, few: version >= sinceFew}
}

// Version asks Core for its version, 300200 for 30.2, and for how it calls itself. Both are empty where the login may
// not ask.
func (c *Client) Version(ctx context.Context) (version int, subversion string, err error) {
	var network struct {
		Version    int    `json:"version"`
		Subversion string `json:"subversion"`
	}
	if err := c.Call(ctx, &network, "getnetworkinfo"); err != nil && !unknown(err) {
		return 0, "", err
	}
	if len(network.Subversion) > maxName {
		return 0, "", fmt.Errorf("%w: names", ErrReply)
	}
	c.passage.narrow.Store(featuresOf(network.Version).few)
	return network.Version, network.Subversion, nil
}

// A passage bounds how many calls are passed on at a time, where Core serves few connections.
type passage struct {
	narrow atomic.Bool
	under  chan struct{} // has one for each call
}

// enter waits until one more call may be passed on. leave has to be called after the call. The error is that of ctx.
func (p *passage) enter(ctx context.Context) (leave func(), err error) {
	if !p.narrow.Load() {
		return func() {}, nil
	}
	select {
	case p.under <- struct{}{}:
		return func() { <-p.under }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

package corenode

import (
	"context"
	"io"
	"time"
)

// Limits of a call that the node makes for itself. No reply of a Core is larger than they say.
const (
	// smallReply bounds the reply to a call that is not in the table below.
	smallReply = 1 << 20
	// freeReply is the size up to which replies may be read at the same time. Larger replies
	// are read one after the other.
	freeReply = 5 << 20
	// blockReply bounds a block as the network serializes it, and what is about as large.
	blockReply = 4<<20 + 1<<10

	// quickTime is within what time a Core answers what it has in memory.
	quickTime = 10 * time.Second
)

// A bound is how large a reply may be and how long it may take; 0: smallReply, and the client's
// time.
type bound struct {
	bytes int64
	time  time.Duration
}

// bounds has the methods that need more than others, or less time.
var bounds = map[string]bound{
	"getbestblockhash":  {time: quickTime},
	"getblock":          {bytes: MaxReply},
	"getblockchaininfo": {time: quickTime},
	"getblockfilter":    {bytes: 2*blockReply + smallReply},
	"getblockhash":      {time: quickTime},
	"getblockheader":    {time: quickTime},
	"getchaintips":      {bytes: 4 << 20, time: quickTime},
	"getindexinfo":      {time: quickTime},
	"getnetworkinfo":    {time: quickTime},
	"getpeerinfo":       {bytes: freeReply, time: quickTime},
	"getrawmempool":     {bytes: MaxReply},
	"waitfornewblock":   {time: quickTime / 2}, // beside what it is to wait
}

// boundOf returns what a call may take.
func (c *Client) boundOf(method string) bound {
	b := bounds[method]
	if b.bytes == 0 {
		b.bytes = smallReply
	}
	if b.time == 0 || b.time > c.timeout {
		b.time = c.timeout
	}
	b.bytes = min(b.bytes, c.maxReply)
	return b
}

// enterLarge waits until no other large reply is in memory.
func (c *Client) enterLarge(ctx context.Context, r *Reply) error {
	select {
	case c.large <- struct{}{}:
		r.done = func() { <-c.large }
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readBody reads a body of up to limit bytes; length is what its sender says, -1 where it says
// nothing. Memory grows with what arrives. enlarge is called before there are more than
// freeReply bytes.
func readBody(body io.Reader, length, limit int64, enlarge func() error) ([]byte, error) {
	if length > limit {
		return nil, ErrTooLarge
	}
	most := limit + 1
	if length >= 0 {
		most = length + 1 // where the end shows
	}
	const first = 1 << 16 // trusted unseen
	read := make([]byte, 0, min(most, first))
	for {
		n, err := body.Read(read[len(read):cap(read)])
		read = read[:len(read)+n]
		switch {
		case int64(len(read)) > limit:
			return nil, ErrTooLarge
		case err == io.EOF:
			return read, nil
		case err != nil:
			return nil, err
		case len(read) < cap(read):
			continue
		}
		size := min(most, int64(2*cap(read)))
		if size > freeReply && cap(read) <= freeReply {
			if err := enlarge(); err != nil {
				return nil, err
			}
			if length >= 0 { // so much has come that the rest is believed
				size = most
			}
		}
		grown := make([]byte, len(read), size)
		copy(grown, read)
		read = grown
	}
}

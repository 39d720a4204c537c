package rpc

import (
	"bytes"
	"sync/atomic"
	"time"
)

// DefaultMaxConns is how many connections a server keeps when Config does not
// say. It leaves room for ten thousand callers at a time; with what net/http
// holds for each, some 20 KiB, silent ones take 250 MB at most.
const DefaultMaxConns = 12_000

// Limits of a server for its clients, beyond Core's own limits.
const (
	// maxConnsPerPeer bounds the connections of one address, or one IPv6
	// network of 64 bits, other than this machine's own.
	maxConnsPerPeer = 512

	// maxBatch bounds the requests of a batch.
	maxBatch = 100_000

	// maxControlBatch is how long a batch of control calls may be that takes no
	// worker.
	maxControlBatch = 16

	// maxBatchReply is what the replies to one batch may take before the
	// rest of its requests is refused.
	maxBatchReply = 256 << 20

	// maxBodies bounds the memory of all requests that are being read,
	// parsed or answered, as weigh counts it: one body of maxBody with as many
	// values as fit, and some.
	maxBodies = 1280 << 20

	// maxReplies bounds the memory of the replies to batches while they are built,
	// and of all replies that clients have not taken yet.
	maxReplies = 512 << 20

	// smallMessage is the size up to which requests and replies are not counted, so
	// that a status or an abort is served however much others send. The
	// number of connections bounds them.
	smallMessage = 16 << 10

	// largeBody is the size from which bodies are parsed by half of the
	// processors at most: 32 MiB take most of a second.
	largeBody = 256 << 10

	// minRate is how fast a client has to send, in bytes a second, once the
	// timeout has passed.
	minRate = 4 << 10
)

// nodeSize is what a value of a parsed body takes: 32 bytes, and as much again
// while the array it stands in grows.
const nodeSize = 64

// weigh estimates the memory of a body and of the tree it is parsed into. No
// value takes less than two bytes of text, its own and a separator, so that a
// body of maxBody fits in maxBodies whatever is in it.
func weigh(body []byte) int {
	nodes := 1
	for _, mark := range []byte(",:[{") {
		nodes += bytes.Count(body, []byte{mark})
	}
	return len(body) + min(nodes, len(body)/2+1)*nodeSize
}

// slowest returns how long n bytes may take.
func slowest(n int, timeout time.Duration) time.Duration {
	return timeout + time.Duration(n/minRate)*time.Second
}

// A budget is an amount of memory, in bytes, that requests share.
type budget struct {
	limit int64
	used  atomic.Int64
}

// short reports whether more than half of the budget is taken.
func (b *budget) short() bool { return b.used.Load() > b.limit/2 }

// A share is what one request holds of a budget. The zero share of a budget
// holds nothing.
type share struct {
	of   *budget
	size int64
}

// grow makes the share n bytes large unless it is so already. It is false
// when the budget does not have them.
func (s *share) grow(n int) bool {
	more := int64(n) - s.size
	if n <= smallMessage || more <= 0 {
		return true
	}
	if s.of.used.Add(more) > s.of.limit {
		s.of.used.Add(-more)
		return false
	}
	s.size += more
	return true
}

// release gives everything back.
func (s *share) release() {
	if s.size > 0 {
		s.of.used.Add(-s.size)
		s.size = 0
	}
}

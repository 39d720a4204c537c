package zmqsink

import (
	"encoding/binary"
	"net"
	"sync/atomic"
)

// A message is what subscribers of a topic get: the topic, a body, and the number of the
// message within its topic. The queues of all subscribers share it.
type message struct {
	topic string
	head  []byte // up to the body
	body  []byte
	tail  [2 + 4]byte // what follows the body

	waiting atomic.Int32 // queues that it is in
}

func newMessage(topic string, body []byte, number uint32) *message {
	m := &message{topic: topic, body: body}
	m.head = appendHeader(appendFrame(nil, flagMore, []byte(topic)), flagMore, len(body))
	m.tail[1] = 4
	binary.LittleEndian.PutUint32(m.tail[2:], number)
	return m
}

func (m *message) size() int { return len(m.head) + len(m.body) + len(m.tail) }

func (m *message) appendTo(b net.Buffers) net.Buffers { return append(b, m.head, m.body, m.tail[:]) }

// A budget bounds the bytes of all messages that wait, each counted once.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take notes that a message is in one more queue.
func (b *budget) take(m *message) {
	if m.waiting.Add(1) == 1 {
		b.used.Add(int64(m.size()))
	}
}

// release notes that a message is in one queue less.
func (b *budget) release(m *message) {
	if m.waiting.Add(-1) == 0 {
		b.used.Add(-int64(m.size()))
	}
}

func (b *budget) spent() bool { return b.used.Load() >= b.limit }

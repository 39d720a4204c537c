package zmqsink

import (
	"bufio"
	"container/list"
	"net"
	"strings"
	"sync"
	"time"
)

const (
	// handshakeTime is how long a peer may take to say that it is a subscriber.
	handshakeTime = 30 * time.Second

	// maxBatch is how many messages are written at a time.
	maxBatch = 64
)

// A subscriber is a connection. One goroutine reads its subscriptions, another writes
// waiting messages; a publish call waits for neither.
type subscriber struct {
	conn   net.Conn
	hwm    int // messages that may wait; 0: any number
	budget *budget
	topics []string // that the socket may publish

	onSubscribed func()        // is called when it has subscribed
	silent       *list.Element // the socket's; nil: it has

	mu       sync.Mutex
	changed  sync.Cond // a message, a PONG or the end has come
	prefixes map[string]struct{}
	queue    []*message // those being written too
	pong     []byte
	closed   bool
}

func newSubscriber(conn net.Conn, hwm int, b *budget, topics []string) *subscriber {
	s := &subscriber{conn: conn, hwm: hwm, budget: b, topics: topics, prefixes: make(map[string]struct{})}
	s.changed.L = &s.mu
	return s
}

// publish puts a message into the queue if it is wanted and there is room. Where all queues
// together are full, there is room in an empty one. It never waits for the peer.
func (s *subscriber) publish(m *message, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.wants(m.topic) {
		return
	}
	if n := len(s.queue); s.hwm > 0 && n >= s.hwm || n > 0 && full {
		return
	}
	s.budget.take(m)
	s.queue = append(s.queue, m)
	s.changed.Signal()
}

// wants reports whether a topic begins with a subscribed prefix.
func (s *subscriber) wants(topic string) bool {
	for prefix := range s.prefixes {
		if strings.HasPrefix(topic, prefix) {
			return true
		}
	}
	return false
}

// close ends the connection and both goroutines.
func (s *subscriber) close() {
	s.mu.Lock()
	s.closed = true
	s.changed.Signal()
	s.mu.Unlock()
	_ = s.conn.Close() // it is of no more use
}

// handshake returns when the peer has said that it is a subscriber.
func (s *subscriber) handshake(r *bufio.Reader, buf *[maxFrame]byte) error {
	if err := s.conn.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return err
	}
	if _, err := s.conn.Write(greeting()); err != nil {
		return err
	}
	if err := readGreeting(r); err != nil {
		return err
	}
	if _, err := s.conn.Write(ready()); err != nil {
		return err
	}
	flags, body, err := readFrame(r, buf)
	if err == nil {
		err = checkReady(flags, body)
	}
	if err != nil {
		return err
	}
	return s.conn.SetDeadline(time.Time{})
}

// read applies the peer's requests until the connection ends.
func (s *subscriber) read(r *bufio.Reader, buf *[maxFrame]byte) error {
	first := true
	for {
		flags, body, err := readFrame(r, buf)
		if err != nil {
			return err
		}
		q, err := parseRequest(flags, body, first)
		if err != nil {
			return err
		}
		if flags&flagCommand == 0 {
			first = flags&flagMore == 0
		}
		s.apply(q)
		if q.subscribe && s.onSubscribed != nil {
			s.onSubscribed()
		}
	}
}

// apply carries out a request. Prefixes of no topic are ignored, so that a peer cannot fill
// our memory.
func (s *subscriber) apply(q request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.pong != nil {
		s.pong = q.pong
		s.changed.Signal()
	}
	if !q.subscribe && !q.cancel {
		return
	}
	for _, topic := range s.topics {
		if !strings.HasPrefix(topic, string(q.prefix)) {
			continue
		}
		if q.subscribe {
			s.prefixes[string(q.prefix)] = struct{}{}
		} else {
			delete(s.prefixes, string(q.prefix))
		}
		return
	}
}

// write writes waiting messages until the connection ends.
func (s *subscriber) write() {
	defer s.discard()
	var batch []*message
	for {
		var pong []byte
		if batch, pong = s.next(batch[:0]); len(batch) == 0 && pong == nil {
			return
		}
		buffers := make(net.Buffers, 0, 1+3*len(batch))
		if pong != nil {
			buffers = append(buffers, pong)
		}
		for _, m := range batch {
			buffers = m.appendTo(buffers)
		}
		if _, err := buffers.WriteTo(s.conn); err != nil {
			s.close() // the reader ends too
			return
		}
		s.written(len(batch))
	}
}

// next waits for messages or a PONG to write. It appends the messages to batch, and returns
// nothing when the connection has ended.
func (s *subscriber) next(batch []*message) ([]*message, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed && len(s.queue) == 0 && s.pong == nil {
		s.changed.Wait()
	}
	if s.closed {
		return nil, nil
	}
	pong := s.pong
	s.pong = nil
	return append(batch, s.queue[:min(len(s.queue), maxBatch)]...), pong
}

// written takes messages out of the queue.
func (s *subscriber) written(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range s.queue[:n] {
		s.budget.release(m)
		s.queue[i] = nil
	}
	if s.queue = s.queue[n:]; len(s.queue) == 0 {
		s.queue = nil
	}
}

// discard forgets what was not written.
func (s *subscriber) discard() {
	s.mu.Lock()
	n := len(s.queue)
	s.closed = true
	s.mu.Unlock()
	s.written(n)
}

package zmqsink

import (
	"bufio"
	"container/list"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

const (
	// maxSubscribers is how many connections a socket has at a time.
	maxSubscribers = 2000

	// acceptPause is how long a socket waits when no connection could be accepted, say
	// because there are too many open files.
	acceptPause = 100 * time.Millisecond

	// readSize is how much is read ahead of a peer, which has little to say.
	readSize = 512
)

// A socket is an address with its subscribers.
type socket struct {
	listener net.Listener
	hwm      int
	topics   []string
	budget   *budget
	log      *slog.Logger

	mu          sync.Mutex
	subscribers map[*subscriber]struct{}
	silent      list.List // of those that have subscribed to nothing yet, the oldest first
	closed      bool
	stop        chan struct{}
	running     sync.WaitGroup
}

func newSocket(l net.Listener, hwm int, b *budget, log *slog.Logger) *socket {
	return &socket{
		listener: l, hwm: hwm, budget: b, log: log,
		subscribers: make(map[*subscriber]struct{}), stop: make(chan struct{}),
	}
}

// start begins to accept subscribers.
func (s *socket) start() {
	s.running.Go(func() {
		defer s.caught()
		for {
			conn, err := s.listener.Accept()
			switch {
			case err == nil:
				s.add(conn)
			case errors.Is(err, net.ErrClosed):
				return
			default:
				s.log.Warn("zmq: accept", "address", s.listener.Addr(), "err", err)
				if !s.pause() {
					return
				}
			}
		}
	})
}

// pause waits for a while. It reports whether the socket is still open.
func (s *socket) pause() bool {
	timer := time.NewTimer(acceptPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.stop:
		return false
	}
}

// add serves a connection. At maxSubscribers, the new connection replaces the oldest that has not subscribed yet; if
// all have subscribed, it is closed.
func (s *socket) add(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := s.silent.Front()
	full := len(s.subscribers) >= maxSubscribers
	if s.closed || full && oldest == nil {
		_ = conn.Close() // nothing was said yet
		return
	}
	if full {
		gone := oldest.Value.(*subscriber)
		s.forget(gone)
		gone.close()
	}
	sub := newSubscriber(conn, s.hwm, s.budget, s.topics)
	sub.silent = s.silent.PushBack(sub)
	sub.onSubscribed = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.activate(sub)
	}
	s.subscribers[sub] = struct{}{}
	s.running.Go(func() { s.serve(sub) })
}

// serve reads what a subscriber wants until its end.
func (s *socket) serve(sub *subscriber) {
	defer s.remove(sub)
	defer s.caught()
	r, buf := bufio.NewReaderSize(sub.conn, readSize), new([maxFrame]byte)
	err := sub.handshake(r, buf)
	if err == nil {
		s.running.Go(func() {
			defer sub.close()
			defer s.caught()
			sub.write()
		})
		err = sub.read(r, buf)
	}
	s.log.Debug("zmq: connection ended", "address", s.listener.Addr(), "err", err)
}

func (s *socket) remove(sub *subscriber) {
	sub.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(sub)
}

// forget takes a subscriber out. The lock is held.
func (s *socket) forget(sub *subscriber) {
	s.activate(sub)
	delete(s.subscribers, sub)
}

// activate notes that a subscriber is silent no more. The lock is held.
func (s *socket) activate(sub *subscriber) {
	if sub.silent != nil {
		s.silent.Remove(sub.silent)
		sub.silent = nil
	}
}

// caught keeps a panic to the connection that it came from.
func (s *socket) caught() {
	if p := recover(); p != nil {
		s.log.Error("zmq: panic", "value", p, "stack", string(debug.Stack()))
	}
}

// addTopic notes that the socket publishes a topic. It is called before start.
func (s *socket) addTopic(topic string) {
	if !slices.Contains(s.topics, topic) {
		s.topics = append(s.topics, topic)
	}
}

// publish gives all subscribers a message.
func (s *socket) publish(m *message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := s.budget.spent()
	for sub := range s.subscribers {
		sub.publish(m, full)
	}
}

// close ends all connections. Unsent messages are dropped.
func (s *socket) close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	if first {
		close(s.stop)
	}
	for sub := range s.subscribers {
		sub.close()
	}
	s.mu.Unlock()
	var err error
	if first {
		err = s.listener.Close()
	}
	s.running.Wait()
	return err
}

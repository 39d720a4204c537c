package zmqsink

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

const (
	// DefaultHWM is how many messages may wait for a subscriber.
	DefaultHWM = 1000

	// maxWaiting bounds the bytes of all waiting messages. Above it, a subscriber gets a
	// message only if its queue is empty.
	maxWaiting = 512 << 20
)

// A Topic is a topic to publish at an address.
type Topic struct {
	Name    string
	Address string // tcp://<host>:<port> or ipc://<path>
	HWM     int    // messages that may wait for each subscriber; 0: any number
}

// Config is what a Publisher is made of.
type Config struct {
	Topics []Topic      // those with the same address share a socket, and the mark of the first
	Log    *slog.Logger // nil: nothing is logged
}

// A Publisher publishes topics. Its methods are safe for concurrent use, and only Close
// waits.
type Publisher struct {
	mu      sync.Mutex
	topics  []*topic
	sockets []*socket
}

// topic is a topic at an address.
type topic struct {
	name   string
	socket *socket
	number uint32 // of the next message
}

// Open begins to listen. After an error nothing is left.
func Open(cfg Config) (*Publisher, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Publisher{}
	byAddress := map[string]*socket{}
	waiting := &budget{limit: maxWaiting}
	for _, t := range cfg.Topics {
		s := byAddress[t.Address]
		if s == nil {
			l, err := listen(t.Address)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("bind to %s: %w", t.Address, err), p.Close())
			}
			s = newSocket(l, t.HWM, waiting, cfg.Log)
			byAddress[t.Address] = s
			p.sockets = append(p.sockets, s)
		}
		s.addTopic(t.Name)
		p.topics = append(p.topics, &topic{name: t.Name, socket: s})
	}
	for _, s := range p.sockets {
		s.start()
	}
	return p, nil
}

// Has reports whether a topic is published.
func (p *Publisher) Has(name string) bool {
	for _, t := range p.topics {
		if t.name == name {
			return true
		}
	}
	return false
}

// Publish sends a message to the subscribers of its topic. body must not change any more.
func (p *Publisher) Publish(name string, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.topics {
		if t.name == name {
			t.socket.publish(newMessage(name, body, t.number))
			t.number++
		}
	}
}

// Skip counts messages of a topic that could not be made, so that subscribers see that
// they are missing.
func (p *Publisher) Skip(name string, messages int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.topics {
		if t.name == name {
			t.number += uint32(messages)
		}
	}
}

// Close ends all connections and returns when their goroutines have ended.
func (p *Publisher) Close() error {
	var errs []error
	for _, s := range p.sockets {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

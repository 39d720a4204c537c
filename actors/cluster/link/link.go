package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	beatEvery  = 2 * time.Second
	maxSilence = 10 * time.Second
)

// Config says where a link listens, and whom it lets in.
type Config struct {
	Listen      string // host:port; port 0: a free one
	Advertise   string // host:port by which other nodes reach it; empty: where it listens
	Credentials *Credentials
	Log         *slog.Logger // of nodes that cannot be reached; nil: none
}

// Link is this node's end of its connections to others. Its methods are safe for concurrent use,
// and none but Close waits.
type Link struct {
	cfg     Config
	host    string
	port    int
	tls     *tls.Config
	doors   doors
	refused atomic.Uint64
	tokens  chan struct{} // one for each frame that nobody has taken
	every   time.Duration // a node says that it is there
	silence time.Duration // of a node that is gone

	frame func(from string, frame []byte, taken func())
	gone  func(address string)
	work  sync.WaitGroup // goroutines

	mu       sync.Mutex
	open     bool
	address  string          // by which others reach this node; empty before Open
	ctx      context.Context //nolint:containedctx // ends all goroutines
	end      context.CancelFunc
	inbound  map[string]*inbound
	outbound map[string]*outbound
	watched  map[string]bool
	failed   map[string]failure // nodes that were not reached the last time, by address
}

// New makes a link after it has checked cfg. The link listens from Open on.
func New(cfg Config) (*Link, error) {
	if cfg.Credentials == nil {
		return nil, errors.New("a cluster needs credentials")
	}
	l := &Link{
		cfg: cfg, tls: cfg.Credentials.tls(), doors: doors{by: make(map[string]int)},
		tokens: make(chan struct{}, maxWaitingAll), every: beatEvery, silence: maxSilence,
		inbound: make(map[string]*inbound), outbound: make(map[string]*outbound), watched: make(map[string]bool),
		failed: make(map[string]failure),
	}
	if l.cfg.Log == nil {
		l.cfg.Log = slog.New(slog.DiscardHandler)
	}
	host, port, err := splitAddress(cfg.Listen)
	if err != nil {
		return nil, err
	}
	l.host, l.port = host, port
	if cfg.Advertise == "" {
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			return nil, fmt.Errorf("%s is not an address by which other nodes can reach this one", cfg.Listen)
		}
		return l, nil
	}
	host, port, err = splitAddress(cfg.Advertise)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host == "" || port == 0 || ip != nil && ip.IsUnspecified() {
		return nil, fmt.Errorf("%s is not an address by which other nodes can reach this one", cfg.Advertise)
	}
	return l, nil
}

func splitAddress(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("%s is not host:port", address)
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > math.MaxUint16 || len(address) > maxAddress {
		return "", 0, fmt.Errorf("%s is not host:port", address)
	}
	return host, port, nil
}

// Open begins to listen, once. frame is called for each frame of another node, with the address of
// that node, and with taken, to be called once the frame was handled. Open's gone is called when a
// watched node has disappeared. Neither waits.
func (l *Link) Open(frame func(from string, frame []byte, taken func()), gone func(address string)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.address != "" {
		return errors.New("the link was opened before")
	}
	ctx, end := context.WithCancel(context.Background())
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(l.host, strconv.Itoa(l.port)))
	if err != nil {
		end()
		return fmt.Errorf("listen at %s: %w", l.cfg.Listen, err)
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	l.frame, l.gone, l.ctx, l.end, l.open = frame, gone, ctx, end, true
	if l.address = l.cfg.Advertise; l.address == "" {
		l.address = listener.Addr().String()
	}
	l.work.Go(func() { l.accept(ctx, listener) })
	return nil
}

// start starts a goroutine that Close waits for. It reports false when that has been called.
func (l *Link) start(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		l.work.Go(f)
	}
	return l.open
}

// Send sends a frame of at most [MaxFrame] bytes, which is not changed any more. Whether it
// arrives is not known.
func (l *Link) Send(address string, frame []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open || len(frame) == 0 || len(frame) > MaxFrame {
		return
	}
	if o := l.outboundTo(address); o != nil {
		o.put(frame)
	}
}

// Watch has the function that Open was given called when a node is not there any more; once.
func (l *Link) Watch(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		l.watched[address] = true
	}
}

// ended notifies of the end of a node, where it is watched.
func (l *Link) ended(address string) {
	l.mu.Lock()
	watched := l.open && l.watched[address]
	delete(l.watched, address)
	l.mu.Unlock()
	if watched {
		l.gone(address)
	}
}

// State returns where other nodes reach this one, empty before Open and after Close, and how many connections
// were refused.
func (l *Link) State() (address string, refused uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		address = l.address
	}
	return address, l.refused.Load()
}

// Close ends all connections. Peers that watch this node are notified.
func (l *Link) Close() error {
	l.mu.Lock()
	wasOpen := l.open
	l.open = false
	l.mu.Unlock()
	if wasOpen {
		l.end()
	}
	l.work.Wait()
	return nil
}

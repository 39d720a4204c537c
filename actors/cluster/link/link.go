package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// actorName is that of the link's actor, the only one that can be reached from outside.
const actorName = "cluster"

const handshakeTime = 5 * time.Second

// Config says where a link listens, and whom it lets in.
type Config struct {
	Listen      string // host:port; port 0: a free one
	Advertise   string // host:port by which other nodes reach it; empty: where it listens
	Credentials *Credentials
	Log         *slog.Logger
}

// Link is this node's end of its connections to others. Its methods are safe for concurrent use,
// and none but Close waits.
type Link struct {
	cfg     Config
	host    string
	port    int
	handler func(from string, frame []byte, taken func())
	gone    func(address string)
	refused atomic.Uint64

	mu     sync.RWMutex // held by those who use remote; by Close to end it
	open   bool
	end    context.CancelFunc
	system *actor.ActorSystem
	remote *remote.Remote
	self   *actor.PID
	guard  *guard
}

// New checks what a link is told. Nothing is listened to before Open.
func New(cfg Config) (*Link, error) {
	if cfg.Credentials == nil {
		return nil, errors.New("a cluster needs credentials")
	}
	l := &Link{cfg: cfg}
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

// Open begins to listen. frame is called for each frame of another node, with the address that
// node is reached at, and what is to be called once it was looked at; gone when a node that was
// watched is not there any more. Neither waits.
func (l *Link) Open(frame func(from string, frame []byte, taken func()), gone func(address string)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		return errors.New("the link is open")
	}
	l.handler, l.gone = frame, gone
	l.system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler) // it tells of each attempt, and of messages
	}))
	ended, end := context.WithCancel(context.Background())
	l.guard = &guard{
		self: l.system.Address, dropped: func() { l.refused.Add(1) }, log: l.cfg.Log, ended: ended,
		queues: make(map[string]*queue),
	}
	l.remote = remote.NewRemote(l.system, l.options())
	if err := try(l.remote.Start); err != nil {
		end()
		l.system.Shutdown()
		return fmt.Errorf("listen at %s: %w", l.cfg.Listen, err)
	}
	props := actor.PropsFromFunc(l.receive)
	self, err := l.system.Root.SpawnNamed(props, actorName)
	if err != nil {
		end()
		l.remote.Shutdown(true)
		return fmt.Errorf("start the link: %w", err)
	}
	l.self, l.open, l.end = self, true, end
	return nil
}

// options are remote's.
func (l *Link) options() *remote.Config {
	conf := l.cfg.Credentials.tls()
	d := &doors{by: make(map[string]int), refused: func() { l.refused.Add(1) }}
	c := remote.Configure(l.host, l.port,
		remote.WithDialOptions(
			grpc.WithTransportCredentials(credentials.NewTLS(conf)),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{
				Time: 10 * time.Second, Timeout: 2 * time.Second, PermitWithoutStream: true,
			}),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		),
		remote.WithServerOptions(
			grpc.Creds(bounded{credentials.NewTLS(conf), d}), grpc.ConnectionTimeout(handshakeTime),
			grpc.MaxRecvMsgSize(maxMessage), grpc.MaxConcurrentStreams(4), grpc.MaxHeaderListSize(16<<10),
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
				MinTime: 5 * time.Second, PermitWithoutStream: true,
			}),
			grpc.KeepaliveParams(keepalive.ServerParameters{Time: 10 * time.Second, Timeout: 2 * time.Second}),
			grpc.StreamInterceptor(l.guard.stream), grpc.UnaryInterceptor(l.guard.unary),
		),
		remote.WithEndpointWriterBatchSize(batchSize), remote.WithEndpointWriterQueueSize(64),
	)
	c.AdvertisedHost, c.MaxRetryCount = l.cfg.Advertise, 1
	return c
}

// try turns a panic, by which remote says that it cannot start, into an error.
func try(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	f()
	return nil
}

// watch has the link's actor watch another node's.
type watch struct{ address string }

// receive is the link's actor.
func (l *Link) receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *wrapperspb.BytesValue:
		if c.Sender() == nil {
			return
		}
		from := c.Sender().Address
		l.handler(from, m.Value, func() { l.guard.taken(from) })
	case watch:
		c.Watch(actor.NewPID(m.address, actorName))
	case *actor.Terminated:
		c.Unwatch(m.Who)
		l.gone(m.Who.Address)
	}
}

// Send sends a frame of at most [MaxFrame] bytes, which is not changed any more. Whether it
// arrives is not known.
func (l *Link) Send(address string, frame []byte) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.open {
		l.system.Root.RequestWithCustomSender(actor.NewPID(address, actorName), wrapperspb.Bytes(frame), l.self)
	}
}

// Watch has the function that Open was given called when a node is not there any more; once.
func (l *Link) Watch(address string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.open {
		l.system.Root.Send(l.self, watch{address})
	}
}

// State returns where other nodes reach this one, empty before Open, and how many connections and
// messages were kept out.
func (l *Link) State() (address string, refused uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.open {
		address = l.system.Address()
	}
	return address, l.refused.Load()
}

// Close ends all connections. Peers that watch this node are told.
func (l *Link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open {
		return nil
	}
	l.open = false
	err := l.system.Root.StopFuture(l.self).Wait()
	l.end()
	l.guard.streams.Wait()
	if try(func() { l.remote.Shutdown(true) }) != nil {
		// It tells a stream that has just ended of its end. What is left is the server.
		_ = try(func() { l.remote.Shutdown(false) })
	}
	l.system.Shutdown()
	if err != nil {
		return fmt.Errorf("stop the link: %w", err)
	}
	return nil
}

package metrics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// maxScrapes is how many scrapes are answered at a time; more get 503.
	maxScrapes = 4

	// MaxConns is how many connections there are at a time.
	MaxConns = 64

	// headTime, idleTime and replyTime bound how long a client may take: for the head of a request,
	// until the next one, for the reply.
	headTime  = 5 * time.Second
	idleTime  = 30 * time.Second
	replyTime = 15 * time.Second

	maxHead = 16 << 10
)

// schedulerLatencies is what is shown of Go's runtime beside what the library shows by itself.
var schedulerLatencies = regexp.MustCompile(`^/sched/latencies:seconds$`)

// A Server answers scrapes at one address.
type Server struct {
	http     http.Server
	listener net.Listener
}

// Listen begins to listen at host:port.
func (e *Exporter) Listen(ctx context.Context, addr string) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	logger := slog.NewLogLogger(e.log.Handler(), slog.LevelWarn)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", buffered(promhttp.HandlerFor(e.registry, promhttp.HandlerOpts{
		ErrorLog: scrapeLog{e.log}, ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes,
	})))
	return &Server{
		listener: listener,
		http: http.Server{
			Handler: e.own(mux), ReadHeaderTimeout: headTime, ReadTimeout: headTime, WriteTimeout: replyTime,
			IdleTimeout: idleTime, MaxHeaderBytes: maxHead, ErrorLog: logger,
		},
	}, nil
}

// own has answered only what no web page from elsewhere asks. The numbers need no login: a page could read them whose
// name was made to lead here.
func (e *Exporter) own(answer http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e.Hosts.Refuses(r) {
			http.Error(w, "Refused: a page from elsewhere asks, or by a name that -rpcallowhost does not have.",
				http.StatusForbidden)
			return
		}
		answer.ServeHTTP(w, r)
	})
}

// A scrapeLog takes what goes wrong with a scrape.
type scrapeLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(v ...any) {
	l.log.Warn("Metrics are not sent", "err", strings.TrimSpace(fmt.Sprintln(v...)))
}

// Addr returns where the server listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers scrapes until [Server.Shutdown] is called, and returns nil then.
func (s *Server) Serve() error {
	err := s.http.Serve(&limitListener{Listener: s.listener})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown stops to listen and waits for the scrapes that are under way. When ctx ends
// first, they are cut off.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	_ = s.listener.Close() // that Serve never took over
	return err
}

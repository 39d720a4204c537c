package metrics

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

var errGone = errors.New("connection reset by peer")

// gone is a client that has left.
type gone struct{}

func (gone) Header() http.Header       { return http.Header{} }
func (gone) Write([]byte) (int, error) { return 0, errGone }
func (gone) WriteHeader(int)           {}

// A client that leaves before it has all numbers is no line in the log: it could fill the log else.
func TestClientGone(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := New(logger, "1").Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.http.Handler.ServeHTTP(gone{}, request)
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	scrapeLog{slog.New(slog.NewTextHandler(&log, nil))}.Println("error gathering metrics:", errGone)
	if !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("logged %s", log.String())
	}
}

package metrics_test

import (
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/metrics"
)

// A scrape is answered after any bytes have come to the port.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"", "\x00\xff", "GET /metrics HTTP/1.1\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
		"GET /metrics?name[]=x HTTP/1.0\r\n\r\n", "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\nx",
		"GET /metrics/../metrics HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://y/metrics HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	e := metrics.New(slog.New(slog.DiscardHandler), "x")
	server, err := e.Listen(f.Context(), "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	f.Cleanup(func() {
		if err := server.Shutdown(f.Context()); err != nil {
			f.Log(err) // a connection may be open yet
		}
		if err := <-served; err != nil {
			f.Error(err)
		}
	})
	addr := server.Addr().String()
	f.Fuzz(func(t *testing.T, input []byte) {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(input) // the server may have closed it
		_ = c.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, c)
		if status, _ := request(t, "GET", "http://"+addr+"/metrics"); status != 200 {
			t.Errorf("after %q: %d", input, status)
		}
	})
}

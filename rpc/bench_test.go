package rpc

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
)

// BenchmarkDoor calls methods over a kept connection: with nothing to say, with a
// reply of a large scan, and with a request of one.
func BenchmarkDoor(b *testing.B) {
	hashes := make([]string, 100_000)
	for i := range hashes {
		hashes[i] = strings.Repeat("0f", 32)
	}
	table, err := command.NewTable([]command.Command{
		{Name: "small", Run: func(context.Context, *command.Args) (any, error) { return 1, nil }},
		{Name: "reply", Run: func(context.Context, *command.Args) (any, error) { return hashes, nil }},
		{
			Name: "request", Params: []command.Param{{Name: "objects", Type: command.Array}},
			Run: func(_ context.Context, a *command.Args) (any, error) { return a.Value(0).Len(), nil },
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	s, err := NewServer(Config{User: "u", Password: "p", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	s.Ready(table)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	b.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
		<-served
	})
	for name, body := range map[string]string{
		"small":   `{"method":"small","params":[]}`,
		"reply":   `{"method":"reply","params":[]}`,
		"request": `{"method":"request","params":[["raw(51)"` + strings.Repeat(`,"raw(0014`+strings.Repeat("0f", 20)+`)"`, 100_000) + `]]}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := http.NewRequestWithContext(
					b.Context(), http.MethodPost, "http://"+s.Addrs()[0].String(), strings.NewReader(body),
				)
				if err != nil {
					b.Fatal(err)
				}
				r.SetBasicAuth("u", "p")
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != http.StatusOK {
					b.Fatal(answer.Status, err)
				}
				b.SetBytes(n + int64(len(body)))
			}
		})
	}
}

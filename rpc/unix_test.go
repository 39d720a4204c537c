package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// socketClient talks to a server over its socket.
func socketClient(t *testing.T, path string) *client {
	t.Helper()
	c := &client{addr: "localhost"}
	c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rpc.sock")
	for range 2 { // the second time in the place of the first
		s := startServer(t, Config{User: "u", Password: "p", Unix: path})
		s.Ready(blockerTable(t, newBlocker()))
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != fs.ModeSocket|0o600 {
			t.Fatalf("got %v, %v", info, err)
		}
		c := socketClient(t, path)
		c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
		wantNode(t, path)
		if got, err := c.post(t.Context(), "/", "u:wrong", v2Call("quick")); got != "401" {
			t.Errorf("got %s, %v", got, err)
		}
		if _, err := NewServer(Config{Unix: path}); !errors.Is(err, ErrStart) {
			t.Errorf("a second server: %v", err)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("still there: %v", err)
		}
	}
}

// wantNode makes a call with what Node's fetch sends besides. It is served over a socket too.
func wantNode(t *testing.T, path string) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := v2Call("quick")
	fmt.Fprintf(c, "POST / HTTP/1.1\r\nhost: bitcoind:8332\r\nconnection: close\r\nauthorization: %s\r\n"+
		"content-type: application/json\r\naccept: */*\r\naccept-language: *\r\nsec-fetch-mode: cors\r\n"+
		"user-agent: node\r\n"+
		"accept-encoding: gzip, deflate\r\ncontent-length: %d\r\n\r\n%s", basic("u:p"), len(body), body)
	answer, err := io.ReadAll(c)
	got := string(answer)
	if err != nil || !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(got, `"result":1`) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestUnixSocketPlace(t *testing.T) {
	dir := t.TempDir()
	stale, file := filepath.Join(dir, "stale"), filepath.Join(dir, "file")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", stale)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	files := []string{file, stale + ".tmp"}
	for _, file := range files {
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, works := range map[string]bool{
		stale: true, file: false, filepath.Join(dir, "no", "folder"): false, dir: false,
	} {
		_, log, err := start(t, Config{Unix: path})
		if (err == nil) != works || works == strings.Contains(log, "Unable to bind RPC on socket "+path+": ") {
			t.Errorf("%s: %v, logged %s", path, err, log)
		}
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); string(text) != "mine" {
			t.Errorf("got %q, %v", text, err)
		}
	}
	if all, err := os.ReadDir(dir); len(all) != 3 {
		t.Errorf("got %v, %v", all, err)
	}
}

// At the end the path is left alone where it leads to something else by then.
func TestUnixSocketReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rpc.sock")
	for name, replace := range map[string]func() error{
		"gone":   func() error { return nil },
		"a file": func() error { return os.WriteFile(path, nil, 0o600) },
		"a socket": func() error {
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, Config{User: "u", Password: "p", Unix: path})
			if err := errors.Join(os.Remove(path), replace()); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			after, err := os.Lstat(path)
			if before == nil && errors.Is(err, fs.ErrNotExist) {
				return
			}
			if err != nil || !os.SameFile(before, after) {
				t.Errorf("got %v, %v, want %v", after, err, before)
			}
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		})
	}
}

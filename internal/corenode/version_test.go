package corenode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// versioned is a Core of some version in memory: calls but getnetworkinfo wait until they may end.
type versioned struct {
	version int
	under   atomic.Int32  // calls that are under way
	end     chan struct{} // closed when they may
}

func (v *versioned) RoundTrip(r *http.Request) (*http.Response, error) {
	body := new(strings.Builder)
	if _, err := fmt.Fprint(body, readAll(r)); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	if strings.Contains(body.String(), "getnetworkinfo") {
		fmt.Fprintf(w, `{"result":{"version":%d,"subversion":"/x/"},"error":null,"id":0}`, v.version)
		return w.Result(), nil
	}
	v.under.Add(1)
	defer v.under.Add(-1)
	select {
	case <-v.end:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	fmt.Fprint(w, `{"result":1,"error":null,"id":0}`)
	return w.Result(), nil
}

func readAll(r *http.Request) string {
	text := make([]byte, r.ContentLength)
	n, _ := r.Body.Read(text) // it is in memory
	return string(text[:n])
}

// A later Core serves few connections at a time: calls beyond that wait here, and are given up where their callers
// are. Of an earlier one as many are asked at a time as are called.
func TestFewConnections(t *testing.T) {
	for _, test := range []struct{ version, conns, want int }{
		{300200, 0, 20}, {319900, 0, 20}, {320000, 0, 6}, {320000, 30, 20}, {320000, 12, 2}, {320000, 1, 1},
		{330000, 0, 6},
	} {
		synctest.Test(t, func(t *testing.T) {
			core := &versioned{version: test.version, end: make(chan struct{})}
			c, err := New(Config{
				Address: Address{Host: "127.0.0.1", Port: 1}, User: "a", Password: "b", MaxConns: test.conns,
			})
			if err != nil {
				t.Fatal(err)
			}
			c.own.Transport, c.forward.Transport, c.life.Transport = core, core, core
			if version, name, err := c.Version(t.Context()); err != nil || version != test.version || name != "/x/" {
				t.Fatalf("%d %s: %v", version, name, err)
			}
			const calls = 20
			left, leave := context.WithCancelCause(t.Context())
			gone := errors.New("gone")
			ended := make(chan error, calls+1)
			for range calls {
				go func() {
					_, err := c.Forward(t.Context(), "/", "", []byte(`{"method":"x"}`))
					ended <- err
				}()
			}
			synctest.Wait()
			if got := int(core.under.Load()); got != test.want {
				t.Errorf("version %d, %d connections: %d calls at a time, want %d", test.version, test.conns, got, test.want)
			}
			if test.want < calls {
				waiting := make(chan error, 1)
				go func() {
					_, err := c.Forward(left, "/", "", []byte(`{"method":"x"}`))
					waiting <- err
				}()
				synctest.Wait()
				leave(gone)
				if err := <-waiting; !errors.Is(err, gone) {
					t.Errorf("a caller that has left: %v", err)
				}
			}
			leave(nil)
			close(core.end)
			for range calls {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

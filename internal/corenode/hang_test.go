package corenode

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The states of a hangingCore.
const (
	coreUp    int32 = iota
	coreBusy        // all threads for calls have something to do for long
	coreHangs       // as after SIGSTOP
)

// A hangingCore answers calls at once, and scantxoutset after 20 minutes.
type hangingCore struct{ does atomic.Int32 }

// RoundTrip implements http.RoundTripper.
func (f *hangingCore) RoundTrip(r *http.Request) (*http.Response, error) {
	var call []byte
	if r.Body != nil {
		call, _ = io.ReadAll(r.Body)
	}
	takes := time.Duration(0)
	switch does := f.does.Load(); {
	case does == coreHangs:
		<-r.Context().Done()
	case r.URL.Path == lifePath:
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody}, nil
	case does == coreBusy, strings.Contains(string(call), "scantxoutset"):
		takes = 20 * time.Minute
	}
	for end := time.Now().Add(takes); time.Now().Before(end); {
		select {
		case <-r.Context().Done():
		case <-time.After(time.Second):
		}
		if r.Context().Err() != nil || f.does.Load() == coreHangs {
			<-r.Context().Done()
			break
		}
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	body := `{"result":"` + strings.Repeat("0", 64) + `","error":null,"id":0}`
	return &http.Response{
		StatusCode: http.StatusOK, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

func (f *hangingCore) client() *Client {
	c := &Client{
		base: "http://core", login: fixedLogin("a:b"), timeout: DefaultTimeout, maxReply: MaxReply,
		large: make(chan struct{}, 1),
	}
	c.own, c.forward, c.life = &http.Client{Transport: f}, &http.Client{Transport: f}, &http.Client{Transport: f}
	return c
}

// outcome is how a call ended, and after what time.
type outcome struct {
	err   error
	after time.Duration
}

// begin begins a call.
func begin(call func() error) chan outcome {
	ended, began := make(chan outcome, 1), time.Now()
	go func() {
		err := call()
		ended <- outcome{err, time.Since(began)}
	}()
	return ended
}

// Beside a Core that hangs all calls that are under way end soon, and those that come are refused at once. They are
// passed on again when Core gives a sign of life.
func TestCallsAtHangingCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute) // until the last question has ended
		var core hangingCore
		c := core.client()
		passOn := func(method string) func() error {
			return func() error {
				_, err := c.ForwardOwn(t.Context(), "/", []byte(`{"method":"`+method+`"}`))
				return err
			}
		}
		long := begin(passOn("scantxoutset"))
		time.Sleep(10 * time.Minute)
		core.does.Store(coreHangs)
		hung := time.Now()
		own := begin(func() error { return c.Call(t.Context(), nil, "sendrawtransaction") })
		passed := begin(passOn("getmempoolinfo"))
		theirs := begin(func() error { _, err := c.Forward(t.Context(), "/", "Basic eDp5", []byte(`{}`)); return err })
		for name, ended := range map[string]chan outcome{
			"own": own, "passed on": passed, "with another login": theirs, "long": long,
		} {
			o := <-ended
			if !errors.Is(o.err, ErrAway) || time.Since(hung) > 15*time.Second {
				t.Errorf("%s: %v after %v", name, o.err, o.after)
			}
		}
		for range 3 {
			if o := <-begin(passOn("getmempoolinfo")); !errors.Is(o.err, ErrAway) || o.after != 0 {
				t.Errorf("%v after %v", o.err, o.after)
			}
		}
		time.Sleep(2 * lifeTime) // nobody asks any more
		core.does.Store(coreUp)
		_ = passOn("getmempoolinfo")() // is refused, and has Core looked at
		synctest.Wait()
		if o := <-begin(passOn("getmempoolinfo")); o.err != nil {
			t.Error(o.err)
		}
		if _, silent := c.Silent(); silent {
			t.Error("still silent")
		}
	})
}

// A call may take hours while Core answers other calls, and while all threads of Core are busy.
func TestLongCallsAtLivingCore(t *testing.T) {
	for name, does := range map[string]int32{"it answers others": coreUp, "it is busy": coreBusy} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(time.Minute) // until the last question has ended
				var core hangingCore
				core.does.Store(does)
				c := core.client()
				o := <-begin(func() error {
					_, err := c.ForwardOwn(t.Context(), "/", []byte(`{"method":"scantxoutset"}`))
					return err
				})
				if o.err != nil || o.after != 20*time.Minute {
					t.Errorf("%v after %v", o.err, o.after)
				}
			})
		})
	}
}

// A large reply is watched until it is closed: it ends when Core begins to hang.
func TestLargeReplyOfHangingCore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var core hangingCore
		c := core.client()
		c.maxReply = 10
		c.forward.Transport = transport(func(r *http.Request) (*http.Response, error) {
			core.does.Store(coreHangs)
			body := io.MultiReader(strings.NewReader(string(frames[0].begin)), ends{r.Context()})
			return &http.Response{StatusCode: http.StatusOK, ContentLength: 100, Body: io.NopCloser(body)}, nil
		})
		reply, err := c.ForwardOwn(t.Context(), "/", []byte(`{}`))
		if err != nil || reply.Large == nil {
			t.Fatal(err)
		}
		o := <-begin(func() error { _, err := io.ReadAll(reply.Large); return err })
		if !errors.Is(o.err, ErrAway) || o.after > 15*time.Second {
			t.Errorf("%v after %v", o.err, o.after)
		}
		err = reply.Large.Close()
		time.Sleep(time.Minute) // the last question has ended
		c.hang.mu.Lock()
		defer c.hang.mu.Unlock()
		if err != nil || len(c.hang.calls) != 0 {
			t.Errorf("%v, %d calls under way", err, len(c.hang.calls))
		}
	})
}

// ends is a body of which nothing comes before the request ends.
type ends struct{ context.Context }

// Read implements io.Reader.
func (e ends) Read([]byte) (int, error) {
	<-e.Done()
	return 0, e.Err()
}

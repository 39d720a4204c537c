package rpc

import (
	"net/http"
	"testing"
)

func TestFromElsewhere(t *testing.T) {
	for _, test := range []struct {
		host, origin, site string
		want               bool
	}{
		{"127.0.0.1:8332", "", "", false},
		{"127.0.0.1", "", "", false},
		{"[::1]:8332", "", "", false},
		{"::1", "", "", false},
		{"localhost:8332", "", "", false},
		{"LOCALHOST", "", "", false},
		{"192.0.2.7:8332", "", "", false},
		{"", "", "", false},
		{"127.0.0.1:8332", "http://127.0.0.1:8332", "same-origin", false},
		{"localhost:8332", "http://LocalHost:8332", "", false},
		{"127.0.0.1:8332", "", "none", false},

		{"evil.example:8332", "http://evil.example:8332", "same-origin", true}, // a name made to lead here
		{"evil.example:8332", "", "", true},
		{"127.0.0.1.evil.example", "", "", true},
		{"localhost.evil.example", "", "", true},
		{"127.0.0.1:8332", "http://evil.example", "", true},
		{"127.0.0.1:8332", "http://127.0.0.1:9000", "", true},
		{"127.0.0.1:8332", "null", "", true},
		{"127.0.0.1:8332", "https://127.0.0.1:8332", "", false},
		{"localhost", "http://localhost", "", false},
		{"localhost", "capacitor://localhost", "", true}, // a page of an app on this machine
		{"localhost", "://localhost", "", true},
		{"127.0.0.1:8332", "http://x@127.0.0.1:8332", "", true},
		{"127.0.0.1:8332", "http://127.0.0.1:8332/x", "", true},
		{"127.0.0.1:8332", "http://127.0.0.1:8332#", "", true},
		{"127.0.0.1:8332", "ftp://127.0.0.1:8332", "", true},
		{"127.0.0.1:8332", "127.0.0.1:8332", "", true},
		{"127.0.0.1:8332", "http://", "", true},
		{"127.0.0.1:8332", "", "cross-site", true},
		{"127.0.0.1:8332", "", "same-site", true},
		{"127.0.0.1:8332", "%zz", "", true},
	} {
		r := &http.Request{Host: test.host, Header: http.Header{}}
		for name, value := range map[string]string{"Origin": test.origin, "Sec-Fetch-Site": test.site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if got := fromElsewhere(r, nil); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

// Pages are refused before anything else is looked at, and only where the
// operator wants it.
func TestCheckOrigin(t *testing.T) {
	for _, check := range []bool{false, true} {
		s := startServer(t, Config{User: "u", Password: "p", CheckOrigin: check})
		s.Ready(blockerTable(t, newBlocker()))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.Addrs()[0].String()+
			"/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", "http://evil.example")
		resp, err := newClient(t, s).http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if want := map[bool]int{false: 401, true: 403}[check]; resp.StatusCode != want {
			t.Errorf("got %d, want %d", resp.StatusCode, want)
		}
	}
}

package forward_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/e2e/replay"
	"github.com/seed61375155/trawl/rpc/forward"
)

// Core itself judges the logins that are passed on: its whitelist, whether it stands in
// the configuration or only on the command line of the running Core.
func TestLiveForwarding(t *testing.T) {
	auth := func(user string) string { return user + ":s$" + rpcauth.Hash("s", userSecret) }
	core := replay.StartCore(t,
		"rpcauth="+auth("alice")+"\nrpcauth="+auth("listed")+"\nrpcauth="+auth("hidden")+
			"\nrpcwhitelist=listed:getmempoolinfo\nrpcwhitelistdefault=0",
		"-rpcwhitelist=hidden:getmempoolinfo", "-rpcwhitelistdefault=0", "-rpcauth="+auth("late"))
	configured, err := corenode.ReadConfig(core.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	p := newPair(t, func(c *forward.Config) {
		c.Configured = &configured
		c.Core, err = corenode.New(corenode.Config{Address: configured.Address, Cookie: configured.Cookie})
		if err != nil {
			t.Fatal(err)
		}
	})
	ready := func() {
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if status, _ := p.post(t, asOwn, "/", `{"method":"getmempoolinfo"}`); status == 200 {
				return
			}
			if time.Now().After(end) {
				t.Fatal("Core does not start")
			}
		}
	}
	ready()
	for _, test := range []struct {
		user, method string
		status       int
	}{
		{"alice", "getmempoolinfo", 200},
		{"alice", "getblockcount", 200},
		{"alice", "nosuch", 404},
		{"alice", "stop", 200},
		{"listed", "getmempoolinfo", 200},
		{"listed", "getpeerinfo", 403},
		{"listed", "getblockcount", 403},
		{"listed", "stop", 403},
		{"hidden", "getmempoolinfo", 200},
		{"hidden", "getpeerinfo", 403},   // by Core
		{"hidden", "getblockcount", 200}, // its whitelist is not known: reading of blocks
		{"hidden", "stop", 403},
		{"late", "getmempoolinfo", 200},
		{"late", "getpeerinfo", 200},
		{"late", "stop", 403},
	} {
		status, reply := p.post(t, test.user+":"+userSecret, "/", `{"method":"`+test.method+`","id":1}`)
		if status != test.status {
			t.Errorf("%s calls %s: %d, want %d: %s", test.user, test.method, status, test.status, reply)
		}
	}
	if status, _ := p.post(t, "alice:"+guess, "/", `{"method":"getmempoolinfo"}`); status != 401 {
		t.Errorf("a wrong login: %d", status)
	}
	before, err := os.ReadFile(configured.Cookie)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := p.post(t, string(before), "/", `{"method":"stop","id":1}`); status != 200 {
		t.Errorf("Core's cookie: %d", status)
	}
	core.Kill()
	core.Start()
	ready() // with another cookie, which is read again
	after, err := os.ReadFile(configured.Cookie)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := p.post(t, string(after), "/", `{"method":"getmempoolinfo"}`); status != 200 {
		t.Errorf("Core's new cookie: %d", status)
	}
	if status, _ := p.post(t, string(before), "/", `{"method":"getmempoolinfo"}`); status != 401 {
		t.Errorf("Core's old cookie: %d", status)
	}
	direct := &pair{url: configured.Address.String()}
	compareReplies(t, p, direct, string(after))
	if core.Live {
		measure(t, p, direct, string(after))
	}
}

// compareReplies holds what comes through against what Core says.
func compareReplies(t *testing.T, p, direct *pair, login string) {
	t.Helper()
	for _, body := range []string{
		`{"method":"getblockchaininfo","id":"x"}`, `{"jsonrpc":"2.0","method":"getchaintips","id":1}`,
		`{"jsonrpc":"1.0","method":"gettxout","params":["00",0],"id":null}`, `{"method":"gettxout","params":[],"id":3}`,
		`{"jsonrpc":"2.0","method":"getrawmempool","params":{"verbose":true},"id":4}`, `{"method":"getnosuch","id":5}`,
		`{"jsonrpc":"2.0","method":"getpeerinfo","params":[]}`,
		`[{"method":"getchaintips","id":1},{"jsonrpc":"2.0","method":"gettxout","params":["zz",0],"id":2}]`,
	} {
		status, reply := p.post(t, login, "/", body)
		wantStatus, want := direct.post(t, login, "/", body)
		if status != wantStatus || reply != want {
			t.Errorf("%s: %d %s, want %d %s", body, status, reply, wantStatus, want)
		}
	}
}

// measure shows what a call costs more than at Core.
func measure(t *testing.T, p, direct *pair, login string) {
	t.Helper()
	const rounds = 200
	median := func(to *pair) time.Duration {
		took := make([]time.Duration, rounds)
		for i := range took {
			began := time.Now()
			to.post(t, login, "/", `{"method":"getmempoolinfo","id":`+strconv.Itoa(i)+`}`)
			took[i] = time.Since(began)
		}
		return middle(took)
	}
	t.Logf("median of %d calls: %v at Core, %v passed on", rounds, median(direct), median(p))
}

// Every method of Core's is known here, as a method that Core answers or as one of our
// own.
func TestLiveMethods(t *testing.T) {
	core := replay.StartCore(t, "")
	configured, err := corenode.ReadConfig(core.Dir, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := corenode.New(corenode.Config{Address: configured.Address, Cookie: configured.Cookie})
	if err != nil {
		t.Fatal(err)
	}
	var help string
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if err = c.Call(t.Context(), &help, "help"); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	known, err := os.ReadFile("../../docs/openrpc.json")
	if err != nil {
		t.Fatal(err)
	}
	var category string
	n := 0
	for line := range strings.Lines(help) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "== "); ok {
			category = name
			continue
		}
		name, _, _ := strings.Cut(line, " ")
		if name == "" || strings.HasPrefix(category, "Wallet") {
			continue
		}
		n++
		if !strings.Contains(string(known), `"name": "`+name+`"`) {
			t.Errorf("%s: nobody has said who answers %s", category, name)
		}
	}
	if n < 80 {
		t.Errorf("%d methods", n)
	}
}

package torcontrol_test

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/torcontrol"
)

const (
	service    = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd"
	privateKey = "ED25519-V3:c2VjcmV0LWtleS1vZi10aGUtc2VydmljZQ=="
	password   = "pass\"word"
)

var cookie = []byte("cookie-of-thirty-two-bytes-xxxxx")

// A tor answers as Tor does.
type tor struct {
	net.Listener

	methods string
	answers map[string]string // by the beginning of a command; others are answered as usual
	asked   chan string
}

func newTor(t *testing.T, methods string, answers map[string]string) *tor {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &tor{Listener: l, methods: methods, answers: answers, asked: make(chan string, 100)}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			done.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		done.Wait()
	})
	return s
}

func (s *tor) serve(conn net.Conn) {
	defer conn.Close()
	var proof string
	for lines := bufio.NewReader(conn); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\r\n")
		s.asked <- line
		answer := ""
		for begin, text := range s.answers {
			if strings.HasPrefix(line, begin) {
				answer = text
			}
		}
		verb, rest, _ := strings.Cut(line, " ")
		switch {
		case answer != "":
		case verb == "PROTOCOLINFO":
			answer = "250-PROTOCOLINFO 1\r\n250-AUTH METHODS=" + s.methods + " COOKIEFILE=\"/a \\\"b\\\"\"\r\n" +
				"250-VERSION Tor=\"0.4\"\r\n250 OK\r\n"
		case verb == "AUTHCHALLENGE":
			nonce, _ := hex.DecodeString(strings.TrimPrefix(rest, "SAFECOOKIE "))
			sum := func(key string) string {
				h := hmac.New(sha256.New, []byte(key))
				h.Write(append(append(append([]byte(nil), cookie...), nonce...), make([]byte, 32)...))
				return hex.EncodeToString(h.Sum(nil))
			}
			proof = sum("Tor safe cookie authentication controller-to-server hash")
			answer = fmt.Sprintf("250 AUTHCHALLENGE SERVERHASH=%s SERVERNONCE=%x\r\n",
				sum("Tor safe cookie authentication server-to-controller hash"), make([]byte, 32))
		case verb == "AUTHENTICATE":
			answer = "515 Bad authentication\r\n"
			wanted := map[string]string{"NULL": "", "HASHEDPASSWORD": `"pass\"word"`, "COOKIE,SAFECOOKIE": proof}
			if rest == wanted[s.methods] {
				answer = "250 OK\r\n"
			}
		case verb == "GETINFO":
			answer = "650 NOTICE news\r\n250-net/listeners/socks=\"unix:/x\" \"127.0.0.1:9150\"\r\n250 OK\r\n"
		case verb == "ADD_ONION":
			answer = "250-ServiceID=" + service + "\r\n250-PrivateKey=" + privateKey + "\r\n250 OK\r\n"
		default:
			answer = "510 Unrecognized command\r\n"
		}
		_, _ = io.WriteString(conn, answer)
	}
}

// A node records Tor's services for a node.
type node struct {
	mu       sync.Mutex
	key      []byte
	log      []string
	events   []string
	notified chan struct{}
}

func (n *node) add(list *[]string, line string) {
	n.mu.Lock()
	*list = append(*list, line)
	n.mu.Unlock()
	select {
	case n.notified <- struct{}{}:
	default:
	}
}

func (n *node) Published(a netaddr.Addr)       { n.add(&n.events, "+"+a.String()) }
func (n *node) Withdrawn(a netaddr.Addr)       { n.add(&n.events, "-"+a.String()) }
func (n *node) Proxied(a netaddr.Addr)         { n.add(&n.events, "="+a.String()) }
func (n *node) line(_ slog.Level, line string) { n.add(&n.log, line) }
func (n *node) text(list *[]string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(*list, "\n")
}

func (n *node) Load() ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.key == nil {
		return nil, fs.ErrNotExist
	}
	return n.key, nil
}

func (n *node) Save(key []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.key = key
	return nil
}

// run runs until a text is among the events or the lines of the log.
func run(t *testing.T, s *tor, n *node, password, until string) {
	t.Helper()
	runWith(t, s, n, torcontrol.Config{Password: password}, until)
}

// runWith is run with more of a configuration.
func runWith(t *testing.T, s *tor, n *node, cfg torcontrol.Config, until string) {
	t.Helper()
	n.notified = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		torcontrol.Run(ctx, torcontrol.Config{
			Addr: s.Addr().String(), Password: cfg.Password, Defend: cfg.Defend, Keys: n, Port: 8333,
			Target: "127.0.0.1:8334", FindProxy: true,
			Log: n.line, Dial: func(ctx context.Context, addr string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
			},
			ReadCookie: func(path string) ([]byte, error) {
				if path != `/a "b"` {
					return nil, errors.New("no such file")
				}
				return cookie, nil
			},
		}, n)
	}()
	limit := time.After(20 * time.Second)
	for !strings.Contains(n.text(&n.events)+"\n"+n.text(&n.log), until) {
		select {
		case <-n.notified:
		case <-limit:
			t.Errorf("never %q; events %s, log %s", until, n.text(&n.events), n.text(&n.log))
			cancel()
		case <-ctx.Done():
			<-ended
			return
		}
	}
	cancel()
	<-ended
}

// By each way to log in the service is there, at an address that stays, and gone at the end.
func TestService(t *testing.T) {
	for methods, login := range map[string]string{"NULL": "", "HASHEDPASSWORD": password, "COOKIE,SAFECOOKIE": ""} {
		n := &node{}
		const at = service + ".onion:8333"
		s := newTor(t, methods, nil)
		run(t, s, n, login, "+"+at)
		if got := n.text(&n.events); got != "=127.0.0.1:9150\n+"+at+"\n-"+at {
			t.Errorf("%s: events %s", methods, got)
		}
		if string(n.key) != privateKey {
			t.Errorf("%s: key %q", methods, n.key)
		}
		again := &node{key: n.key}
		run(t, s, again, login, "+"+at)
		close(s.asked)
		var added []string
		for line := range s.asked {
			if strings.HasPrefix(line, "ADD_ONION") {
				added = append(added, line)
			}
		}
		const port = " Port=8333,127.0.0.1:8334"
		if len(added) < 2 || added[0] != "ADD_ONION NEW:ED25519-V3"+port || added[1] != "ADD_ONION "+privateKey+port {
			t.Errorf("%s: %q", methods, added)
		}
		for _, secret := range []string{password, "word", privateKey, string(cookie), hex.EncodeToString(cookie)} {
			if strings.Contains(n.text(&n.log), secret) {
				t.Errorf("%s: a secret is in the log: %s", methods, n.text(&n.log))
			}
		}
	}
}

// The longest line and the longest reply are read; what is longer ends the connection.
func TestLongestReplies(t *testing.T) {
	const published, ended = "+" + service, "tor: MAX_LINE_LENGTH exceeded\nNot connected to Tor control port"
	info := func(more string) map[string]string {
		return map[string]string{"PROTOCOLINFO": "250-AUTH METHODS=NULL\r\n" + more + "250 OK\r\n"}
	}
	line := func(n int) string { return "250-" + strings.Repeat("A", n-len("250-\r")) + "\r\n" }
	for name, test := range map[string]struct{ more, until string }{
		"the longest line":  {line(100_000), published},
		"a byte more":       {line(100_001), ended},
		"the longest reply": {strings.Repeat("250-x\r\n", 998), published},
		"a line more":       {strings.Repeat("250-x\r\n", 999), ended},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, newTor(t, "NULL", info(test.more)), new(node), "", test.until)
		})
	}
}

// Tor is asked to defend the service if that is wanted, and asked for one without defences where it knows none.
func TestDefences(t *testing.T) {
	const plain, defended = "ADD_ONION NEW:ED25519-V3 Port=", "ADD_ONION NEW:ED25519-V3 PoWDefensesEnabled=1 Port="
	for _, test := range []struct {
		name    string
		wanted  bool
		answers map[string]string
		asked   []string
		until   string // in the log or the events
	}{
		{"not wanted", false, nil, []string{plain}, "ADD_ONION successful\n"},
		{"wanted", true, nil, []string{defended}, "ADD_ONION successful (PoW defenses enabled)\n"},
		{
			"not known", true, map[string]string{defended: "512 Unrecognized option\r\n"},
			[]string{defended, plain}, "ADD_ONION successful (PoW defenses disabled)\n",
		},
		{
			"not known, and refused", true, map[string]string{"ADD_ONION": "512 no\r\n"},
			[]string{defended, plain}, "tor: Add onion failed; error code 512",
		},
		{
			"refused", true, map[string]string{"ADD_ONION": "551 no\r\n"},
			[]string{defended}, "tor: Add onion failed; error code 551",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, s := new(node), newTor(t, "NULL", test.answers)
			runWith(t, s, n, torcontrol.Config{Defend: test.wanted}, test.until)
			close(s.asked)
			var asked []string
			for line := range s.asked {
				if strings.HasPrefix(line, "ADD_ONION") {
					asked = append(asked, line[:strings.Index(line, "Port=")+len("Port=")])
				}
			}
			if !slices.Equal(asked, test.asked) {
				t.Errorf("asked %q, want %q", asked, test.asked)
			}
		})
	}
}

// A refusal of Tor is logged in Core's words, and there is no service.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		methods, password string
		answers           map[string]string
		want              string
	}{
		"info":  {"NULL", "", map[string]string{"PROTOCOLINFO": "551 no\r\n"}, "tor: Requesting protocol info failed"},
		"login": {"HASHEDPASSWORD", "wrong", nil, "tor: Authentication failed"},
		"no password": {
			"HASHEDPASSWORD", "", nil,
			"tor: The only supported authentication mechanism left is password, but no password provided with -torpassword",
		},
		"no use of it": {"NULL", "x", nil, "tor: Password provided with -torpassword, but HASHEDPASSWORD authentication is not available"},
		"no method":    {"OTHER", "", nil, "tor: No supported authentication method"},
		"challenge":    {"SAFECOOKIE", "", map[string]string{"AUTHCHALLENGE": "513 no\r\n"}, "tor: SAFECOOKIE authentication challenge failed"},
		"short nonce": {"SAFECOOKIE", "", map[string]string{"AUTHCHALLENGE": "250 AUTHCHALLENGE " +
			"SERVERHASH=00 SERVERNONCE=00\r\n"}, "tor: ServerNonce is not 32 bytes"},
		"no proof": {"SAFECOOKIE", "", map[string]string{"AUTHCHALLENGE": "250 AUTHCHALLENGE " +
			"SERVERHASH=00 SERVERNONCE=" + strings.Repeat("00", 32) + "\r\n"}, "tor: ServerHash does not match"},
		"other cookie": {"SAFECOOKIE", "", map[string]string{"PROTOCOLINFO": "250-AUTH METHODS=SA" +
			"FECOOKIE COOKIEFILE=\"/c\"\r\n250 OK\r\n"}, "tor: Authentication cookie " +
			"/c could not be opened (check permissions)"},
		"service": {"NULL", "", map[string]string{"ADD_ONION": "512 no\r\n"}, "tor: Add onion failed; error code 512"},
		"old Tor": {"NULL", "", map[string]string{"ADD_ONION": "510 no\r\n"}, "tor: Add onion failed with unrecognized command"},
		"no address": {
			"NULL", "",
			map[string]string{"ADD_ONION": "250-ServiceID=x\r\n250 OK\r\n"},
			"tor: Error parsing ADD_ONION parameters",
		},
		"lines for ever": {"NULL", "", map[string]string{"PROTOCOLINFO": strings.Repeat("x", 200_000)}, "tor: MAX_LINE_LENGTH exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{}
			run(t, newTor(t, test.methods, test.answers), n, test.password, test.want)
			if strings.Contains(n.text(&n.events), "+") || n.key != nil {
				t.Errorf("events %s", n.text(&n.events))
			}
		})
	}
}

// FuzzTor speaks with a Tor that answers anything: an address that is published is one.
func FuzzTor(f *testing.F) {
	f.Add("250-AUTH METHODS=NULL\r\n250 OK\r\n250 OK\r\n250-ServiceID=" + service + "\r\n250 OK\r\n")
	f.Add("250-AUTH METHODS=SAFECOOKIE COOKIEFILE=\"\\101\\n\\\\\"\r\n250 OK\r\n250 AUTHCHALLENGE SERVERHASH=\r\n")
	f.Fuzz(func(t *testing.T, answers string) {
		ctx, cancel := context.WithCancel(t.Context())
		n := &node{notified: make(chan struct{}, 1)}
		torcontrol.Run(ctx, torcontrol.Config{
			Keys: n, Port: 1, FindProxy: len(answers)%2 == 0,
			Dial: func(context.Context, string) (net.Conn, error) {
				cancel() // there is one connection
				return &recorded{Reader: strings.NewReader(answers)}, nil
			},
			ReadCookie: func(string) ([]byte, error) { return cookie, nil },
		}, n)
		if got := n.text(&n.events); strings.Contains(got, "+") && !strings.Contains(got, ".onion:1\n-") {
			t.Errorf("events %q", got)
		}
	})
}

// A recorded is a connection whose other end has said all that it will.
type recorded struct {
	io.Reader
	net.Conn
}

func (r *recorded) Read(b []byte) (int, error) { return r.Reader.Read(b) }
func (*recorded) Write(b []byte) (int, error)  { return len(b), nil }
func (*recorded) Close() error                 { return nil }

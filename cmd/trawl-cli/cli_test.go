package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"trawl-cli": main})
}

// TestScripts runs the program as a user does; each file is one behaviour. A
// server that answers every call with its parameters is on $PORT, for the user
// alice with the password hush; nobody listens on $CLOSED.
func TestScripts(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "alice" || password != "hush" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, params, _ := strings.Cut(string(body), `"params":`)
		params, _, _ = strings.Cut(params, `,"id":1`)
		io.WriteString(w, `{"result":`+params+`,"id":1}`)
	}))
	t.Cleanup(echo.Close) // not deferred: the scripts run after this function
	port := func(option string) string { return strings.TrimPrefix(option, "-rpcport=") }
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector waits a second otherwise
			env.Setenv("PORT", port((&server{Server: echo}).port()))
			env.Setenv("CLOSED", port(closedPort(t)))
			return nil
		},
	})
}

// server answers every call with reply and keeps what it was asked.
type server struct {
	*httptest.Server
	status     int
	reply      string
	asked      []*http.Request
	askedBody  []string
	beforeDone int // replies "warming up" this often
}

func newServer(t *testing.T, status int, reply string) *server {
	t.Helper()
	s := &server{status: status, reply: reply}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.asked, s.askedBody = append(s.asked, r), append(s.askedBody, string(body))
		if s.beforeDone > 0 {
			s.beforeDone--
			io.WriteString(w, `{"error":{"code":-28,"message":"Loading block index…"},"id":1}`)
			return
		}
		w.WriteHeader(s.status)
		io.WriteString(w, s.reply)
	}))
	t.Cleanup(s.Close)
	return s
}

// port returns the option that leads to the server.
func (s *server) port() string {
	return "-rpcport=" + s.URL[strings.LastIndexByte(s.URL, ':')+1:]
}

// result is what one run of the program leaves behind.
type result struct {
	status      int
	out, errors string
	pauses      int
}

// cli runs the program in a home of its own.
func cli(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var out, errors bytes.Buffer
	var r result
	r.status = run(args, &world{
		stdin: strings.NewReader(stdin), stdout: &out, stderr: &errors, home: t.TempDir(),
		pause: func(time.Duration) { r.pauses++ },
	})
	r.out, r.errors = out.String(), errors.String()
	return r
}

// want compares the status, the output and the errors of a run.
func (r result) want(t *testing.T, status int, out, errors string) {
	t.Helper()
	if r.status != status || r.out != out || r.errors != errors {
		t.Errorf("got  %d, %q, %q\nwant %d, %q, %q", r.status, r.out, r.errors, status, out, errors)
	}
}

func TestResults(t *testing.T) {
	tests := []struct{ reply, want string }{
		{`{"jsonrpc":"2.0","result":null,"id":1}`, ""},
		{`{"result":"","error":null,"id":1}`, ""},
		{`{"result":"a\u0000b\nc","id":1}`, "a\x00b\nc\n"},
		{`{"result":7,"id":1}`, "7\n"},
		{`{"result":1.50000000,"id":1}`, "1.50000000\n"},
		{`{"result":true,"id":1}`, "true\n"},
		{`{"result":{},"id":1}`, "{\n}\n"},
		{`{"result":[],"id":1}`, "[\n]\n"},
		{`{"result":{"b":[1,2.0],"a":{"x":null}},"id":1}`, "{\n  \"b\": [\n    1,\n    2.0\n  ],\n  \"a\": {\n    \"x\": null\n  }\n}\n"},
	}
	for _, test := range tests {
		cli(t, "", newServer(t, 200, test.reply).port(), "-rpcpassword=p", "x").want(t, 0, test.want, "")
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name   string
		status int
		reply  string
		exit   int
		want   string
	}{
		{"of a method", 500, `{"result":null,"error":{"code":-8,"message":"Invalid"},"id":1}`, 8, "error code: -8\nerror message:\nInvalid\n"},
		{
			"exit status has 8 bits", 404, `{"error":{"code":-32601,"message":"Method not found"},"id":1}`, 89,
			"error code: -32601\nerror message:\nMethod not found\n",
		},
		{
			"no wallet chosen", 500, `{"error":{"code":-19,"message":"Wallet file not specified."},"id":1}`, 19,
			"error code: -19\nerror message:\nWallet file not specified." + walletAdvice("trawl-cli") + "\n",
		},
		{"no message", 500, `{"error":{"code":-1},"id":1}`, 1, "error code: -1\n\n"},
		{"no code", 500, `{"error":{"message":"x"},"id":1}`, 1, "error: JSON value of type null is not of expected type number\n"},
		{"error is a string", 500, `{"error":"x","id":1}`, 1, "error: JSON value of type null is not of expected type number\n"},
		{"busy", 503, "Work queue depth exceeded", 1, "error: Server response: Work queue depth exceeded\n"},
		{"forbidden", 403, "", 1, "error: server returned HTTP error 403\n"},
		{"empty", 200, "", 1, "error: no response from server\n"},
		{"empty and not found", 404, "", 1, "error: no response from server\n"},
		{"not JSON", 200, "<html>", 1, "error: couldn't parse reply from server\n"},
		{"not an object", 200, "[]", 1, "error: JSON value of type array is not of expected type object\n"},
		{"empty object", 200, "{}", 1, "error: expected reply to have result, error and id properties\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cli(t, "", newServer(t, test.status, test.reply).port(), "-rpcpassword=p", "x").want(
				t, test.exit, "", test.want,
			)
		})
	}
}

func TestRequests(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string // params
	}{
		{"no arguments", []string{"getblockcount"}, `[]`},
		{"strings and JSON", []string{
			"scanblocks", "start", `["raw(51)"]`, "0", "1.50", "basic",
			`{"filter_false_positives":true}`,
		}, `["start",["raw(51)"],0,1.50,"basic",{"filter_false_positives":true}]`},
		{"numbers that are strings", []string{"getblockfilter", "00", "1"}, `["00","1"]`},
		{"either", []string{"getblockstats", "00ff", "null"}, `["00ff",null]`},
		{"either, a number", []string{"getblockstats", "7"}, `[7]`},
		{"arguments with dashes", []string{"getblockhash", "-1"}, `[-1]`},
		{
			"named",
			[]string{"-named", "scanblocks", "action=start", "start_height=1", "filter_false_positives=true"},
			`{"action":"start","start_height":1,"filter_false_positives":true}`,
		},
		{"named twice", []string{"-named", "echo", "arg0=a", "arg1=b", "arg0=c"}, `{"arg0":"c","arg1":"b"}`},
		{"named with an equals sign", []string{"-named", "echo", "arg0=a=b"}, `{"arg0":"a=b"}`},
		{"named and not", []string{"-named", "scanblocks", "start", "stop_height=2", "[]"}, `{"stop_height":2,"args":["start",[]]}`},
		{
			"a value with an equals sign", []string{"-named", "analyzepsbt", "cHNi=", "psbt=a="},
			`{"psbt":"a=","args":["cHNi="]}`,
		},
		{
			"text with an equals sign after a name", []string{"-named", "createwallet", "a=b", "blank=true"},
			`{"blank":true,"args":["a=b"]}`,
		},
		{
			"JSON with an equals sign", []string{"-named", "createpsbt", `["a=b"]`, "outputs=[]"},
			`{"outputs":[],"args":[["a=b"]]}`,
		},
		{"a name that the method lacks", []string{"-named", "getmempoolentry", "x=y"}, `{"x":"y"}`},
		{"named args", []string{"-named", "echo", "args=[0]", "x"}, `{"args":"[0]","args":["x"]}`},
		{"escapes", []string{"echo", "a\"\\\n\x01é"}, `["a\"\\\n\u0001é"]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, 200, `{"result":null,"id":1}`)
			cli(t, "", append([]string{s.port(), "-rpcuser=u", "-rpcpassword=p:w"}, test.args...)...).want(t, 0, "", "")
			method := test.args[0]
			if method == "-named" {
				method = test.args[1]
			}
			want := `{"method":"` + method + `","params":` + test.want + `,"id":1,"jsonrpc":"2.0"}` + "\n"
			if s.askedBody[0] != want {
				t.Errorf("got  %swant %s", s.askedBody[0], want)
			}
			r := s.asked[0]
			if user, password, _ := r.BasicAuth(); user != "u" || password != "p:w" {
				t.Errorf("credentials %q %q", user, password)
			}
			if r.Method != http.MethodPost || r.RequestURI != "/" ||
				r.Header.Get("Content-Type") != "application/json" || !r.Close {
				t.Errorf("request %s %s %v", r.Method, r.RequestURI, r.Header)
			}
		})
	}
}

func TestWalletPath(t *testing.T) {
	for wallet, want := range map[string]string{
		"": "/wallet/", "a b/c": "/wallet/a%20b%2Fc",
		"é~-._1": "/wallet/%C3%A9~-._1", "a?b%": "/wallet/a%3Fb%25", "..": "/wallet/..",
	} {
		s := newServer(t, 200, `{"result":null,"id":1}`)
		cli(t, "", s.port(), "-rpcwallet="+wallet, "x").want(t, 0, "", "")
		if got := s.asked[0].RequestURI; got != want {
			t.Errorf("%q: got %s, want %s", wallet, got, want)
		}
	}
	s := newServer(t, 200, `{"result":null,"id":1}`)
	cli(t, "", s.port(), "-rpcwallet=w", "-norpcwallet", "x").want(t, 0, "", "")
	if got := s.asked[0].RequestURI; got != "/" {
		t.Errorf("no wallet: got %s", got)
	}
}

func TestStandardInput(t *testing.T) {
	s := newServer(t, 200, `{"result":null,"id":1}`)
	cli(t, "hush\ngreen\n0\n[]", s.port(), "-stdinrpcpass", "-stdin", "echo").want(t, 0, "", "")
	if !strings.Contains(s.askedBody[0], `"params":["green","0","[]"]`) {
		t.Errorf("got %s", s.askedBody[0])
	}
	if _, password, _ := s.asked[0].BasicAuth(); password != "hush" {
		t.Errorf("got password %q", password)
	}
	cli(t, "open sesame\n", s.port(), "-stdinwalletpassphrase", "walletpassphrase", "60").want(t, 0, "", "")
	if !strings.Contains(s.askedBody[1], `"params":["open sesame",60]`) {
		t.Errorf("got %s", s.askedBody[1])
	}
	cli(t, "getblockhash\n7\n", s.port(), "-stdin").want(t, 0, "", "")
	if !strings.Contains(s.askedBody[2], `{"method":"getblockhash","params":[7]`) {
		t.Errorf("got %s", s.askedBody[2])
	}
	cli(t, "zoo zoo zoo\nhush\n", s.port(), "-stdinwords", "discoveraccounts", "start").want(t, 0, "", "")
	if !strings.Contains(s.askedBody[3], `"params":["start","zoo zoo zoo","hush"]`) {
		t.Errorf("got %s", s.askedBody[3])
	}
	cli(t, "zoo zoo zoo", s.port(), "-stdinwords", "-named", "discoveraccounts", "action=start", "gap=7").want(t, 0, "", "")
	if body := s.askedBody[4]; !strings.Contains(body, `"source":"zoo zoo zoo","passphrase":"","gap":7`) {
		t.Errorf("got %s", body)
	}
	for _, words := range [][]string{{"stop"}, {"discoveraccounts", "status"}, {"discoveraccounts"}} {
		cli(t, "x", append([]string{"-stdinwords"}, words...)...).want(t, 1, "",
			"error: -stdinwords is only applicable for discoveraccounts start\n")
	}
	cli(t, "", "-stdinwords", "discoveraccounts", "start").want(t, 1, "",
		"error: -stdinwords specified but failed to read from standard input\n")
	cli(t, "", "-stdinrpcpass", "x").want(t, 1, "", "error: -stdinrpcpass specified but failed to read from standard input\n")
	cli(t, "x", "-stdinwalletpassphrase", "stop").want(t, 1, "",
		"error: -stdinwalletpassphrase is only applicable for walletpassphrase(change)\n")
}

// closedPort returns the option for a port that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(nil)
	s.Close()
	return (&server{Server: s}).port()
}

func connectError(port, reason string) string {
	return "error: timeout on transient error: Error while attempting to communicate with server 127.0.0.1:" +
		strings.TrimPrefix(port, "-rpcport=") + " (" + reason + ")\n\nMake sure the trawld server is running and that you " +
		"are connecting to the correct RPC port.\nUse \"trawl-cli -help\" for more info.\n"
}

func TestNoServer(t *testing.T) {
	port := closedPort(t)
	cli(t, "", port, "x").want(t, 1, "", connectError(port, "Could not connect to the server"))
}

func TestServerThatHangsUp(t *testing.T) {
	s := &server{Server: httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))}
	defer s.Close()
	cli(t, "", s.port(), "x").want(t, 1, "", connectError(s.port(), "EOF reached"))
}

func TestServerThatIsSilent(t *testing.T) {
	s := &server{Server: httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))}
	defer s.Close()
	cli(t, "", s.port(), "-rpcclienttimeout=1", "x").want(t, 1, "", connectError(s.port(), "timeout reached"))
}

func TestPorts(t *testing.T) {
	s := newServer(t, 200, `{"result":1,"id":1}`)
	port := strings.TrimPrefix(s.port(), "-rpcport=")
	cli(t, "", "-rpcconnect=127.0.0.1:"+port, "x").want(t, 0, "1\n", "")
	cli(t, "", "-rpcconnect=127.0.0.1:1", s.port(), "x").want(t, 0, "1\n",
		"Warning: Port specified in both -rpcconnect and -rpcport. Using -rpcport "+port+"\n")
	cli(t, "", "-rpcconnect=127.0.0.1:0", "x").want(t, 1, "", "error: Invalid port provided in -rpcconnect: 127.0.0.1:0\n")
	cli(t, "", "-rpcport=x", "x").want(t, 1, "", "error: Invalid port provided in -rpcport: x\n")
}

func TestUnixSocket(t *testing.T) {
	dir := t.TempDir()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"result":"`+r.RequestURI+`","id":1}`)
	})}
	go s.Serve(l)
	defer s.Close()
	cli(t, "", "-datadir="+dir, "-rpcunix=s", "-rpcwallet=w", "x").want(t, 0, "/wallet/w\n", "")
	port := closedPort(t)
	const nobody = "Could not connect to the server"
	cli(t, "", "-datadir="+dir, "-rpcunix=s", "-rpcconnect=127.0.0.1", port, "x").want(t, 1, "", connectError(port, nobody))
	missing := filepath.Join(dir, "none")
	want := strings.Replace(connectError("", nobody), "127.0.0.1:", missing, 1)
	cli(t, "", "-rpcunix="+missing, "x").want(t, 1, "", want)
}

func TestParameterTable(t *testing.T) {
	for method := range jsonParameters {
		for _, p := range parameters(method) {
			if p.name == "" || formOf(method, p.place) == asString || formOfName(method, p.name) == asString {
				t.Errorf("%s: %+v", method, p)
			}
		}
	}
}

// FuzzArguments: whatever words are given, the program prints an error or sends
// one line of JSON that a server can read.
func FuzzArguments(f *testing.F) {
	f.Add("scanblocks", "start\n[1]\n-1", false)
	f.Add("scanblocks", "start\nstop_height=1e9\nargs=x", true)
	f.Add("echojson", "\"\xff\"", false)
	f.Fuzz(func(t *testing.T, method, words string, byName bool) {
		convert := positional
		if byName {
			convert = named
		}
		params, err := convert(method, strings.Split(words, "\n"))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "Error parsing JSON: ") {
				t.Error(err)
			}
			return
		}
		if body := request(method, params); bytes.IndexByte(body, '\n') != len(body)-1 {
			t.Errorf("got %q", body)
		}
	})
}

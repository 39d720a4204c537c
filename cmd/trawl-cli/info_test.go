package main

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/options"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file. bitcoin-cli 30.2 printed the contents of these
// files for the same replies, but for the name of the program.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// replies reads testdata/replies.json: results of methods, some of them by wallet.
func replies(t *testing.T) *jsontree.Value {
	t.Helper()
	text, err := os.ReadFile("testdata/replies.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsontree.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// node answers calls from the replies, batches in reverse order. It fails the
// methods of missing.
func node(t *testing.T, missing ...string) *server {
	t.Helper()
	results := replies(t)
	answer := func(call *jsontree.Value, path string) *jsontree.Value {
		method := call.Get("method").Text()
		result := results.Get(method)
		if byWallet := results.Get(method + path); byWallet != nil {
			result = byWallet
		}
		v := jsontree.NewObject()
		if result == nil || slices.Contains(missing, method+path) {
			failure := jsontree.NewObject()
			failure.Add("code", jsontree.NewInt(-18))
			failure.Add("message", jsontree.NewString("no "+method))
			v.Add("error", failure)
		} else {
			v.Add("result", result)
		}
		v.Add("id", call.Get("id"))
		return v
	}
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		call, err := jsontree.Parse(body)
		if err != nil {
			t.Error(err)
		}
		s.askedBody = append(s.askedBody, string(body))
		if call.Kind() != jsontree.Array {
			io.WriteString(w, answer(call, r.RequestURI).String())
			return
		}
		answers := jsontree.NewArray()
		for i := call.Len() - 1; i >= 0; i-- {
			answers.Append(answer(call.At(i), r.RequestURI))
		}
		io.WriteString(w, answers.String())
	}))
	t.Cleanup(s.Close)
	return s
}

func TestGetInfo(t *testing.T) {
	s := node(t, "listwallets/")
	for name, args := range map[string][]string{
		"getinfo":        {"-getinfo"},
		"getinfo-colour": {"-getinfo", "-color=always"},
		"getinfo-wallet": {"-getinfo", "-rpcwallet=b"},
	} {
		r := cli(t, "", append([]string{s.port()}, args...)...)
		r.want(t, 0, r.out, "")
		golden(t, name, r.out)
	}
	qbit := cli(t, "", s.port(), "-getinfo", "-dialect=qbit").out
	if strings.Count(qbit, "(QBT/kvB)") != 2 || strings.Contains(qbit, "BTC") {
		t.Errorf("units of qbit's chains:\n%s", qbit)
	}
	want := `[{"method":"getnetworkinfo","params":null,"id":0,"jsonrpc":"2.0"},{"method":"getblockchaininfo",` +
		`"params":null,"id":1,"jsonrpc":"2.0"},` +
		`{"method":"getwalletinfo","params":null,"id":2,"jsonrpc":"2.0"},{"method":"getbalances","params":null,"id":3,"jsonrpc":"2.0"}]` + "\n"
	if s.askedBody[0] != want {
		t.Errorf("asked %s", s.askedBody[0])
	}
	s = node(t, "getwalletinfo/", "getbalances/")
	r := cli(t, "", s.port(), "-getinfo")
	r.want(t, 0, r.out, "")
	golden(t, "getinfo-wallets", r.out)
	cli(t, "", s.port(), "-getinfo", "-color=red").want(t, 1, "",
		"error: Invalid value for -color option. Valid values: always, auto, never.\n")
	for _, method := range []string{"getnetworkinfo", "getblockchaininfo"} {
		cli(t, "", node(t, method+"/").port(), "-getinfo").want(t, 18, "", "error code: -18\nerror message:\nno "+method+"\n")
	}
}

func TestNetInfo(t *testing.T) {
	results := replies(t)
	now := time.Unix(1_000_000_000, 0)
	for level := range uint64(maxNetLevel + 1) {
		for _, only := range []bool{false, level > 0} {
			text, err := netReport(
				results.Get("getpeerinfo"), results.Get("getnetworkinfo"), netView{level, only},
				options.NamesOf(""), "regtest", now,
			)
			if err != nil {
				t.Error(err)
			}
			name := "netinfo-" + string('0'+byte(level))
			if only {
				name += "-outonly"
			}
			golden(t, name, text+"\n")
		}
	}
	r := cli(t, "", node(t).port(), "-testnet4", "-netinfo")
	r.want(t, 0, r.out, "")
	if !strings.HasPrefix(r.out, "Trawl client v") || !strings.Contains(r.out, " testnet4 - server 70016/Satoshi:30.2.0/\n\n") {
		t.Errorf("got %s", r.out)
	}
	cli(t, "", node(t, "getpeerinfo/").port(), "-netinfo").want(t, 18, "", "error code: -18\nerror message:\nno getpeerinfo\n")
}

// Replies that are not what the methods answer are errors and nothing worse.
func TestBadReplies(t *testing.T) {
	for reply, want := range map[string]string{
		`{"result":1,"id":1}`:    "Batch must be an array",
		`[1]`:                    "Batch member must be an object",
		`[{"result":1}]`:         "JSON value of type null is not of expected type number",
		`[{"result":{},"id":7}]`: "Batch member id is larger than batch size",
		`[{"result":{},"id":0},{"result":{},"id":1}]`:                   "JSON value of type null is not of expected type number",
		`[{"result":[{}],"id":0},{"result":{"version":300000},"id":1}]`: "JSON value of type null is not of expected type string",
		`[{"result":[],"id":0},{"result":{"version":200000},"id":1}]`:   "-netinfo requires bitcoind server to be running v0.21.0 and up",
	} {
		cli(t, "", newServer(t, 200, reply).port(), "-netinfo", "4").want(t, 1, "", "error: "+want+"\n")
	}
	cli(t, "", newServer(t, 200, `[{"result":{},"id":0},{"result":{},"id":1},`+
		`{"error":{},"id":2},{"result":{},"id":3}]`).port(), "-getinfo", "-rpcwallet=w").
		want(t, 1, "", "error: JSON value of type null is not of expected type number\n")
	cli(t, "", newServer(t, 200, `{"result":[{}],"id":1}`).port(), "-addrinfo").
		want(t, 1, "", "error: -addrinfo requires bitcoind server to be running v22.0 and up\n")
}

func TestAddrInfo(t *testing.T) {
	s := node(t)
	r := cli(t, "", s.port(), "-addrinfo")
	r.want(t, 0, r.out, "")
	golden(t, "addrinfo", r.out)
	if want := `{"method":"getnodeaddresses","params":[0],"id":1,"jsonrpc":"2.0"}` + "\n"; s.askedBody[0] != want {
		t.Errorf("asked %s", s.askedBody[0])
	}
}

func TestGenerate(t *testing.T) {
	const made = "{\n  \"address\": \"bcrt1qq\",\n  \"blocks\": [\n    \"00aa\"\n  ]\n}\n"
	tests := []struct {
		args   []string
		status int
		out    string
		params string // of generatetoaddress, or the error
	}{
		{nil, 0, made, `[1,"bcrt1qq"]`},
		{[]string{"3"}, 0, made, `[3,"bcrt1qq"]`},
		{[]string{"3", "4"}, 0, made, `[3,"bcrt1qq",4]`},
		{[]string{"x"}, 1, "", "error: Error parsing JSON: x\n"},
		{[]string{"1", "x"}, 1, "", "error: Error parsing JSON: x\n"},
		{[]string{"0"}, 1, "", "error: the first argument (number of blocks to generate, default: 1) " +
			"must be an integer value greater than zero\n"},
		{[]string{"1", "2", "3"}, 1, "", "error: too many arguments (maximum 2 for nblocks and maxtries)\n"},
	}
	for _, test := range tests {
		s := node(t)
		r := cli(t, "", append([]string{s.port(), "-generate"}, test.args...)...)
		if test.status != 0 {
			r.want(t, test.status, test.out, test.params)
			continue
		}
		r.want(t, 0, test.out, "")
		if !strings.Contains(s.askedBody[1], `"generatetoaddress","params":`+test.params+`,`) {
			t.Errorf("asked %s", s.askedBody[1])
		}
	}
	for _, method := range []string{"getnewaddress", "generatetoaddress"} {
		cli(t, "", node(t, method+"/").port(), "-generate").want(t, 18, "", "error code: -18\nerror message:\nno "+method+"\n")
	}
}

func TestColourOnTerminals(t *testing.T) {
	s := node(t, "listwallets/")
	var out bytes.Buffer
	if status := run([]string{s.port(), "-getinfo"}, &world{
		stdin: strings.NewReader(""), stdout: &out, stderr: &out, home: t.TempDir(), colour: true,
	}); status != 0 {
		t.Errorf("status %d", status)
	}
	golden(t, "getinfo-colour", out.String())
}

// FuzzReplies: whatever a server answers is shown or an error.
func FuzzReplies(f *testing.F) {
	results, err := os.ReadFile("testdata/replies.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(results)
	for _, seed := range []string{`{}`, `{"getpeerinfo":[{}]}`, `{"getnetworkinfo":{"networks":[1],"localservicesnames":["",1]}}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := jsontree.Parse(text)
		if err != nil {
			return
		}
		info := nodeInfo{
			network: v.Get("getnetworkinfo"), chain: v.Get("getblockchaininfo"), wallet: v.Get("getwalletinfo"),
			balance: trusted(v.Get("getbalances")),
		}
		if text, err := info.text(paint{}); (err == nil) != strings.HasPrefix(text, "Chain: ") {
			t.Errorf("got %q, %v", text, err)
		}
		if text, err := netReport(
			v.Get("getpeerinfo"), v.Get("getnetworkinfo"), netView{level: 4}, options.NamesOf(""), "main",
			time.Unix(0, 0),
		); err == nil && text == "" {
			t.Error("nothing is shown")
		}
		if _, err := sortReplies(v, 2); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		if r, err := newReply(v); err == nil {
			_, _ = r.value()
		}
	})
}

// qbit's nodes have small version numbers: what they tell decides.
func TestNetInfoOfQbit(t *testing.T) {
	names := options.NamesOf("qbit")
	peers := replies(t).Get("getpeerinfo")
	for text, want := range map[string]string{
		`{"version":10000,"protocolversion":70016,"subversion":"/qbit:1.0.0/","networks":[],"localservicesnames":[],` +
			`"localaddresses":[]}`: "",
		`{"version":10000,"protocolversion":70016,"networks":[]}`: "-netinfo requires qbitd server with " +
			"getnetworkinfo/getpeerinfo support",
	} {
		network, err := jsontree.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := netReport(peers, network, netView{}, names, "regtest", time.Unix(1_000_000_000, 0))
		if want == "" && (err != nil || !strings.HasPrefix(got, "qbit client v")) {
			t.Errorf("%s, %v", got, err)
		}
		if want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

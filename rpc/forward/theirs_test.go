package forward_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/forward"
)

// Methods that the node may lack are passed on. Logins of the node may call those that only read.
func TestMethodsOfCore(t *testing.T) {
	for _, test := range []struct {
		login, method string
		mode          forward.Mode
		reply         string // part of it
	}{
		{asOwn, "getmempoolcluster", forward.Default, `"theirs"`},
		{asOwn, "getmempoolfeeratediagram", forward.Read, `"theirs"`},
		{asOwn, "getprivatebroadcastinfo", forward.Default, `"theirs"`},
		{asOwn, "abortprivatebroadcast", forward.Default, `this node passes it on for no such login`},
		{asOwn, "abortprivatebroadcast", forward.All, `"theirs"`},
		{asAlice, "abortprivatebroadcast", forward.Default, `"theirs"`},
		{asAlice, "abortprivatebroadcast", forward.Read, `this node passes it on for no such login`},
		{asOwn, "exportasmap", forward.Default, `Method not found`},
	} {
		p := newPair(t, func(c *forward.Config) { c.Mode = test.mode })
		p.core.replies[test.method] = `{"jsonrpc":"2.0","result":"theirs","id":0}`
		_, reply := p.post(t, test.login, "/", `{"method":"`+test.method+`","id":1}`)
		if !strings.Contains(reply, test.reply) {
			t.Errorf("%s in mode %d: %s, want %s", test.method, test.mode, reply, test.reply)
		}
	}
}

// Core describes a method that the node lacks.
func TestHelpOfCore(t *testing.T) {
	const ours = "help: unknown command: "
	for _, test := range []struct {
		name, login, params, reply string
		mode                       forward.Mode
		want                       string
	}{
		{"only Core has it", asOwn, `["abortrescan"]`, `"result":"Core's text"`, forward.Default, "Core's text"},
		{"by its name", asCookie, `{"command":"abortrescan"}`, `"result":"Core's text"`, forward.Default, "Core's text"},
		{"ours", asOwn, `["getblockcount"]`, `"result":"Core's text"`, forward.Default, ours + "getblockcount"},
		{"the list", asOwn, `[]`, `"result":"Core's text"`, forward.Default, ours},
		{"nothing is passed on", asOwn, `["abortrescan"]`, `"result":"Core's text"`, forward.None, ours + "abortrescan"},
		{"Core refuses", asOwn, `["abortrescan"]`, `"error":{"code":-1,"message":"no"}`, forward.Default, ours + "abortrescan"},
		{"no text", asOwn, `["abortrescan"]`, `"result":7`, forward.Default, ours + "abortrescan"},
	} {
		p := newPair(t, func(c *forward.Config) { c.Mode = test.mode })
		p.core.replies["help"] = `{"jsonrpc":"2.0",` + test.reply + `,"id":0}`
		code, reply := p.post(t, test.login, "/", `{"jsonrpc":"2.0","method":"help","params":`+test.params+`,"id":1}`)
		if want := `{"jsonrpc":"2.0","result":"` + test.want + `","id":1}`; strings.TrimSpace(reply) != want {
			t.Errorf("%s: %d %s, want %s", test.name, code, reply, want)
		}
	}
}

package corenode

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestReplies(t *testing.T) {
	const hash = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
	core := newFakeCore(t, map[string]string{
		"new":      `{"jsonrpc":"2.0","result":7,"id":0}`,
		"old":      `{"result":7,"error":null,"id":0}`,
		"refused":  `{"jsonrpc":"2.0","error":{"code":-5,"message":"Block not found"},"id":0}`,
		"warm":     `{"result":null,"error":{"code":-28,"message":"Loading block index…"},"id":0}`,
		"stopping": `{"result":null,"error":{"code":-9,"message":"Shutting down"},"id":0}`,
		"cut":      `{"result":7,"error":nul`,
		"page":     `<html>` + secret + `</html>`,
		"nothing":  `{"id":0}`,
		"other":    `{"result":"` + secret + `","error":null,"id":0}`,

		"getbestblockhash": `{"jsonrpc":"2.0","result":"` + hash + `","id":0}`,
	})
	c := dial(t, core.URL, cookie(t, "__cookie__:"+secret))
	for _, test := range []struct {
		method string
		want   error
		code   int
	}{
		{method: "new"},
		{method: "old"},
		{method: "refused", code: -5},
		{method: "warm", want: ErrAway, code: -28},
		{method: "stopping", want: ErrAway, code: -9},
		{method: "cut", want: ErrReply},
		{method: "page", want: ErrReply},
		{method: "nothing", want: ErrReply},
		{method: "other", want: ErrReply},
		{method: "forbidden", want: ErrForbidden},
	} {
		var n int
		err := c.Call(t.Context(), &n, test.method)
		if test.want == nil && test.code == 0 && (err != nil || n != 7) {
			t.Errorf("%s: %d, %v", test.method, n, err)
		}
		if test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.method, err, test.want)
		}
		if e, _ := errors.AsType[*Error](err); test.code != 0 && (e == nil || e.Code != test.code) {
			t.Errorf("%s: %v, want code %d", test.method, err, test.code)
		}
		if errors.Is(err, ErrAway) != errors.Is(test.want, ErrAway) {
			t.Errorf("%s: away: %v", test.method, err)
		}
		noSecret(t, err)
	}
	tip, err := c.BestBlock(t.Context())
	if err != nil || tip.String() != hash {
		t.Errorf("tip %v: %v", tip, err)
	}
}

func noSecret(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("an error tells a secret")
	}
}

func TestBatches(t *testing.T) {
	body := func(parts ...string) string { return "[" + strings.Join(parts, ",") + "]\n" }
	const a, b = `{"jsonrpc":"2.0","result":"a","id":0}`, `{"jsonrpc":"2.0","result":[1, 2],"id":1}`
	const refused = `{"jsonrpc":"2.0","error":{"code":-8,"message":"Block height out of range"},"id":1}`
	for name, test := range map[string]struct {
		body    string
		want    []string
		refused bool
		err     error
	}{
		"in order":     {body: body(a, b), want: []string{`"a"`, `[1, 2]`}},
		"out of order": {body: body(b, a), want: []string{`"a"`, `[1, 2]`}},
		"one refused":  {body: body(a, refused), want: []string{`"a"`, ``}, refused: true},
		"one missing":  {body: body(a), err: ErrReply},
		"one twice":    {body: body(a, a), err: ErrReply},
		"one too many": {body: body(a, b, b), err: ErrReply},
		"foreign id":   {body: body(a, strings.Replace(b, `"id":1`, `"id":2`, 1)), err: ErrReply},
		"no id":        {body: body(a, `{"result":1}`), err: ErrReply},
		"warm-up":      {body: `{"result":null,"error":{"code":-28,"message":"Loading"},"id":null}`, err: ErrAway},
		"warm-up, v2":  {body: body(a, `{"error":{"code":-28,"message":"Loading"},"id":1}`), err: ErrAway},
		"cut":          {body: body(a, b)[:40], err: ErrReply},
	} {
		results, errs, err := parseBatch([]byte(test.body), 2)
		if !errors.Is(err, test.err) || (test.err == nil && err != nil) {
			t.Errorf("%s: %v, want %v", name, err, test.err)
			continue
		}
		if err != nil {
			continue
		}
		for i, want := range test.want {
			if string(results[i]) != want {
				t.Errorf("%s: result %d is %s", name, i, results[i])
			}
		}
		if (errs != nil) != test.refused || test.refused && (errs[0] != nil || errs[1] == nil) {
			t.Errorf("%s: errors %v", name, errs)
		}
	}
}

// The cookie is read again when Core refuses it, and once only.
func TestCookieChanges(t *testing.T) {
	core := newFakeCore(t, map[string]string{"x": `{"result":1,"error":null,"id":0}`})
	path := cookie(t, "__cookie__:"+secret)
	c := dial(t, core.URL, path)
	for round, step := range []struct {
		login, file string
		requests    int64
		want        error
	}{
		{"__cookie__:" + secret, "__cookie__:" + secret, 1, nil},
		{"__cookie__:" + secret + "2", "__cookie__:" + secret + "2\n", 2, nil},
		{"__cookie__:" + secret + "2", "", 1, nil},           // still known
		{"__cookie__:" + secret + "3", "", 1, ErrLogin},      // Core restarts: the file is there, and empty
		{"__cookie__:" + secret + "3", "old:1", 2, ErrLogin}, // a login that Core refuses
		{"__cookie__:" + secret + "3", "__cookie__:" + secret + "3", 2, nil},
	} {
		core.setLogin(step.login)
		if err := os.WriteFile(path, []byte(step.file), 0o600); err != nil {
			t.Fatal(err)
		}
		before := core.calls.Load()
		err := c.Call(t.Context(), nil, "x")
		if !errors.Is(err, step.want) || step.want == nil && err != nil || err != nil && !errors.Is(err, ErrAway) {
			t.Errorf("%d: %v, want %v", round, err, step.want)
		}
		if got := core.calls.Load() - before; got != step.requests {
			t.Errorf("%d: %d requests, want %d", round, got, step.requests)
		}
		noSecret(t, err)
	}
}

// Every failure to reach Core is ErrAway to its followers.
func TestAway(t *testing.T) {
	core := newFakeCore(t, nil)
	c := dial(t, core.URL, cookie(t, "__cookie__:"+secret))
	core.Close()
	err := c.Call(t.Context(), nil, "x")
	if !errors.Is(err, ErrAway) {
		t.Errorf("nobody listens: %v", err)
	}
	noSecret(t, err)
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	err = dial(t, busy.URL, cookie(t, "a:b")).Call(t.Context(), nil, "x")
	if !errors.Is(err, ErrAway) || errors.Is(err, ErrLogin) {
		t.Errorf("busy: %v", err)
	}
	err = dial(t, busy.URL, cookie(t, "a:b")+".missing").Call(t.Context(), nil, "x")
	if !errors.Is(err, ErrAway) || !errors.Is(err, ErrLogin) {
		t.Errorf("no cookie: %v", err)
	}
}

func FuzzParseReply(f *testing.F) {
	for _, seed := range []string{
		`{"result":{"a":[1,-2.5e+3,"\u00e9\n"],"b":{}},"error":null,"id":1}`, `{"jsonrpc":"2.0","error":{"code":-5,"message":"x"},"id":"y"}`,
		`{"result":tru}`, `{"result":01}`, `{"result":"` + "\x01" + `"}`, `[[[[`, `{"result":1,"result":2}`, `{"error":5}`, "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		answer, err := ParseReply(body)
		if err != nil {
			if !errors.Is(err, ErrReply) {
				t.Errorf("%v", err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("taken for JSON: %q", body)
		}
		for _, part := range [][]byte{answer.Result, answer.ID} {
			if part != nil && !json.Valid(part) {
				t.Errorf("a part is no JSON: %q", part)
			}
		}
		if (answer.Err == nil) == (answer.Result == nil) {
			t.Errorf("neither or both of result and error: %q", body)
		}
	})
}

// Texts that encoding/json reads are split at the same places.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, {"b":"\"}"}] ,"a":null}`, ` { } `, `{"":""}`, `{"a":1}x`, `{"a":1,}`,
		`[1 ,"],",{}]`, `[-0.0e-0]`, `[1.]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		members, ok := splitObject(text, len(text))
		var object map[string]json.RawMessage
		valid := json.Unmarshal(text, &object) == nil && object != nil
		if ok != valid && !tooDeep(text) {
			t.Fatalf("object: %t, encoding/json %t: %q", ok, valid, text)
		}
		if ok && valid {
			for _, m := range members {
				var name string
				if err := json.Unmarshal(m.name, &name); err != nil {
					t.Fatal(err)
				}
				if _, known := object[name]; !known {
					t.Errorf("no member %q in %q", name, text)
				}
			}
		}
		var array []json.RawMessage
		valid = json.Unmarshal(text, &array) == nil && array != nil
		elements, ok := splitArray(text, len(array))
		if ok != valid && !tooDeep(text) {
			t.Fatalf("array: %t, encoding/json %t: %q", ok, valid, text)
		}
		for i := range elements {
			if ok && valid && string(elements[i]) != string(array[i]) {
				t.Errorf("element %d is %q, want %q", i, elements[i], array[i])
			}
		}
	})
}

func tooDeep(text []byte) bool {
	return strings.Count(string(text), "[")+strings.Count(string(text), "{") > maxDepth
}

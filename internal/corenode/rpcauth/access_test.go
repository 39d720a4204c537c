package rpcauth

import (
	"encoding/base64"
	"testing"
)

func basic(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }

// The hashes were made with Python: hmac.new(salt, password, "sha256").
func TestLogin(t *testing.T) {
	var credentials []Credential
	for _, entry := range []string{
		"alice:7d9ba5ae63c3d4dc30583ff4fe65a67e$405d89d7e4b67e1741b8d72e933ddf58cd25cd48e6bbd5ec18c0f4a2c7b27065",
		"bob:s$f41748e835f4867cb52ecf83327f47aa210de33ab672889a45fda95776ea9d43",
		"bob:s$" + Hash("s", "second"),
	} {
		c, ok := Parse(entry)
		if !ok {
			t.Fatal(entry)
		}
		credentials = append(credentials, c)
	}
	credentials = append(credentials, New("plain", "a:b"))
	tests := []struct {
		header, user string
		ok           bool
	}{
		{basic("alice:cA773lm788buwYe4g4WT+05pKyNruVKjQ25x3n0DQcM="), "alice", true},
		{basic("bob:p:ü"), "bob", true},
		{basic("bob:second"), "bob", true},
		{basic("plain:a:b"), "plain", true},
		{basic("plain:a:b") + " ", "plain", true},
		{basic("alice:second"), "alice", false},
		{basic("plain:"), "plain", false},
		{basic(":"), "", false},
		{basic("plain"), "", false},
		{"", "", false},
		{"Basic", "", false},
		{"basic" + basic("plain:a:b")[5:], "", false},
		{"Basic  !", "", false},
		{"Bearer x", "", false},
	}
	for _, test := range tests {
		if user, ok := Login(credentials, test.header); ok != test.ok || ok && user != test.user {
			t.Errorf("%q: got %q, %v", test.header, user, ok)
		}
	}
}

func TestParseCredentialRefuses(t *testing.T) {
	for _, entry := range []string{"", "a", "a:b", "a:b$c$d", "a:b:c$d", "a$b", ":"} {
		if c, ok := Parse(entry); ok {
			t.Errorf("%q: got %v", entry, c)
		}
	}
}

func TestWhitelists(t *testing.T) {
	yes, no := true, false
	entries := []string{"all-of:a,b c", "both:a,b", "both:b,c", "none", "empty:", "kept:a", "kept"}
	type ask struct {
		user, method string
		any, allowed bool
	}
	check := func(w Whitelists, asks []ask) {
		t.Helper()
		for _, a := range asks {
			list := w.Of(a.user)
			if list.Any() != a.any || list.Allows(a.method) != a.allowed {
				t.Errorf("%s calls %s: got %v, %v", a.user, a.method, list.Any(), list.Allows(a.method))
			}
		}
	}
	listed := []ask{
		{"all-of", "a", true, true},
		{"all-of", "c", true, true},
		{"all-of", "d", true, false},
		{"both", "a", true, false},
		{"both", "b", true, true},
		{"both", "c", true, false},
		{"none", "a", true, false},
		{"empty", "a", true, false},
		{"kept", "a", true, true},
	}
	check(ParseWhitelists(entries, nil), append(listed, ask{"other", "a", false, false}))
	check(ParseWhitelists(entries, &yes), append(listed, ask{"other", "a", false, false}))
	check(ParseWhitelists(entries, &no), append(listed, ask{"other", "a", true, true}))
	check(ParseWhitelists(nil, nil), []ask{{"other", "a", true, true}})
	check(ParseWhitelists(nil, &yes), []ask{{"other", "a", false, false}})
}

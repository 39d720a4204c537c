package rpcauth

import (
	"encoding/base64"
	"strings"
	"testing"
)

// FuzzLogin: nothing but the right words opens the door.
func FuzzLogin(f *testing.F) {
	for _, seed := range []string{
		"", "Basic ", "Basic dTpw", "Basic dTpw\n", "basic dTpw", "Basic dTpwOg==",
		"Bearer dTpw", "Basic =", "Basic dTp",
	} {
		f.Add(seed)
	}
	credentials := []Credential{New("u", "p")}
	f.Fuzz(func(t *testing.T, header string) {
		user, ok := Login(credentials, header)
		text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(strings.TrimPrefix(header, "Basic ")))
		if ok && (err != nil || string(text) != "u:p" || user != "u" || !strings.HasPrefix(header, "Basic ")) {
			t.Errorf("%q logs %q in", header, user)
		}
	})
}

// FuzzEntries: what is taken of an option means what it says.
func FuzzEntries(f *testing.F) {
	for _, seed := range []string{"", "u:a,b c", "u:", "u:s$h", ":$", "a:0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, ok := Parse(text); ok && c.user+":"+c.salt+"$"+c.hash != text {
			t.Errorf("credential %q is %v", text, c)
		}
		user, _, _ := strings.Cut(text, ":")
		if w := ParseWhitelists([]string{text}, nil).Of(user); !w.Limited() || w.Allows("") {
			t.Errorf("whitelist %q is %v", text, w)
		}
	})
}

package web

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/rpc"
)

// By TLS the cookie of a session goes by TLS alone, whatever origin the request names.
func TestCookieByTLS(t *testing.T) {
	chain, key := e2e.Certificate(t, t.TempDir())
	text, err := os.ReadFile(chain)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	n := start(t, rpc.Config{TLS: chain + "," + key})
	for _, address := range n.Addrs() { // the certificate is for this alone
		if strings.HasPrefix(address.String(), "127.0.0.1:") {
			n.addr = address.String()
		}
	}
	b := n.browser(t)
	b.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS13}
	form := url.Values{"user": {"u"}, "password": {"p"}}.Encode()
	for _, scheme := range []string{"http", "https"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+n.addr+"/ui/login",
			strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", scheme+"://"+n.addr)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, err := b.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		cookies := answer.Cookies()
		if answer.StatusCode != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].Secure ||
			!strings.HasPrefix(cookies[0].Name, hostPrefix) {
			t.Errorf("from %s: %v with %v", scheme, answer.Status, cookies)
		}
	}
}

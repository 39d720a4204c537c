package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// -rpctlscert calls by TLS, and nobody but who shows a certificate of the file.
func TestCallByTLS(t *testing.T) {
	plain := newServer(t, http.StatusOK, `{"result":7,"error":null,"id":1}`)
	secure := httptest.NewTLSServer(plain.Config.Handler)
	t.Cleanup(secure.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "own.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	other, _ := e2e.Certificate(t, dir)
	port := (&server{Server: secure}).port()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file, port, out, err string
		status               int
	}{
		{file, port, "7\n", "", 0},
		{other, port, "", "failed to verify certificate", 1},
		{filepath.Join(dir, "none"), port, "", "Cannot read the file of -rpctlscert", 1},
		{empty, port, "", "There is no certificate in the file of -rpctlscert", 1},
		{file, plain.port(), "", "Could not connect to the server", 1},
	} {
		got := cli(t, "", test.port, "-rpcpassword=p", "-rpctlscert="+test.file, "getblockcount")
		if got.status != test.status || got.out != test.out || !strings.Contains(got.errors, test.err) {
			t.Errorf("%s: %+v, want %+v", test.file, got, test)
		}
	}
	for _, q := range plain.asked {
		if q.TLS == nil {
			t.Error("called without TLS")
		}
	}
}

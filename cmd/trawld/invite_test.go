package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/web"
)

// The address of the page and the link for signing in are shown on a terminal alone, and where there is a page.
func TestInvite(t *testing.T) {
	page, err := web.New(web.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server, err := rpc.NewServer(rpc.Config{User: "u", Password: "p", Page: page})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown(t.Context())
	settings := options.New(table.Daemon(), "")
	var out bytes.Buffer
	d := &daemon{session: &session{settings: settings}, server: server, page: page}
	d.invite() // no terminal
	d.terminal, d.page = &out, nil
	d.invite() // no page
	if out.Len() > 0 {
		t.Errorf("shown without reason: %s", out.String())
	}
	d.page = page
	d.invite()
	root := "http://" + localAddress(server.Addrs()) + "/"
	want := regexp.MustCompile(`^\nThe page of this node is ` + regexp.QuoteMeta(root) +
		`\nTo sign in, once and within ten minutes: ` + regexp.QuoteMeta(root) + `ui/enter/[\w-]{43}\n\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("got %q", out.String())
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if terminalOf(&out) != nil || terminalOf(file) != nil {
		t.Error("a file is taken for a terminal")
	}
}

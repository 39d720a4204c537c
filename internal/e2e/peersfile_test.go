package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// peers.dat is Bitcoin Core's, both ways: what the one has written the other reads
// with nothing lost.
func TestPeersFileLive(t *testing.T) {
	core := os.Getenv("BITCOIND")
	if core == "" {
		t.Skip("BITCOIND is not set")
	}
	t.Parallel()
	listening := []string{"-listen=0"}
	ours := e2e.Start(t, e2e.Config{Chain: "regtest", Args: listening})
	for i := range 100 {
		ours.Get(nil, "addpeeraddress", fmt.Sprintf("%d.%d.3.4", 20+i, i*2), 8333, i%3 == 0)
	}
	ours.Get(nil, "addpeeraddress", "2a02:1234:5678::1", 8333, true)
	ours.Get(nil, "addpeeraddress", "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion", 8333, false)
	counts, addresses := knownAddresses(ours)
	ours.Stop()

	theirs := t.TempDir()
	hand := func(from, to string) {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(from, "regtest", "peers.dat"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(to, "regtest"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, "regtest", "peers.dat"), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(d *e2e.Daemon) {
		t.Helper()
		gotCounts, got := knownAddresses(d)
		if !reflect.DeepEqual(gotCounts, counts) || !slices.Equal(got, addresses) {
			t.Errorf("got %v and\n%v, want %v and\n%v", gotCounts, got, counts, addresses)
		}
	}
	hand(ours.Dir, theirs)
	c := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: theirs, Program: core})
	check(c)
	for i := range 50 {
		c.Get(nil, "addpeeraddress", fmt.Sprintf("%d.%d.5.6", 150+i, i*2), 8333, i%2 == 0)
	}
	counts, addresses = knownAddresses(c)
	c.Get(nil, "stop")
	e2e.Eventually(t, time.Minute, "Core ends", c.HasEnded)
	hand(theirs, ours.Dir)
	ours.Restart()
	check(ours)
	ours.Stop()
}

// knownAddresses returns the addresses of nodes that a node knows.
func knownAddresses(d *e2e.Daemon) (counts map[string]map[string]int, addresses []string) {
	d.Get(&counts, "getaddrmaninfo")
	var list []struct {
		Time     int64  `json:"time"`
		Services uint64 `json:"services"`
		Address  string `json:"address"`
		Port     int    `json:"port"`
	}
	d.Get(&list, "getnodeaddresses", 0)
	for _, a := range list {
		addresses = append(
			addresses, fmt.Sprintf("%s %d %d %d", strings.Trim(a.Address, "[]"), a.Port, a.Services, a.Time),
		)
	}
	slices.Sort(addresses)
	return counts, addresses
}

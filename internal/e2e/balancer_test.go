package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// balanced is a login that all nodes behind a balancer have.
const (
	balanced      = "shop:secret"
	balancedLogin = "-rpcauth=shop:00112233445566778899aabbccddeeff" +
		"$74ef20277296f0f1f1a01f8915163d687de88b01b139720c60e410c0540a0937"
)

// Two nodes behind haproxy with the configuration of deploy answer many scans at the same time. Each
// node runs its scans one after the other. Scans go on when a node is killed.
func TestBalancer(t *testing.T) {
	t.Parallel()
	haproxy, err := exec.LookPath("haproxy")
	if err != nil {
		const why = "there is no haproxy: `make test-balancer` installs it from Debian's packages"
		if os.Getenv("TRAWL_BALANCER") != "" && os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	const config = "../../deploy/haproxy/haproxy.cfg"
	at := e2e.FreeAddr(t)
	var nodes []*e2e.Daemon
	for range 2 {
		d := e2e.Start(t, e2e.Config{
			Chain: "regtest", Blocks: []string{chainFile},
			Args: []string{"-blockfilterindex=1", "-debug=rpc", balancedLogin, "-maxtipage=1000000000"},
		})
		d.WaitTip(chainTip, chainHeight, true)
		nodes = append(nodes, d)
	}
	balancer := e2e.Run(
		t, "env", "TRAWL_LISTEN="+at, "TRAWL_A="+nodes[0].Addr, "TRAWL_B="+nodes[1].Addr, haproxy, "-db", "-f", config,
	)
	client := jsonrpc.New(at, balanced)
	defer client.Close()
	e2e.Eventually(t, time.Minute, "the balancer passes calls on", func() bool {
		return balancer.HasEnded() || client.Call(t.Context(), nil, "getblockcount") == nil
	})
	if balancer.HasEnded() {
		t.Fatal(balancer.Stderr())
	}
	scans := func() error {
		errs := make([]error, 40)
		var group sync.WaitGroup
		for i := range errs {
			group.Go(func() {
				c := jsonrpc.New(at, balanced)
				defer c.Close()
				var got struct{ Completed bool }
				errs[i] = c.Call(t.Context(), &got, "scanblocks", "start", []string{fmt.Sprintf("raw(51%04x)", i)})
				if errs[i] == nil && !got.Completed {
					errs[i] = errors.New("the scan is not complete")
				}
			})
		}
		group.Wait()
		return errors.Join(errs...)
	}
	if err := scans(); err != nil {
		t.Error(err)
	}
	for i, d := range nodes {
		if n := strings.Count(d.Log(), "scanblocks"); n < 5 {
			t.Errorf("node %d has had %d of 40 scans", i, n)
		}
	}
	nodes[0].Kill()
	if err := scans(); err != nil {
		t.Errorf("without the first node: %v", err)
	}
}

package e2e_test

import (
	"bufio"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// metricsAt returns the numbers at an address by name and labels.
func metricsAt(t *testing.T, addr string) map[string]float64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	numbers := map[string]float64{}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		if numbers[lines.Text()[:at]], err = strconv.ParseFloat(lines.Text()[at+1:], 64); err != nil {
			t.Fatal(lines.Text(), err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return numbers
}

// The metrics of an attached node are what Core says of its chain and its pool, and tell when
// Core is away.
func TestLiveMetrics(t *testing.T) {
	t.Parallel()
	c := startBitcoind(t)
	random := rand.New(rand.NewPCG(1, 2))
	c.mine(random, 110)
	addr := e2e.FreeAddr(t)
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-attach=" + c.dir, "-prometheus=" + addr}})
	c.mine(random, 3)
	var chain struct {
		Blocks, Headers float64
		Best            string `json:"bestblockhash"`
		Time            float64
	}
	var pool struct{ Size float64 }
	c.get(&chain, "getblockchaininfo")
	c.get(&pool, "getmempoolinfo")
	d.WaitTip(chain.Best, int32(chain.Blocks), true)
	got := metricsAt(t, addr)
	for name, want := range map[string]float64{
		`trawl_chain_height_blocks`: chain.Blocks, `trawl_chain_headers_height_blocks`: chain.Headers,
		`trawl_chain_tip_timestamp_seconds`: chain.Time, `trawl_index_height_blocks{index="indexer"}`: chain.Blocks,
		`trawl_pool_copied_transactions`: pool.Size, `trawl_attach_lag_blocks`: 0,
		`trawl_attach_phase_state{phase="following"}`: 1, `trawl_attach_phase_state{phase="away"}`: 0,
		`trawl_attach_refused_state`: 0,
	} {
		if is, ok := got[name]; !ok || is != want {
			t.Errorf("%s is %v, want %v", name, is, want)
		}
	}
	late := 0
	for name, is := range got {
		if strings.HasPrefix(name, "trawl_late_parts{") {
			late++
			if is != 0 {
				t.Errorf("%s is %v", name, is)
			}
		}
	}
	if late < 5 {
		t.Errorf("%d parts are asked", late)
	}
	c.stop()
	for began := time.Now(); metricsAt(t, addr)[`trawl_attach_phase_state{phase="away"}`] != 1; {
		if time.Since(began) > time.Minute {
			t.Fatal("Core is not away")
		}
		time.Sleep(50 * time.Millisecond)
	}
	d.Stop()
}

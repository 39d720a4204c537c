package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Metrics are on the loopback interface unless an address is named.
func TestMetricsAddress(t *testing.T) {
	for _, test := range []struct{ option, want, err string }{
		{"-noprometheus", "", ""},
		{"-prometheus=0", "", ""},
		{"-prometheus", "127.0.0.1:1443", ""},
		{"-prometheus=1", "127.0.0.1:1443", ""},
		{"-prometheus=9000", "127.0.0.1:9000", ""},
		{"-prometheus=:9000", "127.0.0.1:9000", ""},
		{"-prometheus=localhost:9000", "127.0.0.1:9000", ""},
		{"-prometheus=10.0.0.1", "10.0.0.1:1443", ""},
		{"-prometheus=0.0.0.0:9000", "0.0.0.0:9000", ""},
		{"-prometheus=[::1]:9000", "[::1]:9000", ""},
		{"-prometheus=::", "[::]:1443", ""},
		{"-prometheus=127.0.0.1:99999", "", "Invalid port specified in -prometheus: '127.0.0.1:99999'"},
		{"-prometheus=127.0.0.1:0", "", "Invalid port specified in -prometheus: '127.0.0.1:0'"},
		{"-prometheus=example.org:9000", "", "Invalid address specified in -prometheus: 'example.org:9000'"},
		{"-prometheus=x", "", "Invalid address specified in -prometheus: 'x'"},
	} {
		read := func(_ context.Context, s *session) error {
			got, err := metricsAddress(s.settings, 1443)
			if err == nil && got != test.want {
				t.Errorf("%s: %q, want %q", test.option, got, test.want)
			}
			return err
		}
		status, stderr, _ := startWith(t, read, test.option)
		if want := "Error: " + test.err + "\n"; test.err != "" && (status != 1 || stderr != want) {
			t.Errorf("%s: status %d, %q, want %q", test.option, status, stderr, want)
		} else if test.err == "" && status != 0 {
			t.Errorf("%s: %s", test.option, stderr)
		}
	}
}

// A port that is taken ends the start, and leaves nothing behind.
func TestMetricsPortIsTaken(t *testing.T) {
	d := runDaemon(t, "-prometheus="+freePort(t))
	defer d.stop(t, cookie(t, d))
	log, err := os.ReadFile(d.logPath())
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(log), "Metrics are at http://")
	addr, _, _ := strings.Cut(rest, "/metrics")
	status, stderr, _ := startWith(t, startNode, "-prometheus="+addr, "-rpcport="+freePort(t))
	if status != 1 || !strings.HasPrefix(stderr, "Error: Cannot show metrics (-prometheus): listen tcp "+addr) {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func cookie(t *testing.T, d *running) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "regtest", ".cookie"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// markedCalls leave a mark wherever a name or a text is kept.
var markedCalls = []string{
	`{"method":"createwallet","params":["mark-wallet"],"id":1}`,
	`{"method":"getnewaddress","params":["mark-label"],"id":1}`,
	`{"method":"createsearch","params":[["raw(51)"],{"name":"mark-search","follow":true}],"id":1}`,
	`{"method":"addnode","params":["mark-peer.invalid","add"],"id":1}`,
	`{"method":"setban","params":["192.0.2.77","add"],"id":1}`,
	`{"method":"mark-method","id":1}`,
	`{"method":"getblockhash","params":["mark-argument"],"id":1}`,
	`{"method":"scanblocks","params":["start",["raw(51)","raw(52)"]],"id":1}`,
	`{"method":"generatetodescriptor","params":[3,"raw(51)"],"id":1}`,
}

// A daemon shows numbers of all its parts, and no name or text that somebody chose.
func TestMetricsOfDaemon(t *testing.T) {
	port := freePort(t)
	d := runDaemon(t, "-prometheus="+port, "-txindex", "-coinstatsindex", "-txospenderindex", "-scriptindex", "-listen=0",
		"-connect=0", "-rpcuser=mark-login", "-rpcpassword=mark-password", "-uacomment=mark-agent")
	const login = "mark-login:mark-password"
	for _, call := range markedCalls {
		answer := d.post(t, login, call)
		if failed := !strings.Contains(answer, `"error":null`); failed != strings.Contains(call, "mark-method") &&
			failed != strings.Contains(call, "mark-argument") {
			t.Errorf("%s: %s", call, answer)
		}
	}
	address := d.post(t, login, `{"method":"getnewaddress","id":1}`)
	_, address, _ = strings.Cut(address, `"result":"`)
	address, _, _ = strings.Cut(address, `"`)
	body := metricsOf(t, port)
	for _, chosen := range []string{"mark-", address, "192.0.2.77", "raw(51)", d.dir} {
		if chosen == "" || strings.Contains(body, chosen) {
			t.Errorf("%q is shown", chosen)
		}
	}
	for _, line := range []string{
		`trawl_chain_height_blocks 3`, `trawl_index_height_blocks{index="indexer"} `,
		`trawl_index_height_blocks{index="txospenderindex"} `, `trawl_index_height_blocks{index="scriptindex"} `,
		`trawl_index_height_blocks{index="txindex"} `, `trawl_index_height_blocks{index="coinstatsindex"} `,
		`trawl_rpc_call_duration_seconds_count{method="scanblocks"} 1`,
		`trawl_rpc_failed_calls_total{method="other"} 1`, `trawl_rpc_failed_calls_total{method="getblockhash"} 1`,
		`trawl_actor_messages_total{actor="chain"} `, `trawl_actor_instances{actor="wallet"} 1`,
		`trawl_actor_instances{actor="peer"} 0`, `trawl_actor_restarts_total{actor="searches"} 0`,
		`trawl_wallet_loaded_wallets 1`, `trawl_searches{state="failed"} 0`, `trawl_search_scripts 1`,
		`trawl_match_filters_total `, `trawl_pool_transactions 0`, `trawl_peers{direction="inbound"} 0`,
		`trawl_store_size_bytes{store="blocks"} `, `trawl_store_size_bytes{store="chainstate"} `,
		`trawl_late_parts{actor="mempool"} 0`, `trawl_warnings `,
	} {
		if !strings.Contains(body, "\n"+line) {
			t.Errorf("missing: %s", line)
		}
	}
	if t.Failed() {
		t.Log(body)
	}
	d.stop(t, login)
}

func metricsOf(t *testing.T, port string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	return string(body)
}

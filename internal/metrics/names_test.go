package metrics_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
)

// units are what a name may end with, before _total: a unit, or what is counted.
var units = []string{
	"seconds", "bytes", "vbytes", "ratio", "info", "state", "blocks", "messages", "requests", "callers", "calls",
	"connections", "streams", "instances", "warnings", "filters", "passes", "scripts", "entries", "branches",
	"transactions", "satoshis", "kvb", "second", "wallets", "searches", "peers", "parts", "restarts", "replies",
}

// values are the labels that there are, and the values that they may have; those of method and version are the
// program's.
var values = map[string][]string{
	"method":    nil,
	"version":   nil,
	"code":      {"200", "204", "400", "401", "403", "404", "405", "413", "500", "501", "502", "503", "other"},
	"actor":     {"chain", "wallet", "mempool", "peers"},
	"index":     {"indexer"},
	"state":     {"queued", "running", "following", "paused", "done", "aborted", "failed"},
	"direction": {"inbound", "outbound"},
	"phase":     {"starting", "headers", "following", "holding", "away", "other"},
	"source":    {"files", "rest", "rpc"},
	"store":     {"blocks"},
}

// runtimes are Go's own metrics, with the units that they have in their names.
func runtimes(name string) bool {
	return strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_")
}

// Every metric has a help text and a unit, and labels of few values.
func TestNames(t *testing.T) {
	families := scrape(t, start(t, complete()))
	if len(families) < 100 {
		t.Errorf("only %d metrics", len(families))
	}
	var list []*dto.MetricFamily
	for name, family := range families {
		list = append(list, family)
		if len(family.GetHelp()) < 10 {
			t.Errorf("%s: help is %q", name, family.GetHelp())
		}
		if runtimes(name) {
			continue
		}
		if !strings.HasPrefix(name, "trawl_") {
			t.Errorf("%s is neither ours nor the runtime's", name)
		}
		counts := family.GetType() == dto.MetricType_COUNTER
		base, total := strings.CutSuffix(name, "_total")
		if counts != total {
			t.Errorf("%s: a counter, and no other, ends with _total", name)
		}
		if !slices.Contains(units, base[strings.LastIndexByte(base, '_')+1:]) {
			t.Errorf("%s ends with no unit", name)
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				allowed, known := values[label.GetName()]
				if !known || allowed != nil && !slices.Contains(allowed, label.GetValue()) {
					t.Errorf("%s has the label %s=%q", name, label.GetName(), label.GetValue())
				}
			}
		}
	}
	problems, err := promlint.NewWithMetricFamilies(list).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !runtimes(p.Metric) {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// No text that somebody has chosen is shown.
func TestNothingChosenIsShown(t *testing.T) {
	if _, body := request(t, "GET", "http://"+start(t, complete())+"/metrics"); strings.Contains(body, secret) {
		t.Error(body)
	}
}

// The numbers are those that were read, each under its own name.
func TestNumbers(t *testing.T) {
	_, body := request(t, "GET", "http://"+start(t, complete())+"/metrics")
	for _, line := range []string{
		`trawl_build_info{version="1.2.3"} 1`,
		`trawl_rpc_running_calls 1`, `trawl_rpc_queued_calls 2`, `trawl_rpc_waiting_calls 3`,
		`trawl_rpc_open_connections 4`, `trawl_rpc_event_streams 5`,
		`trawl_rpc_call_duration_seconds_count{method="getblock"} 1`, `trawl_rpc_call_duration_seconds_sum{method="other"} 1`,
		`trawl_rpc_failed_calls_total{method="getblock"} 1`,
		`trawl_rpc_http_replies_total{code="200"} 1`, `trawl_rpc_http_replies_total{code="other"} 1`,
		`trawl_rpc_http_replies_total{code="503"} 0`,
		`trawl_actor_messages_total{actor="chain"} 20`, `trawl_actor_restarts_total{actor="chain"} 3`,
		`trawl_actor_receive_seconds_total{actor="chain"} 4`, `trawl_actor_queued_messages{actor="chain"} 5`,
		`trawl_actor_unanswered_requests{actor="chain"} 6`, `trawl_actor_waiting_callers{actor="chain"} 7`,
		`trawl_actor_current_message_seconds{actor="chain"} 8`, `trawl_actor_instances{actor="chain"} 1`,
		`trawl_chain_height_blocks 100`, `trawl_chain_headers_height_blocks 110`, `trawl_chain_tip_timestamp_seconds 1000`,
		`trawl_chain_initial_download_state 1`, `trawl_chain_branches 2`, `trawl_warnings 2`,
		`trawl_index_height_blocks{index="indexer"} 99`, `trawl_index_synced_state{index="indexer"} 1`,
		`trawl_match_running_passes 1`, `trawl_match_passes_total 2`, `trawl_match_filters_total 3`,
		`trawl_match_damaged_filters_total 4`, `trawl_scan_running_state 1`, `trawl_scan_progress_ratio 0.25`,
		`trawl_scan_height_blocks 50`, `trawl_searches{state="running"} 1`, `trawl_search_scripts 2`,
		`trawl_search_entries 3`, `trawl_search_rate_blocks_per_second 4`,
		`trawl_peers{direction="inbound"} 3`, `trawl_peers{direction="outbound"} 8`,
		`trawl_peer_sent_bytes_total 5`, `trawl_peer_received_bytes_total 6`, `trawl_peer_network_active_state 0`,
		`trawl_pool_transactions 10`, `trawl_pool_size_vbytes 11`, `trawl_pool_memory_bytes 12`, `trawl_pool_fees_satoshis 13`,
		`trawl_pool_memory_limit_bytes 14`, `trawl_pool_min_fee_satoshis_per_kvb 15`,
		`trawl_pool_unbroadcast_transactions 16`, `trawl_pool_copied_transactions 1`, `trawl_pool_missing_transactions 2`,
		`trawl_pool_copied_timestamp_seconds 500`, `trawl_wallet_loaded_wallets 2`, `trawl_wallet_loading_wallets 1`,
		`trawl_attach_lag_blocks 3`, `trawl_attach_phase_state{phase="away"} 1`, `trawl_attach_phase_state{phase="other"} 0`,
		`trawl_attach_blocks_total{source="rpc"} 1`, `trawl_store_size_bytes{store="blocks"} 1000`,
		`trawl_late_parts{actor="mempool"} 1`, `trawl_late_parts{actor="peers"} 0`,
	} {
		if !strings.Contains(body, "\n"+line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
	for _, none := range []string{`source="files"`, `source="rest"`} {
		if strings.Contains(body, none) {
			t.Errorf("there is %s", none)
		}
	}
}

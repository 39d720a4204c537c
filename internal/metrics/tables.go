package metrics

import "github.com/seed61375155/trawl/messages"

var actorNumbers = []number[messages.PartStats]{
	{
		"trawl_actor_instances", gauge, "Actors of this kind that there are.",
		func(s *messages.PartStats) float64 { return float64(s.Actors) },
	},
	{
		"trawl_actor_messages_total", counter, "Messages that the actor has handled.",
		func(s *messages.PartStats) float64 { return float64(s.Messages) },
	},
	{
		"trawl_actor_restarts_total", counter, "Restarts of the actor after a panic.",
		func(s *messages.PartStats) float64 { return float64(s.Restarts) },
	},
	{
		"trawl_actor_receive_seconds_total", counter, "Time that the actor has spent on messages.",
		func(s *messages.PartStats) float64 { return s.Busy.Seconds() },
	},
	{
		"trawl_actor_current_message_seconds", gauge, "How long the present message takes; 0: there is none.",
		func(s *messages.PartStats) float64 { return s.Current.Seconds() },
	},
	{
		"trawl_actor_queued_messages", gauge, "Messages in the actor's mailbox.",
		func(s *messages.PartStats) float64 { return float64(s.Queue) },
	},
	{
		"trawl_actor_unanswered_requests", gauge, "Requests that have a place, and wait for their answers.",
		func(s *messages.PartStats) float64 { return float64(s.Calls) },
	},
	{
		"trawl_actor_waiting_callers", gauge, "Callers that wait for a place, outside of the mailbox.",
		func(s *messages.PartStats) float64 { return float64(s.Waiting) },
	},
}

var chainNumbers = []number[messages.ChainStats]{
	{
		"trawl_chain_height_blocks", gauge, "Height of the active chain.",
		func(s *messages.ChainStats) float64 { return float64(s.Height) },
	},
	{
		"trawl_chain_headers_height_blocks", gauge, "Height of the best known header.",
		func(s *messages.ChainStats) float64 { return float64(s.Headers) },
	},
	{
		"trawl_chain_tip_timestamp_seconds", gauge, "Time of the tip's block, since 1970.",
		func(s *messages.ChainStats) float64 { return float64(s.TipTime.Unix()) },
	},
	{
		"trawl_chain_initial_download_state", gauge, "1 while the initial download lasts, else 0.",
		func(s *messages.ChainStats) float64 { return truth(s.Initial) },
	},
	{
		"trawl_chain_branches", gauge, "Ends of branches of the tree of blocks, the tip included.",
		func(s *messages.ChainStats) float64 { return float64(s.Branches) },
	},
}

var indexNumbers = []number[messages.IndexStats]{
	{
		"trawl_index_height_blocks", gauge, "Height up to which an index of blocks has come; -1: it has none.",
		func(s *messages.IndexStats) float64 { return float64(s.Height) },
	},
	{
		"trawl_index_synced_state", gauge, "1 when the index has reached the tip once since the start, else 0.",
		func(s *messages.IndexStats) float64 { return truth(s.Synced) },
	},
	{
		"trawl_index_without_probes_filters", gauge, "Filters of the index that have no probe lines yet.",
		func(s *messages.IndexStats) float64 { return float64(s.WithoutProbes) },
	},
}

var matchNumbers = []number[messages.MatchStats]{
	{
		"trawl_match_running_passes", gauge, "Passes over filters that are under way: of scans, searches and rescans.",
		func(s *messages.MatchStats) float64 { return float64(s.Running) },
	},
	{
		"trawl_match_passes_total", counter, "Passes over filters that were begun.",
		func(s *messages.MatchStats) float64 { return float64(s.Passes) },
	},
	{
		"trawl_match_filters_total", counter, "Filters that were matched, or passed over by range filters.",
		func(s *messages.MatchStats) float64 { return float64(s.Filters) },
	},
	{
		"trawl_match_damaged_filters_total", counter, "Filters that turned out to be damaged.",
		func(s *messages.MatchStats) float64 { return float64(s.Damaged) },
	},
}

var scanNumbers = []number[messages.ScanStatus]{
	{
		"trawl_scan_running_state", gauge, "1 while a scan of scanblocks runs, else 0.",
		func(s *messages.ScanStatus) float64 { return truth(s.Running) },
	},
	{
		"trawl_scan_progress_ratio", gauge, "Part of its range that the running scan has matched; 0 without one.",
		func(s *messages.ScanStatus) float64 { return float64(s.Progress) / 100 },
	},
	{
		"trawl_scan_height_blocks", gauge, "Height up to which the running scan has matched; 0 without one.",
		func(s *messages.ScanStatus) float64 { return float64(s.Height) },
	},
}

var searchNumbers = []number[messages.SearchStats]{
	{
		"trawl_search_scripts", gauge, "Scripts of all searches.",
		func(s *messages.SearchStats) float64 { return float64(s.Scripts) },
	},
	{
		"trawl_search_entries", gauge, "Entries that all searches have found.",
		func(s *messages.SearchStats) float64 { return float64(s.Entries) },
	},
	{
		"trawl_search_rate_blocks_per_second", gauge, "Blocks a second of the searches that run.",
		func(s *messages.SearchStats) float64 { return s.Rate },
	},
}

var peerNumbers = []number[messages.NetworkState]{
	{
		"trawl_peer_sent_bytes_total", counter, "Bytes sent to peers.",
		func(s *messages.NetworkState) float64 { return float64(s.Sent) },
	},
	{
		"trawl_peer_received_bytes_total", counter, "Bytes received from peers.",
		func(s *messages.NetworkState) float64 { return float64(s.Received) },
	},
	{
		"trawl_peer_network_active_state", gauge, "1 while the node may have connections (setnetworkactive), else 0.",
		func(s *messages.NetworkState) float64 { return truth(s.Active) },
	},
	{
		"trawl_peer_time_offset_seconds", gauge, "Median of the differences between the peers' clocks and this one.",
		func(s *messages.NetworkState) float64 { return s.TimeOffset.Seconds() },
	},
	{
		"trawl_peer_archive_peers", gauge, "Peers that offer all blocks with their witnesses (dialect qbit).",
		func(s *messages.NetworkState) float64 { return float64(s.Archives.Offering) },
	},
	{
		"trawl_peer_archive_configured_peers", gauge, "Nodes that -connectarchive names.",
		func(s *messages.NetworkState) float64 { return float64(s.Archives.Configured) },
	},
	{
		"trawl_peer_archive_reached_peers", gauge, "Nodes that -connectarchive names and that are connected.",
		func(s *messages.NetworkState) float64 { return float64(s.Archives.Reached) },
	},
}

var poolNumbers = []number[messages.PoolInfo]{
	{
		"trawl_pool_transactions", gauge, "Transactions in the memory pool.",
		func(s *messages.PoolInfo) float64 { return float64(s.Size) },
	},
	{
		"trawl_pool_size_vbytes", gauge, "Virtual size of the transactions in the memory pool.",
		func(s *messages.PoolInfo) float64 { return float64(s.VSize) },
	},
	{
		"trawl_pool_memory_bytes", gauge, "Memory that the pool takes.",
		func(s *messages.PoolInfo) float64 { return float64(s.Usage) },
	},
	{
		"trawl_pool_memory_limit_bytes", gauge, "Memory that the pool may take (-maxmempool).",
		func(s *messages.PoolInfo) float64 { return float64(s.MaxBytes) },
	},
	{
		"trawl_pool_fees_satoshis", gauge, "Fees of the transactions in the memory pool.",
		func(s *messages.PoolInfo) float64 { return float64(s.Fees) },
	},
	{
		"trawl_pool_min_fee_satoshis_per_kvb", gauge, "Least fee rate that the pool takes now.",
		func(s *messages.PoolInfo) float64 { return float64(s.MinFee) },
	},
	{
		"trawl_pool_unbroadcast_transactions", gauge, "Own transactions that no peer has asked for yet.",
		func(s *messages.PoolInfo) float64 { return float64(s.Unbroadcast) },
	},
	{
		"trawl_pool_loaded_state", gauge, "1 once the stored pool was read, else 0.",
		func(s *messages.PoolInfo) float64 { return truth(s.Loaded) },
	},
}

var copiedNumbers = []number[messages.CopiedPool]{
	{
		"trawl_pool_copied_transactions", gauge, "Transactions in the copy of Bitcoin Core's memory pool.",
		func(s *messages.CopiedPool) float64 { return float64(s.Txs) },
	},
	{
		"trawl_pool_missing_transactions", gauge, "Transactions of Core's pool that are not copied, for want of room.",
		func(s *messages.CopiedPool) float64 { return float64(s.Missing) },
	},
	{
		"trawl_pool_copied_timestamp_seconds", gauge, "When the copy was last like Core's pool, since 1970; 0: never.",
		func(s *messages.CopiedPool) float64 {
			if s.Updated.IsZero() {
				return 0
			}
			return float64(s.Updated.Unix())
		},
	},
}

var walletNumbers = []number[messages.WalletStats]{
	{
		"trawl_wallet_loaded_wallets", gauge, "Wallets that are loaded.",
		func(s *messages.WalletStats) float64 { return float64(s.Loaded) },
	},
	{
		"trawl_wallet_loading_wallets", gauge, "Wallets that are being loaded or restored.",
		func(s *messages.WalletStats) float64 { return float64(s.Loading) },
	},
}

var attachNumbers = []number[messages.AttachState]{
	{
		"trawl_attach_lag_blocks", gauge, "How many blocks the tip of Bitcoin Core is ahead of this node's.",
		func(s *messages.AttachState) float64 { return float64(s.Lag) },
	},
	{
		"trawl_attach_verified_height_blocks", gauge, "Height up to which filters of Core were built here, too.",
		func(s *messages.AttachState) float64 { return float64(s.Verified) },
	},
	{
		"trawl_attach_refused_state", gauge, "1 when a filter of Core was wrong, so that none is taken, else 0.",
		func(s *messages.AttachState) float64 { return truth(s.Refused) },
	},
}

var staleNumbers = []number[messages.StaleStats]{
	{
		"trawl_stale_connected_blocks_total", counter, "Blocks that were connected after the initial download (qbit).",
		func(s *messages.StaleStats) float64 { return float64(s.Connected) },
	},
	{
		"trawl_stale_blocks_total", counter, "Blocks that became stale after the initial download (qbit).",
		func(s *messages.StaleStats) float64 { return float64(s.Stale) },
	},
	{
		"trawl_stale_branches_total", counter, "Branches that were left after the initial download (qbit).",
		func(s *messages.StaleStats) float64 { return float64(s.Reorgs) },
	},
	{
		"trawl_stale_deepest_reorg_blocks", gauge, "Most blocks that a reorganisation has taken back (qbit).",
		func(s *messages.StaleStats) float64 { return float64(s.DeepestFork) },
	},
	{
		"trawl_stale_rate_ratio", gauge, "Share of stale blocks among the latest 1000 connected or stale ones (qbit).",
		func(s *messages.StaleStats) float64 { return s.Rate() },
	},
	{
		"trawl_stale_alarm_state", gauge, "1 while that share is above a tenth, else 0 (qbit).",
		func(s *messages.StaleStats) float64 { return truth(s.Alarm) },
	},
}

var sourceNumbers = []number[messages.AttachSource]{
	{
		"trawl_attach_blocks_total", counter, "Blocks that came from Bitcoin Core, by the way they came.",
		func(s *messages.AttachSource) float64 { return float64(s.Blocks) },
	},
	{
		"trawl_attach_undo_blocks_total", counter, "Blocks whose spent outputs came from Bitcoin Core.",
		func(s *messages.AttachSource) float64 { return float64(s.Undo) },
	},
	{
		"trawl_attach_filters_total", counter, "Filters that came from Bitcoin Core.",
		func(s *messages.AttachSource) float64 { return float64(s.Filters) },
	},
}

package main

// units are the columns of a table, in order, and what they mean. A benchmark
// may have others, which come last.
var units = []struct{ name, meaning string }{
	{"answers", ""},
	{"p50-ms", "half of the answers came in that time, in milliseconds"},
	{"p99-ms", "99 of 100"},
	{"max-ms", "all"},
	{"ms", "milliseconds, median of the rounds"},
	{"best-ms", "the fastest round"},
	{"fixed-ms", "the same call for one block"},
	{"ns/elt", "time for each element of all filters (of a call, without fixed-ms)"},
	{"GB/s", "filters read in that time, gigabytes a second"},
	{"blocks/s", ""},
	{"cpu-ms", "processor time of all threads, in milliseconds"},
	{"cpu/wall", "processor time over elapsed time: how many cores worked"},
	{"spread-%", "slowest less fastest round, in percent of the median"},
	{"btcutil-ms", "btcutil's MatchAny in one goroutine, filters in memory"},
	{"btcutil-ns/elt", "btcutil in one goroutine"},
	{"x-btcutil", "times as fast as that"},
	{"x-btcutil-best", "the same by the fastest rounds of both, which other programs disturb less"},
	{"x-btcutil-cpu", "the same by processor time, that is for one core"},
	{"x-btcutil-threads", "times as fast as btcutil in as many goroutines"},
	{"x-btcutil-threads-best", "the same by the fastest rounds"},
	{"core-p50-ms", "Bitcoin Core's calls: half of the answers"},
	{"core-p99-ms", "99 of 100 of them"},
	{"core-ms", "Bitcoin Core's call"},
	{"core-fixed-ms", "Bitcoin Core's call for one block"},
	{"x-core", "times as fast as Bitcoin Core, whole call"},
	{"x-core-best", "the same by the fastest rounds of both"},
	{"x-core-net", "times as fast as Bitcoin Core, fixed-ms taken off both"},
	{"load", "system load during the last minute, this benchmark included"},
}

package main

// methods say, for some benchmarks, how the figures below them were found.
var methods = map[string]string{
	"Scan": `Filters of the chain in memory are matched against k scripts, of which the first 10 are in some blocks,
with a CRC-32 of every filter, or of all that an answer rests on, checked each time. btcutil's MatchAny (one
goroutine, filters parsed before, no checksum) and a sum of all filters' bytes as 64-bit words in plain Go run in
the same rounds, in turn with all rows of the same k. A round is the mean of as many passes as take about 20 ms.
Where looking takes long only the first filters are taken, and fewer for btcutil (Melt, btcutil-Melt): figures are
for each element. Rows of two goroutines are left out where processor time was less than 1.8 times the time that
passed. A row of the layout auto is left out where it does what another one does.`,

	"Modes": `Found by doubling k, then by halving what lies between, to about a twelfth. probe,decode: probe lines against decoding
in the faster way, over 2 million random elements, which fit a last cache, by processor time; for filters that do not,
lines are given up earlier (BenchmarkProbe of package filters). search,bitmap: the two ways to look scripts up among
decoded elements, over 64 filters that stay in a near cache, by the fastest of at least five runs.`,

	"ScanBlocks": `Whole calls over HTTP on a connection that is kept, as the client sees them, of the node in this
process on all cores. The first row of a call is what the node chooses; the others are what it does with
-filterkernel and -filterlayout as named, which is what a machine without AVX-512, or AVX2, and without probe lines
does. Bitcoin Core, a program of its own, is called in the same rounds, in turn with all rows of the same call.
Every answer is compared with that of btcutil's ZipMatchAny, for ffp=on (filter_false_positives) with the blocks
that really pay to the scripts. A round is the mean of as many calls as take about 20 ms, at least one, back to back:
the processor's caches hold what the last call left in them. after-ms is the mean of five such calls (Core: one) with
the work of another program before each, which goes over 128 MiB on every core.`,

	"Download": `A program is started on an empty data directory with -connect to a peer on this machine that has the
chain, and -blockfilterindex, and watched as in the benchmark Import until its filter index has the last block; the node
also imports the same chain from a file in each round. Peers are the node and Core. Core does the same from the same
peer, in turn. The peer's work is not in cpu-ms, but takes its share of the cores.`,
	"Import": `A program is started on an empty data directory with -loadblock and -blockfilterindex, and watched
every 10 ms until its filter index has the last block; every script is executed. Core does the same in turn, without
the checks of its own state that are on in a regtest. Processor time is the system's for the process, with that of
threads that have ended; memory is the most that was resident (VmHWM). outputs: blocks of 2,000 outputs and nothing
else. spends: blocks of 2,600 transactions with two inputs and two outputs, some 1.2 MB, without signatures.
signatures: 1,000 such transactions, whose inputs are P2WPKH, taproot by key, taproot by script and 2-of-3 multisig
in turn, each with keys of its own.`,

	"Memory": `A program is started on an empty data directory, first without and then with -loadblock, with the default
cache and -blockfilterindex. Memory is what is resident (VmRSS; the peak VmHWM), pages of mapped files included. The
chains are those of BenchmarkImport. Core does the same in turn.`,

	"Many": `A chain of 900,000 blocks with one output each, imported once with -blockfilterindex into a directory that
stays. Then, in turn with Core: start, until calls are answered and the filter index has the last block; 15 s of rest;
stop; start, kill -9, start. Memory is what is resident: all of it, and without pages of files (RssAnon), in which the
cache of unspent outputs is almost empty.`,

	"Gaps": `Behind the chain lie 14 blocks that pay to 240 wallets, to every 300th index of wpkh(key/*) up to 3,900, the
higher indices earlier. Calls go over HTTP, in turn, each for another wallet, whose scripts the node derives: scan is
scanblocks with filter_false_positives and the range up to 4,900; receipt the same with a receipt; gap begins with one
index and a gap of 1,000, and ends with the same range; verifyreceipt gets a receipt that was made before, and scan
objects with another text for the same scripts, so that it derives them, too. known is a scan for a wallet whose
scripts the node remembers. All answers are checked.`,

	"Searches": `A hundred searches for 100 scripts each are made by 32 callers at a time, and their entries read
to the end by waitforsearch, one after the other. One scanblocks for all 10,000 scripts, with filter_false_positives, is
called in turn. Core is asked for the same, search by search: scanblocks with filter_false_positives, then
getdescriptoractivity of the blocks found; both must find as many entries.`,

	"Discovery": `Blocks that pay 8 accounts of each of 4 forms, receiving and change, are made behind the chain.
discoveraccounts looks for them with a gap of 1,000 addresses and of 20 accounts; one scanblocks for the same scripts,
with filter_false_positives, is called in turn. It keeps the scripts from the first call on, for one block, which is
taken off the discovery in of-scan.`,

	"ClusterMembers": `The front and all members are in one process with links of their own, which speak TLS 1.3 on
loopback. A filter takes 10 ms, in which its member sleeps; each member has one worker. A member has 300 filters to do,
a single one 2,000. The front does nothing itself once members take part, which is 100 ms after the start.`,

	"ClusterOverhead": `Processes with one worker each and the same 4,000 blocks of 200 outputs: scanblocks for 200,000
scripts by a lone node, and by a front that leaves the work to one member, three times in turn. What the same
request for the last block alone takes is taken off both. Processor time is that of all threads (schedstat).`,

	"ClusterSmall": `The same nodes, but a front that also works itself and has three members, as after a start without
further options: scanblocks for 100 scripts in the last 2,000 blocks, 500 times by each in turn. Such scans are over
before they are lent.`,

	"ClusterAbort": `The nodes of ClusterOverhead with three members. One scan is done, and 12 s later, when all have
given back the memory that it took, others are aborted 150 to 200 ms after they began to be lent. From the answer on,
the members' threads are looked at every 4 ms for 300 ms; a member has stopped after the last of these spans in which
it ran for more than a quarter of the time.`,

	"Spend": `A program of its own, regtest, with a wallet of 100,000 transactions in one block, each with a coin of
10,000 to 1,010,000 satoshis, on 1,000 addresses of one descriptor. fund: walletcreatefundedpsbt for the value of so
many coins, at a rate in satoshis a virtual byte. list: listtransactions. sign: signrawtransactionwithwallet of a
transaction with 1,000 P2WPKH inputs on as many addresses of a wallet with private keys. Core is called in the same
rounds, in turn.`,

	"BalanceOfBlocks": `The same wallet is asked for getbalances after each of 1,000 blocks, of which every tenth pays to
it. ms is the mean of generatetoaddress and getbalances together, ask-ms of getbalances alone.`,

	"SearchTurn": `A search for 100 scripts is made, and waited for by waitforsearch: until it has looked at its first
blocks, and until an entry is there. 20 times a round; beside nothing, and beside a search for 100,000 scripts that has
looked at its first blocks and runs.`,

	"Following": `A program of its own, regtest, on which a block is mined each second for 20 seconds, with none and with
1,000 searches that follow, for 100 scripts each. Memory is the most that was resident.`,

	"Page": `A program of its own has the chain and runs 10 searches for 20,000 scripts each, which begin anew
when they are done, for 20 seconds. 1,000 pages, which are plain HTTP clients in the process of the benchmark with 20
logins, have loaded the overview with its files and hold a stream of events each; after an event, but no sooner than
a second after the last time, or 2 seconds without one, each asks for the overview anew, as the script of the page
does. Beside them getblockcount is called, with 10 ms between two calls.`,

	"EventReaders": `A program of its own, regtest, on which a block is mined each second for 20 seconds, and 1,000
readers of GET /events?topics=tip in the process of the benchmark, on a connection each. A time is from the call that
mines the block until a reader has its line.`,

	"Aged": `A program has a set of coins of 8.25 million transactions for each 165 million, made by blocks of 1,400
transactions with 20 outputs. Its directory is dropped from the page cache; then it reads blocks of 2,600 transactions
that spend two coins each, of any age and in no order, and make two, from a file. No script needs a signature, blocks
are pruned, there is no index. Between two rounds the set stays. While the blocks are connected, getblockcount is called
every 5 ms. Core does the same in turn, on a set of its own that was made by the same blocks.`,

	"Attach": `Bitcoin Core has the chain spends of the benchmark Import (-chains long: 1,200 blocks of 1.2 MB and
their undo data) and runs. A node is started on an empty directory, attached to it, and watched every 20 ms until its
filter index has the last block; its last filter header, which commits to all filters, is Core's. files: from Core's
finished block and undo files, and over REST what is in none. rest: to Core's address alone, by so many workers, a
connection each. filters: from Core's own filter files. core: Core builds its index anew, by the times of its log; its
processor time is from its start on. All files are in the page cache.`,

	"Attached": `The same pair, with both indexes complete. scan: scanblocks of the whole chain for 120 taproot scripts
that are not there. forwarded: getmempoolinfo, 2,000 times in turn through the node and at Core itself, over kept
connections. news: 300 times a block made at Core by generatetodescriptor, and from Core's answer on until the node
has answered getblockfilter of that block.`,

	"IndexCost": `A program reads the chains of the benchmark Import from a file, with -blockfilterindex and without, in turn.`,

	"Tip": `A program with -txindex, -coinstatsindex and -blockfilterindex, two wallets with keys of their own and
ZeroMQ's raw blocks and transactions has 200 blocks of 2,600 transactions. 20 more are handed in one by one by
submitblock, each when indexes and wallets have the block before. Processor time is that of the process, with the calls
that ask how far they are. Then 20 more are handed in while strace counts how often files of blocks and of undo data
are read. Another trawld (older) and Core do the same in turn.`,

	"Beside": `A program that has 3,000 blocks of 2,000 outputs and their filters scans them for k scripts, ten times, with
nothing else to do; then, in a copy of the directory, again and again while it reads 3,000 further blocks from a file,
with the filter index.`,

	"Store": `A store in the node's format of filters of 5,000 elements each, whose differences are random as those
of real filters are, with probe lines and, for each 2,048 of them, a range filter of as many random hashes. It lies
on the disk and, after the first pass, in the page cache. A pass is what the scanner does once a call is understood:
store, checksums, matching, answer. No script is there, so what is found is by chance; all passes without range
filters must find the same, those with them nothing else. Passes end with the last full range; for many scripts they
are over the last filters before (Melt). A round is the mean of as many passes as take about 20 ms. ranges: blocks
would be looked into, so range filters may leave scripts out. main-s is ms divided by Melt times 4,600, the million
elements of the main chain at height 900,000: a projection that assumes that the time is in proportion to the
elements and that all of 12.1 GB of filters, 3.5 GB of probe lines and 5.2 GB of range filters are in memory, and
leaves out the time for blocks that match. For few scripts it is too low: what is read of 500 million elements
stays in a cache of 32 MB from pass to pass, and of 4,600 million does not; proj-ms of the benchmark Full allows for
that.`,

	"Full": `The store of the benchmark Store with as many elements as the main chain has at height 900,000. It is
closed and dropped from the page cache (posix_fadvise, held against mincore), opened again and scanned: what the system
read for both (read_bytes of /proc/self/io) is then read again, dropped before, one file after the other. ms is a scan
of the same store that has been scanned before: in memory as far as that reaches, which warm-read-GB tells. It is
measured three times in turns with a scan of the last 492 million elements, of which proj-ms is made: that time
divided by 492, times 4,600. As all others are read between two scans of these, the processor's caches hold nothing
of them at first, as it is with the whole. For fewer than 100 scripts range filters are not asked.`,

	"CoinSet": `A program has the chain outputs of the benchmark Import and the index of the sums over unspent
outputs, and is started anew for each call of gettxoutsetinfo: index=false counts and hashes all of them, index=true
may take the sums of the last block from the index. One caller asks for getblockcount meanwhile, a millisecond after
each answer. Core answers the same calls, in turn; all answers are compared, disk_size apart.`,

	"Mixed": `A program has the chain spends of the benchmark Import with all indexes and a wallet that watches 100 of its
outputs. 64 callers of one other process, each on a connection that is kept, ask for the last 200 blocks and what is in
them, each the next call as soon as it has read the last answer, for 5 seconds. mix: of 100 calls 40 getblockheader,
30 getrawtransaction (1), 14 getblockfilter, 10 listtransactions (20), 4 gettxoutsetinfo (muhash, from the index) and
2 getblock (2, some 9 MB). Callers and node share the machine. Core has a work queue of 256, so that it refuses
nothing, and answers the same calls in turn.`,
}

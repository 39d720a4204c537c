// Package bench measures the node as a whole, on chains that package synth generates.
// It measures matching, scanblocks over RPC, expanding descriptors, building the
// filter index, and the answers to an abort. It also measures loading blocks,
// downloading them from a peer, and restoring, loading and asking wallets. Run the
// benchmarks as follows:
//
//	go -C bench run ./report                               # everything, into bench/results
//	make bench-data                                        # load and make what the others need, which takes longest
//	make bench-scan bench-store                            # scans: in memory, over RPC, of a store on the disk
//	make bench-rpc BLOCKS=20000 OUTPUTS=5000               # scans over RPC alone, of a large chain
//	make bench-sync                                        # import of blocks from files and from a peer, beside Core
//	make bench-full                                        # scans of a store of the main chain's size, from the disk
//	make bench-coinset                                     # gettxoutsetinfo, beside Core
//	make bench-calls                                       # calls of 64 callers that read, beside Core
//	go -C bench test -run='^$' -bench=Match -benchtime=5x  # one of them, on a small chain
//
// A rival is measured in the same run, in turn with the node, round by round, and
// its answers are compared; figures are medians over the rounds. The rivals are
// btcutil's gcs package and the programs that environment variables name: BITCOIND a
// bitcoind of Bitcoin Core 30, BTCD a btcd, QBITD a qbitd of qbit 1.0.0. No
// benchmark asserts a time.
//
// The package is a module of its own, so that programs that embed a node do not
// get its requirements.
//
// Chains and data directories stay in the folder data, so that they are loaded
// once; the flags -blocks and -outputs choose another chain.
package bench

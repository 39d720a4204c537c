// Package spends compares the verdicts of trawld and of Bitcoin Core on right and
// damaged spends of every kind of output. Spends are judged alone in the memory
// pool, alone in a block, and among a thousand right spends in a block.
package spends

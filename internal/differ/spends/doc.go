// Package spends compares the verdicts of trawld and of Bitcoin Core on
// spends of every kind of output, right ones and damaged ones: alone in the memory
// pool, alone in a block, and among a thousand right ones in a block.
package spends

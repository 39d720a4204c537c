// Package blocks compares what trawld and Bitcoin Core make of trees of blocks that
// are made by chance: reorganisations, blocks that break rules of all kinds, headers
// before blocks, blocks that come again, and what invalidateblock, reconsiderblock
// and preciousblock do to them.
package blocks

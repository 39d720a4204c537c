// Package blocktree compares how trawld and Bitcoin Core handle random trees of blocks.
// The trees have reorganisations, blocks that break rules of all kinds, headers
// before blocks, and repeated blocks. Blocks are also changed by invalidateblock,
// reconsiderblock and preciousblock.
package blocktree

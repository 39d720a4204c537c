// Package linear orders unconfirmed transactions as they are best mined.
//
// Transactions that depend on each other, directly or over others, make a cluster. A
// [Graph] has the transactions of a cluster, at most [MaxTxs], by index. Its
// linearization is an order in which each transaction comes after its ancestors. It is
// cut into chunks of falling fee rates, which are mined whole. The sums of the chunks
// are a diagram of fees over sizes: the higher it is, the better is the order.
//
// [Graph.Linearize] finds the best order by the search for a spanning forest (SFL),
// within a budget. If the budget suffices, the order is that of Bitcoin Core 31.99
// (src/cluster_linearize.h), and does not depend on how transactions arrived.
//
// [Clusters] are the clusters of a pool. A [Trial] is a change of them that may be
// dropped. Nothing here knows a clock, chain or disk, and no number is a float.
package linear

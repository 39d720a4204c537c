package dialect

import "time"

// Progress estimates the share of all transactions that are in a chain of txs
// transactions whose last block was made at tip. The function ahead says how many
// headers are known after the tip; it is called for a recent tip only.
func (n *Network) Progress(txs int64, tip, now time.Time, ahead func() int32) float64 {
	known := n.ChainTx
	total := float64(known.Count) + float64(now.Unix()-known.Time)*known.Rate
	if txs > known.Count {
		total = float64(txs) + float64(n.behind(tip, now, ahead))*known.Rate
	}
	return min(float64(txs)/total, 1)
}

// behind returns how many seconds of the network's life come after a tip.
func (n *Network) behind(tip, now time.Time, ahead func() int32) int64 {
	age := now.Unix() - tip.Unix()
	if max(age, -age) > int64(n.RecentTip/time.Second) {
		return age
	}
	return int64(ahead()) * int64(n.Params.TargetTimePerBlock/time.Second)
}

// IsFresh reports whether a tip with some time is recent, by a clock in whole seconds. Then new
// transactions may get their lock times from its height.
func (n *Network) IsFresh(tip, now time.Time) bool {
	return now.Unix()-tip.Unix() <= int64(n.FreshTip/time.Second)
}

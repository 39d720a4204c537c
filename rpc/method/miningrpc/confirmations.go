package miningrpc

import "math"

// levels are the security levels, with as how many confirmations of Bitcoin's chain each is
// meant to be worth.
var levels = map[string]int{"low": 1, "medium": 3, "high": 6, "maximum": 60}

const (
	bitcoinHashRate  = 7e20 // hashes per second of Bitcoin's network, unless told otherwise
	bitcoinSpacing   = 600  // seconds between Bitcoin's blocks
	maxConfirmations = 100_000
	maxStaleShare    = 0.99
)

// A security is what tells how much a confirmation is worth.
type security struct {
	observed bool    // by the work of the chain's blocks, not by MergedHashes
	spacing  float64 // seconds between blocks
	share    float64 // of merge-mined blocks among all

	permissionless, merged float64 // hashes per second of each lane
	bitcoin                float64 // of Bitcoin's network
	mergedHashes           float64 // share of Bitcoin's hashes that mine this chain too
	stale                  float64 // share of blocks that become stale
}

// penalty returns by which factor stale blocks make confirmations more.
func (s *security) penalty() float64 { return 1 / (1 - s.stale) }

// perBlock returns what part of a confirmation of Bitcoin's chain a block is worth. The products are
// rounded each for itself, on every processor.
func (s *security) perBlock() float64 {
	if s.observed {
		return s.spacing / bitcoinSpacing * ((s.permissionless + s.merged) / s.bitcoin)
	}
	byMerged := float64(s.share * s.mergedHashes)
	return byMerged + float64((1-s.share)*(s.permissionless/s.bitcoin))
}

// confirmations returns how many blocks are worth at least target confirmations of Bitcoin's chain, within
// bounds, and how many of these they are worth. Blocks without a worth count by their time.
func (s *security) confirmations(target int) (blocks int, worth float64) {
	value, goal := s.perBlock(), float64(target)
	wanted, time := goal/value*s.penalty(), bitcoinSpacing/s.spacing
	if value <= 0 {
		wanted = goal * time * s.penalty()
	}
	blocks = int(min(max(math.Ceil(wanted), 1), maxConfirmations))
	if value > 0 {
		return blocks, float64(blocks) * value / s.penalty()
	}
	return blocks, float64(blocks) / time / s.penalty()
}
